"""Messages to people, by the real client at the sandbox."""

import asyncio
import logging
from dataclasses import replace
from typing import Any

import pytest

from answerback.provider import Address, Button, Moved, TryLater, Undeliverable
from answerback_providers.telegram import Telegram
from answerback_sandbox import FaultKind, Sandbox
from tests.providers.telegram.far import Said, far_side, refuses
from tests.providers.telegram.support import ANA, BOT, YES_NO, connected, provider, question

SECOND = 1_000_000


def shown(box: Sandbox) -> str:
    (message,) = box.received(ANA)
    return message.text


async def test_a_question_arrives_with_its_buttons(telegram: Telegram, box: Sandbox) -> None:
    sent = await telegram.send(question(heading="🟦 Ops", buttons=YES_NO, footer="#K7Q2"))
    (message,) = box.received(ANA)
    assert sent.message_ids == (f"{BOT}:{ANA}:{message.id}",)
    assert message.text == "🟦 Ops\nDeploy now?\n\n#K7Q2"
    assert [(button.text, button.data) for button in message.buttons] == [("Yes", "y1"), ("No", "n1")]
    assert [(entity.type, entity.offset) for entity in message.entities] == [("bold", 7), ("italic", 20)]


async def test_links_are_not_previewed(telegram: Telegram, box: Sandbox) -> None:
    await telegram.send(question("See https://example.org/"))
    assert box.received(ANA)[0].link_preview == {"is_disabled": True}


async def test_markup_in_a_text_is_text(telegram: Telegram, box: Sandbox) -> None:
    await telegram.send(question("<b>*Deploy*</b> _now_ [x](http://y)?"))
    assert shown(box) == "<b>*Deploy*</b> _now_ [x](http://y)?"


async def test_no_reply_is_forced_so_that_the_message_can_be_edited_to_its_outcome(
    telegram: Telegram, box: Sandbox
) -> None:
    await telegram.send(question("What shall I search for?", placeholder="Something…"))
    assert not box.received(ANA)[0].force_reply


async def test_a_reminder_hangs_on_the_latest_earlier_message_of_the_same_chat(
    telegram: Telegram, box: Sandbox
) -> None:
    first = await telegram.send(question(delivery_id="d1"))
    second = await telegram.send(question(delivery_id="d2"))
    earlier = (*first.message_ids, *second.message_ids, f"{BOT}:-100:4")
    await telegram.send(question(delivery_id="d3", reply_to=earlier))
    messages = box.received(ANA)
    assert messages[2].reply_to == messages[1].id


async def test_an_earlier_message_that_is_gone_does_not_matter(telegram: Telegram, box: Sandbox) -> None:
    await telegram.send(question(reply_to=(f"{BOT}:{ANA}:999", "no id")))
    assert shown(box) == "Deploy now?"


async def test_a_long_text_arrives_in_parts_with_the_buttons_on_the_last(
    telegram: Telegram, box: Sandbox
) -> None:
    body = "\n".join(f"line {number}" for number in range(600))
    sent = await telegram.send(question(body=body, buttons=YES_NO))
    first, last = box.received(ANA)
    assert f"{first.text}\n{last.text}" == f"Deploy now?\n{body}"
    assert (first.buttons, [button.text for button in last.buttons]) == ((), ["Yes", "No"])
    assert sent.message_ids == (f"{BOT}:{ANA}:{last.id}", f"{BOT}:{ANA}:{first.id}")


async def test_telegram_says_in_which_second_it_took_a_message(telegram: Telegram, box: Sandbox) -> None:
    sent = await telegram.send(question(body="x" * 6000))
    (_, last) = box.received(ANA)
    assert sent.sent_at == last.sent_at // SECOND * SECOND


async def test_a_text_that_was_sent_in_part_is_gone_on_with_and_not_begun_again() -> None:
    now = [1_700_000_000 * SECOND]
    async with Sandbox.start(rates=True, clock=lambda: now[0]) as box, connected(box) as telegram:
        long = question(body="x" * 6000, buttons=YES_NO)
        with pytest.raises(TryLater, match="slow down"):
            await telegram.send(long)
        now[0] += 2 * SECOND
        await telegram.send(long)
        assert "".join(message.text for message in box.received(ANA)) == f"Deploy now?\n{'x' * 6000}"


