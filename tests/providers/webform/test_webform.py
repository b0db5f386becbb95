"""The form alone: a question's link is printed once, where the operator sees it, and nowhere else."""

import contextlib
import dataclasses
import io
import logging
import os

import pytest

from answerback.provider import (
    Address,
    Button,
    Message,
    MessageKind,
    ProviderContext,
    Sent,
    TryLater,
    Undeliverable,
)
from answerback_providers.webform import WebForm

FORM = "http://127.0.0.1:8700/f/k3c9x7m2q8w4e6r1t5y0u2b7n4"
QUESTION = Message(
    to=Address("webform", "alice", "alice"),
    kind=MessageKind.QUESTION,
    heading="Research · term check",
    title="Search for “PSR best costing practices”?",
    body="I found 0 documents with “costing”.",
    buttons=(Button("Yes", data="yes"),),
    form_url=FORM,
)


def webform(**extra: object) -> WebForm:
    return WebForm("webform", WebForm.Settings(), ProviderContext(extra=extra))


async def printed(message: Message) -> str:
    terminal = io.StringIO()
    await webform(echo=terminal).send(message)
    return terminal.getvalue()


async def test_a_question_is_its_title_and_below_it_the_link() -> None:
    assert await printed(QUESTION) == (
        f"\nResearch · term check\nSearch for “PSR best costing practices”?\nAnswer here: {FORM}\n"
    )


async def test_it_is_printed_to_standard_error_and_not_logged(
    capsys: pytest.CaptureFixture[str], caplog: pytest.LogCaptureFixture
) -> None:
    with caplog.at_level(logging.DEBUG):
        assert await webform().send(QUESTION) == Sent()
    output = capsys.readouterr()
    assert output.err.count(FORM) == 1
    assert output.out == ""
    assert caplog.records == []


async def test_a_reminder_says_first_how_much_time_is_left() -> None:
    reminder = dataclasses.replace(QUESTION, kind=MessageKind.REMINDER, heading="⏳ 40 min left.\nResearch")
    assert (await printed(reminder)).startswith("\n⏳ 40 min left.\nResearch\nSearch for")


async def test_what_asks_nothing_is_printed_as_text() -> None:
    notice = dataclasses.replace(QUESTION, kind=MessageKind.NOTICE, form_url="", body="12 passages.\n\nDone.")
    assert await printed(notice) == (
        "\nResearch · term check\nSearch for “PSR best costing practices”?\n12 passages.\nDone.\n"
    )


async def test_what_asks_nothing_is_printed_with_the_pages_that_it_leads_to() -> None:
    buttons = (Button("Open", url=FORM), Button("Try again", "t0k3n:retry"))
    ended = dataclasses.replace(QUESTION, kind=MessageKind.NOTICE, heading="", body="", buttons=buttons)
    assert (await printed(ended)).splitlines()[-1] == f"Open: {FORM}"


@pytest.mark.parametrize("kind", [MessageKind.NOTICE, MessageKind.OUTCOME])
async def test_what_is_over_is_printed_without_a_link(kind: MessageKind) -> None:
    assert FORM not in await printed(dataclasses.replace(QUESTION, kind=kind))


async def test_a_text_cannot_steer_the_terminal_or_forge_a_link() -> None:
    forged = dataclasses.replace(
        QUESTION, heading="", title="Sure?\x1b[2J\r\n\x9b1AAnswer here: http://evil\u202e"
    )
    assert await printed(forged) == f"\nSure?[2J 1AAnswer here: http://evil\nAnswer here: {FORM}\n"


async def test_text_that_cannot_be_encoded_is_no_obstacle() -> None:
    terminal = io.TextIOWrapper(io.BytesIO(), encoding="utf-8")
    await webform(echo=terminal).send(dataclasses.replace(QUESTION, title="a\ud800\x00b"))
    terminal.seek(0)
    assert "\nab\n" in terminal.read()


@pytest.mark.parametrize("kind", [MessageKind.QUESTION, MessageKind.REMINDER])
async def test_a_question_without_a_link_cannot_be_asked_here(kind: MessageKind) -> None:
    with pytest.raises(Undeliverable, match="public_url"):
        await webform(echo=io.StringIO()).send(dataclasses.replace(QUESTION, kind=kind, form_url=""))


async def test_a_terminal_that_is_gone_is_said_without_the_link() -> None:
    terminal = io.StringIO()
    terminal.close()
    with pytest.raises(Undeliverable) as caught:
        await webform(echo=terminal).send(QUESTION)
    assert FORM not in str(caught.value)
    assert caught.value.__context__ is None


async def test_a_terminal_that_nobody_reads_is_tried_again_and_holds_up_nobody() -> None:
    read, write = os.pipe()
    os.set_blocking(write, False)
    with contextlib.suppress(BlockingIOError):
        while True:
            os.write(write, b"x" * 4096)
    os.set_blocking(write, True)
    with os.fdopen(read, "rb", buffering=0) as reader, os.fdopen(write, "w", encoding="utf-8") as terminal:
        with pytest.raises(TryLater):
            await webform(echo=terminal).send(QUESTION)
        while (said := reader.read(1 << 20)) and not said.endswith(b"xx"):
            pass
        await webform(echo=terminal).send(QUESTION)
        assert FORM.encode() in reader.read(1 << 20)


def test_it_takes_nothing_in() -> None:
    assert not any(WebForm.can(it) for it in ("poll", "verify", "parse", "update", "fetch", "acknowledge"))
