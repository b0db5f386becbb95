"""Law 11: the token, form links and what people write are in no log, no error text and no repr."""

import contextlib
import logging
import traceback
from collections.abc import Awaitable, Callable

import pytest

from answerback.provider import Attachment, Outcome, ProviderError, Reply
from answerback_providers.telegram import Telegram
from answerback_sandbox import FaultKind, Sandbox
from tests.providers.telegram.far import far_side, refuses
from tests.providers.telegram.support import (
    ANA,
    BOT,
    TOKEN,
    YES_NO,
    connected,
    outcome,
    provider,
    question,
    to,
)

SECRET_PART = TOKEN.partition(":")[2]
TAP = Reply(event_id="1", sender=str(ANA), place=str(ANA), data="y1", handle="cb1")
CALLS: list[Callable[[Telegram], Awaitable[object]]] = [
    lambda telegram: telegram.open(),
    lambda telegram: telegram.probe(),
    lambda telegram: telegram.poll(""),
    lambda telegram: telegram.send(question("Is it pneumonia?", buttons=YES_NO)),
    lambda telegram: telegram.update(to(), f"{BOT}:{ANA}:1", outcome("It is pneumonia.")),
    lambda telegram: telegram.acknowledge(TAP, Outcome.ACCEPTED, "pneumonia"),
    lambda telegram: telegram.fetch(Attachment("f1")),
]


async def told_by(telegram: Telegram) -> str:
    """The full text of every error that the calls raise, with what it is chained to, shown or not."""
    texts = []
    for call in CALLS:
        try:
            await call(telegram)
        except ProviderError as error:
            texts += [*traceback.format_exception(error), repr(vars(error))]
            texts += [repr(error), repr(error.__cause__), repr(error.__context__)]
    return "".join(texts)


def check(texts: str, log: str) -> None:
    assert SECRET_PART not in texts + log
    assert "pneumonia" not in log


async def test_nothing_secret_is_logged_when_all_is_well(
    box: Sandbox, caplog: pytest.LogCaptureFixture
) -> None:
    caplog.set_level(logging.DEBUG)
    box.type(ANA, "pneumonia, yes")
    async with connected(box) as telegram:
        check(await told_by(telegram), caplog.text)


@pytest.mark.parametrize(
    "kind", [FaultKind.DOWN, FaultKind.REFUSED, FaultKind.RATE_LIMITED, FaultKind.DROPPED]
)
async def test_nothing_secret_is_told_when_the_service_fails(
    box: Sandbox, caplog: pytest.LogCaptureFixture, kind: FaultKind
) -> None:
    caplog.set_level(logging.DEBUG)
    box.fail(kind, calls=None)
    box.type(ANA, "pneumonia, yes")
    telegram = provider(box.url)
    texts = await told_by(telegram)
    await telegram.close()
    assert "Traceback" in texts
    check(texts, caplog.text)


async def test_nothing_secret_is_told_when_the_service_is_not_there(caplog: pytest.LogCaptureFixture) -> None:
    caplog.set_level(logging.DEBUG)
    telegram = provider("http://127.0.0.1:1")
    texts = await told_by(telegram)
    await telegram.close()
    assert "cannot be reached" in texts
    check(texts, caplog.text)


async def test_a_service_that_repeats_the_token_does_not_get_it_into_our_texts(
    caplog: pytest.LogCaptureFixture,
) -> None:
    caplog.set_level(logging.DEBUG)
    says = refuses(400, f"Bad Request: https://api.telegram.org/bot{TOKEN}/sendMessage and {TOKEN}\nare bad")
    methods = ("getWebhookInfo", "getMe", "getUpdates", "sendMessage", "editMessageText", "getFile")
    async with far_side(answerCallbackQuery=says, **dict.fromkeys(methods, says)) as far:
        texts = await told_by(far.telegram)
    assert "are bad" in texts
    check(texts, caplog.text)


@pytest.mark.parametrize(
    "answer", [b"<html>pneumonia</html>", b'{"ok": true, "result": {"text": "pneumonia"}}']
)
async def test_an_unreadable_answer_is_not_logged(answer: bytes, caplog: pytest.LogCaptureFixture) -> None:
    caplog.set_level(logging.DEBUG)
    async with far_side(sendMessage=lambda fields: (200, answer)) as far:
        with contextlib.suppress(ProviderError):
            await far.telegram.send(question())
    check("", caplog.text)


def test_no_repr_shows_the_token() -> None:
    telegram = provider()
    assert SECRET_PART not in repr(telegram) + repr(vars(telegram))


@pytest.mark.parametrize(
    "repeated",
    [
        'Bad Request: can\'t parse entities: unsupported tag "pneumonia"',
        "Bad Request: “pneumonia” is not allowed",
        "chat_id=1&text=pneumonia",
        "Bad Request: {'text': 'pneumonia'}",
    ],
)
async def test_what_was_sent_and_comes_back_in_a_refusal_is_cut_out(
    repeated: str, caplog: pytest.LogCaptureFixture
) -> None:
    caplog.set_level(logging.DEBUG)
    async with far_side(sendMessage=refuses(400, repeated)) as far:
        told = await told_by(far.telegram)
    assert "pneumonia" not in told.replace('"Is it pneumonia?"', "")
    check(told, caplog.text)


async def test_whom_a_refusal_names_by_a_number_is_cut_out() -> None:
    async with far_side(sendMessage=refuses(400, "Bad Request: chat 4366055512 is closed")) as far:
        with pytest.raises(ProviderError, match=r"chat \[id\] is closed"):
            await far.telegram.send(question("Is it pneumonia?"))