async def test_what_was_cut_off_from_outside_is_gone_on_with_too() -> None:
    calls, second = [], asyncio.Event()

    async def hangs_at_the_second(fields: dict[str, str]) -> Said:
        calls.append(fields["text"])
        if len(calls) == 2:
            second.set()
            await done.wait()
        return _sent(fields)

    done = asyncio.Event()
    async with far_side(sendMessage=hangs_at_the_second) as far:
        sending = asyncio.create_task(far.telegram.send(question(body="x" * 6000)))
        await second.wait()
        sending.cancel()
        with pytest.raises(asyncio.CancelledError):
            await sending
        await far.telegram.send(question(body="x" * 6000))
        done.set()
    assert calls[1] == calls[2]
    assert len(calls) == 3


async def test_a_link_to_this_machine_is_in_the_text_and_refuses_nothing(
    telegram: Telegram, box: Sandbox
) -> None:
    await telegram.send(question(buttons=(*YES_NO, Button("Form", url="http://localhost:8700/f/t"))))
    assert shown(box) == "Deploy now?\nForm: http://localhost:8700/f/t"
    assert [button.text for button in box.received(ANA)[0].buttons] == ["Yes", "No"]


async def test_somebody_who_blocked_the_bot_is_out_of_reach_for_good(
    telegram: Telegram, box: Sandbox
) -> None:
    box.block(ANA)
    with pytest.raises(Undeliverable, match="blocked by the user") as caught:
        await telegram.send(question())
    assert caught.value.address_dead


async def test_a_chat_that_telegram_does_not_know_is_a_dead_address(telegram: Telegram) -> None:
    with pytest.raises(Undeliverable, match="chat not found") as caught:
        await telegram.send(question(place=424242))
    assert caught.value.address_dead


async def test_a_rate_limit_says_how_long_to_wait(telegram: Telegram, box: Sandbox) -> None:
    box.fail(FaultKind.RATE_LIMITED, method="sendMessage", seconds=17)
    with pytest.raises(TryLater) as caught:
        await telegram.send(question())
    assert (caught.value.seconds, caught.value.maybe_sent) == (17, False)


async def test_a_server_error_is_tried_again(telegram: Telegram, box: Sandbox) -> None:
    box.fail(FaultKind.DOWN, method="sendMessage")
    with pytest.raises(TryLater, match="in trouble"):
        await telegram.send(question())
    await telegram.send(question())
    assert shown(box) == "Deploy now?"


async def test_a_connection_that_breaks_after_sending_leaves_it_open_whether_it_arrived(
    telegram: Telegram, box: Sandbox
) -> None:
    box.fail(FaultKind.DROPPED, method="sendMessage")
    with pytest.raises(TryLater) as caught:
        await telegram.send(question())
    assert caught.value.maybe_sent
    assert shown(box) == "Deploy now?"


async def test_no_answer_in_time_leaves_it_open_whether_it_arrived(box: Sandbox) -> None:
    box.fail(FaultKind.SLOW, method="sendMessage", seconds=30)
    telegram = provider(box.url, timeout=0.3)
    with pytest.raises(TryLater, match="did not answer") as caught:
        await telegram.send(question())
    await telegram.close()
    assert caught.value.maybe_sent


async def test_a_service_that_is_not_there_has_received_nothing() -> None:
    telegram = provider("http://127.0.0.1:1")
    with pytest.raises(TryLater, match="cannot be reached") as caught:
        await telegram.send(question())
    await telegram.close()
    assert not caught.value.maybe_sent


async def test_a_wrong_token_is_named_and_not_tried_again_soon() -> None:
    async with Sandbox.start(token=f"1:{'x' * 35}") as box:
        telegram = provider(box.url)
        with pytest.raises(TryLater, match="does not know the token of the provider telegram") as caught:
            await telegram.send(question())
        await telegram.close()
    assert caught.value.seconds >= 300


async def test_a_group_that_became_a_supergroup_has_moved() -> None:
    moved = refuses(400, "group chat was upgraded to a supergroup chat", migrate_to_chat_id=-1009876543210)
    async with far_side(sendMessage=moved) as far:
        with pytest.raises(Moved) as caught:
            await far.telegram.send(question(place=-55))
    assert caught.value.external_id == "-1009876543210"


