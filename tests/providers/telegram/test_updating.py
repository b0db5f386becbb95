"""A message that was answered changes to its outcome, and taps are acknowledged."""

import dataclasses
import logging

import pytest

from answerback.provider import Button, Inbound, Outcome, Reply, TryLater, Undeliverable
from answerback_providers.telegram import Telegram
from answerback_sandbox import FaultKind, Sandbox
from tests.providers.telegram.far import far_side, refuses
from tests.providers.telegram.support import ANA, BOT, YES_NO, outcome, question, to


async def test_the_message_changes_to_its_outcome_and_loses_its_buttons(
    telegram: Telegram, box: Sandbox
) -> None:
    sent = await telegram.send(question(buttons=YES_NO))
    await telegram.update(to(), sent.message_ids[0], outcome())
    (message,) = box.received(ANA)
    assert (message.text, message.buttons) == ("✅ You chose “Yes” · 14:02. Going on.", ())


async def test_also_buttons_of_the_outcome_are_left_out(telegram: Telegram, box: Sandbox) -> None:
    sent = await telegram.send(question(buttons=YES_NO))
    await telegram.update(to(), sent.message_ids[0], outcome(buttons=(Button("Again", "a1"),)))
    assert box.received(ANA)[0].buttons == ()


async def test_of_a_split_message_the_part_with_the_buttons_changes(telegram: Telegram, box: Sandbox) -> None:
    sent = await telegram.send(question(body="x" * 6000, buttons=YES_NO))
    await telegram.update(to(), sent.message_ids[0], outcome("✅ Done."))
    first, last = box.received(ANA)
    assert first.text.startswith("Deploy now?")
    assert (last.text, last.buttons) == ("✅ Done.", ())


async def test_an_outcome_longer_than_a_message_is_shortened_with_the_link(
    telegram: Telegram, box: Sandbox
) -> None:
    sent = await telegram.send(question())
    link = "https://ask.example.org/f/t1"
    await telegram.update(to(), sent.message_ids[0], outcome("😀" * 5000, form_url=link))
    assert box.received(ANA)[0].text.endswith(f"…\n{link}")


async def test_to_say_the_same_again_is_a_success(telegram: Telegram, box: Sandbox) -> None:
    sent = await telegram.send(question(buttons=YES_NO))
    await telegram.update(to(), sent.message_ids[0], outcome())
    await telegram.update(to(), sent.message_ids[0], outcome())
    assert len(box.received(ANA)) == 1


async def test_a_message_that_is_gone_cannot_be_changed(telegram: Telegram) -> None:
    with pytest.raises(Undeliverable, match="message to edit not found") as caught:
        await telegram.update(to(), f"{BOT}:{ANA}:999", outcome())
    assert not caught.value.address_dead


@pytest.mark.parametrize("message_id", ["", "12", ":12", "1001:", "1001:x", "<a@b>"])
async def test_the_id_of_another_provider_is_refused(telegram: Telegram, message_id: str) -> None:
    with pytest.raises(Undeliverable, match="not the id of a message on Telegram"):
        await telegram.update(to(), message_id, outcome())


async def test_an_outcome_that_telegram_cannot_read_is_written_as_plain_text() -> None:
    async with far_side(editMessageText=refuses(400, "Bad Request: can't parse entities")) as far:
        with pytest.raises(Undeliverable):
            await far.telegram.update(to(), f"{BOT}:{ANA}:4", outcome(footer="#K7Q2"))
    assert ["entities" in call for call in far.calls["editMessageText"]] == [True, False]


async def test_a_rate_limit_while_changing_says_how_long_to_wait(telegram: Telegram, box: Sandbox) -> None:
    sent = await telegram.send(question())
    box.fail(FaultKind.RATE_LIMITED, method="editMessageText", seconds=4)
    with pytest.raises(TryLater) as caught:
        await telegram.update(to(), sent.message_ids[0], outcome())
    assert caught.value.seconds == 4


async def tapped(telegram: Telegram, box: Sandbox) -> Reply:
    """Ana taps the first button of a new question."""
    await telegram.send(question(buttons=YES_NO))
    box.tap(ANA, box.received(ANA)[-1].id, 0)
    batch = await telegram.poll("")
    (reply,) = telegram.parse(Inbound(body=batch.events[-1].body))
    assert isinstance(reply, Reply)
    return reply


async def test_a_tap_gets_a_toast(telegram: Telegram, box: Sandbox) -> None:
    reply = await tapped(telegram, box)
    assert (reply.data, reply.sender, reply.place) == ("y1", str(ANA), str(ANA))
    await telegram.acknowledge(reply, Outcome.ACCEPTED, "✅ Yes")
    (callback,) = box.callbacks(ANA)
    assert (callback.answered, callback.text, callback.alert) == (True, "✅ Yes", False)


@pytest.mark.parametrize(
    "result", [Outcome.NOT_ALLOWED, Outcome.ALREADY_ANSWERED, Outcome.EXPIRED, Outcome.CANCELLED]
)
async def test_what_must_not_be_overlooked_is_an_alert(
    telegram: Telegram, box: Sandbox, result: Outcome
) -> None:
    await telegram.acknowledge(await tapped(telegram, box), result, "This question is for Ben.")
    assert box.callbacks(ANA)[0].alert


async def test_a_tap_is_answered_also_without_words(telegram: Telegram, box: Sandbox) -> None:
    await telegram.acknowledge(await tapped(telegram, box), Outcome.ACCEPTED, "")
    assert box.callbacks(ANA)[0].answered


async def test_a_long_toast_is_cut_to_what_telegram_takes(telegram: Telegram, box: Sandbox) -> None:
    await telegram.acknowledge(await tapped(telegram, box), Outcome.ACCEPTED, "😀" * 300)
    assert box.callbacks(ANA)[0].text == "😀" * 99 + "…"


async def test_a_tap_that_is_too_old_to_be_acknowledged_is_no_error(
    telegram: Telegram, box: Sandbox, caplog: pytest.LogCaptureFixture
) -> None:
    caplog.set_level(logging.DEBUG)
    reply = dataclasses.replace(await tapped(telegram, box), handle="0")
    await telegram.acknowledge(reply, Outcome.ACCEPTED, "✅ Yes")
    assert "could not be acknowledged" in caplog.text


async def test_a_message_has_nothing_to_acknowledge() -> None:
    reply = Reply(event_id="1", sender=str(ANA), place=str(ANA), text="yes")
    async with far_side() as far:
        await far.telegram.acknowledge(reply, Outcome.ACCEPTED, "✅")
    assert not far.calls


async def test_a_message_of_another_bot_is_not_looked_for_among_ours() -> None:
    async with far_side(editMessageText=lambda fields: (200, {"ok": True, "result": True})) as far:
        with pytest.raises(Undeliverable, match="another bot"):
            await far.telegram.update(to(), f"123:{ANA}:4", outcome())
        await far.telegram.update(to(), f"{ANA}:4", outcome())  # as an older version noted it
        assert len(far.calls["editMessageText"]) == 1