@pytest.mark.parametrize(
    "description",
    [
        "Bad Request: can't parse entities: unsupported entity",
        "Bad Request: ENTITY_BOUNDS_INVALID",
        "Bad Request: inline keyboard button URL 'https://ask.example.org/f/t1' is invalid: Wrong HTTP URL",
        "Bad Request: BUTTON_URL_INVALID",
    ],
)
async def test_what_telegram_cannot_read_is_sent_once_again_as_plain_text(
    description: str, caplog: pytest.LogCaptureFixture
) -> None:
    def picky(fields: dict[str, str]) -> tuple[int, Any]:
        rich = "entities" in fields or "f/t1" in fields.get("reply_markup", "")
        return refuses(400, description)(fields) if rich else _sent(fields)

    caplog.set_level(logging.DEBUG)
    buttons = (*YES_NO, Button("Open", url="https://ask.example.org/f/t1"))
    async with far_side(sendMessage=picky) as far:
        sent = await far.telegram.send(question(buttons=buttons))
    assert sent.message_ids == (f"{BOT}:{ANA}:1",)
    assert [call["text"] for call in far.calls["sendMessage"]] == [
        "Deploy now?",
        "Deploy now?\nOpen: https://ask.example.org/f/t1",
    ]
    assert '"callback_data": "y1"' in far.calls["sendMessage"][1]["reply_markup"]
    assert "f/t1" not in caplog.text  # a form link is a key


async def test_what_is_unreadable_even_as_plain_text_is_given_up() -> None:
    async with far_side(sendMessage=refuses(400, "Bad Request: can't parse entities")) as far:
        with pytest.raises(Undeliverable) as caught:
            await far.telegram.send(question())
    assert not caught.value.address_dead
    assert len(far.calls["sendMessage"]) == 2


async def test_any_other_refusal_is_final_for_this_message_only() -> None:
    reason = "Bad Request: not enough rights to send text messages to the chat"
    async with far_side(sendMessage=refuses(400, reason)) as far:
        with pytest.raises(Undeliverable, match="not enough rights") as caught:
            await far.telegram.send(question())
    assert not caught.value.address_dead


@pytest.mark.parametrize(
    "answer",
    [b"<html>nginx</html>", b"", b"[]", b'{"ok": true}', b'{"ok": true, "result": {}}', b"[" * 100_000],
)
async def test_an_answer_that_makes_no_sense_may_still_have_sent_it(answer: bytes) -> None:
    async with far_side(sendMessage=lambda fields: (200, answer)) as far:
        with pytest.raises(TryLater) as caught:
            await far.telegram.send(question())
    assert caught.value.maybe_sent


@pytest.mark.parametrize("status", [500, 502, 503, 504])
async def test_a_gateway_in_between_that_fails_is_tried_again(status: int) -> None:
    async with far_side(sendMessage=lambda fields: (status, b"<html>")) as far:
        with pytest.raises(TryLater) as caught:
            await far.telegram.send(question())
    assert caught.value.maybe_sent is (status in (502, 504))


async def test_a_redirect_is_not_followed_because_the_token_would_go_with_it() -> None:
    async with far_side(sendMessage=lambda fields: (302, b"")) as far:
        with pytest.raises(Undeliverable, match="302"):
            await far.telegram.send(question())


def test_it_keeps_below_the_published_rates_and_uses_95_percent_of_them() -> None:
    pace = Telegram.pace
    assert 0.95 * 30 <= pace.account < 30
    assert 0.95 <= pace.place < 1
    assert 0.95 * 20 / 60 <= pace.shared < 20 / 60
    assert Telegram.max_length == 4096


async def test_a_group_as_the_one_who_answers_is_refused_with_what_to_write_instead(
    telegram: Telegram,
) -> None:
    group = Address("telegram", "-1001", "-1001")
    with pytest.raises(Undeliverable, match="place: the group's"):
        await telegram.send(replace(question(), to=group))


@pytest.mark.parametrize(("place", "alone"), [("1001", "1001"), ("-1009", "1001"), ("@channel", "1001")])
def test_in_a_group_or_a_channel_others_read_too_and_the_persons_own_chat_has_their_id(
    place: str, alone: str
) -> None:
    assert Telegram.alone("1001", place) == alone


def _sent(fields: dict[str, str]) -> tuple[int, Any]:
    chat = {"id": int(fields["chat_id"]), "type": "private"}
    return 200, {"ok": True, "result": {"message_id": 1, "date": 1, "chat": chat, "text": fields["text"]}}
