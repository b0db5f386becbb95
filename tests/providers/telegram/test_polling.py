"""Long polling: raw updates with a cursor, and a tidy end."""

import asyncio
import json
from typing import Any

import pytest

from answerback.provider import Batch, Inbound, Reply, TryLater
from answerback_providers.telegram import Telegram
from answerback_sandbox import FaultKind, Sandbox
from tests.providers.telegram.far import Said, far_side, refuses
from tests.providers.telegram.support import ANA, BOT, connected, message_update, provider, question


def read(telegram: Telegram, batch: Batch) -> list[Reply]:
    found = [item for event in batch.events for item in telegram.parse(Inbound(body=event.body))]
    return [item for item in found if isinstance(item, Reply)]


def ids(batch: Batch) -> list[int]:
    return [json.loads(event.body)["update_id"] for event in batch.events]


async def test_every_update_is_one_event_and_the_cursor_is_behind_the_last(
    telegram: Telegram, box: Sandbox
) -> None:
    box.type(ANA, "one")
    box.type(ANA, "two")
    batch = await telegram.poll("")
    assert [reply.text for reply in read(telegram, batch)] == ["one", "two"]
    assert batch.cursor == f"{BOT}:{ids(batch)[-1] + 1}"


async def test_without_the_commit_the_same_updates_come_again(telegram: Telegram, box: Sandbox) -> None:
    box.type(ANA, "one")
    assert ids(await telegram.poll("")) == ids(await telegram.poll(""))


async def test_the_cursor_confirms_what_is_before_it(telegram: Telegram, box: Sandbox) -> None:
    box.type(ANA, "one")
    first = await telegram.poll("")
    box.type(ANA, "two")
    second = await telegram.poll(first.cursor)
    assert [reply.text for reply in read(telegram, second)] == ["two"]


async def test_a_typed_reply_refers_to_the_message_by_the_id_that_send_gave(
    telegram: Telegram, box: Sandbox
) -> None:
    sent = await telegram.send(question())
    box.type(ANA, "yes", reply_to=box.received(ANA)[0].id)
    (reply,) = read(telegram, await telegram.poll(""))
    assert (reply.text, reply.references) == ("yes", sent.message_ids)


async def test_a_poll_that_waits_returns_at_once_when_something_comes(
    telegram: Telegram, box: Sandbox
) -> None:
    waiting = asyncio.create_task(telegram.poll(""))
    await asyncio.sleep(0)
    box.type(ANA, "now")
    async with asyncio.timeout(5):
        assert [reply.text for reply in read(telegram, await waiting)] == ["now"]


async def test_an_empty_poll_keeps_the_cursor() -> None:
    async with far_side(getUpdates=lambda fields: (200, {"ok": True, "result": []})) as far:
        assert await far.telegram.poll("17") == Batch((), "17")
        assert await far.telegram.poll("") == Batch((), "")


async def test_it_asks_for_what_it_understands_and_waits_long() -> None:
    async with far_side(getUpdates=lambda fields: (200, {"ok": True, "result": []})) as far:
        await far.telegram.poll("")
        await far.telegram.poll("17")
    first, second = far.calls["getUpdates"]
    assert json.loads(first["allowed_updates"]) == [
        "message",
        "edited_message",
        "callback_query",
        "my_chat_member",
    ]
    assert 25 <= int(first["timeout"]) <= 50
    assert ("offset" in first, second["offset"]) == (False, "17")


async def test_an_update_that_makes_no_sense_hides_no_other() -> None:
    strange: list[Any] = [
        {"update_id": 1, "message": {"date": "yesterday", "chat": []}},
        "nonsense",
        {"message": {}},
        message_update(text="half \ud83d"),
        {"update_id": 8, "callback_query": 7},
    ]
    async with far_side(getUpdates=lambda fields: (200, {"ok": True, "result": strange})) as far:
        batch = await far.telegram.poll("")
        assert [json.loads(event.body) for event in batch.events] == strange
        assert [reply.text for reply in read(far.telegram, batch)] == ["half \ud83d"]
        assert batch.cursor == f"{BOT}:9"


async def test_of_10000_updates_in_one_poll_the_oldest_are_taken_and_the_others_come_again() -> None:
    many: list[Any] = [{**message_update(text=f"{id}"), "update_id": id} for id in range(10_000, 0, -1)]
    many.insert(0, "nonsense")

    def waiting(fields: dict[str, str]) -> Said:
        offset = int(fields.get("offset", 0))
        left = [each for each in many if each == "nonsense" or each["update_id"] >= offset]
        return 200, {"ok": True, "result": left}

    texts, cursor = [], ""
    async with far_side(getUpdates=waiting) as far:
        for _ in range(10):
            batch = await far.telegram.poll(cursor)
            assert len(batch.events) == 1000
            texts += [reply.text for reply in read(far.telegram, batch)]
            cursor = batch.cursor
    assert texts == [f"{id}" for id in range(1, 10_001)]


async def test_updates_that_can_never_be_confirmed_are_not_asked_for_in_a_hot_loop() -> None:
    async with far_side(getUpdates=lambda fields: (200, {"ok": True, "result": [{}]})) as far:
        with pytest.raises(TryLater) as caught:
            await far.telegram.poll("")
    assert caught.value.seconds >= 30


@pytest.mark.parametrize("result", [{}, None, True, "x"])
async def test_an_answer_that_holds_no_updates_is_tried_again_later(result: object) -> None:
    async with far_side(getUpdates=lambda fields: (200, {"ok": True, "result": result})) as far:
        with pytest.raises(TryLater):
            await far.telegram.poll("")


async def test_a_second_poller_is_named_and_waited_for() -> None:
    reason = (
        "Conflict: terminated by other getUpdates request; make sure that only one bot instance is running"
    )
    async with far_side(getUpdates=refuses(409, reason)) as far:
        with pytest.raises(TryLater, match="Only one program may poll a bot") as caught:
            await far.telegram.poll("")
    assert caught.value.seconds >= 1


async def test_a_webhook_that_somebody_set_is_named(telegram: Telegram, box: Sandbox) -> None:
    async with connected(box, mode="webhook", webhook_secret="s3", public_url="http://127.0.0.1:9"):
        with pytest.raises(TryLater, match="webhook is active"):
            await telegram.poll("")


async def test_a_connection_that_breaks_is_tried_again(telegram: Telegram, box: Sandbox) -> None:
    box.type(ANA, "kept")
    box.fail(FaultKind.REFUSED, method="getUpdates")
    with pytest.raises(TryLater):
        await telegram.poll("")
    assert [reply.text for reply in read(telegram, await telegram.poll(""))] == ["kept"]


async def test_a_poll_ends_at_once_when_it_is_cancelled_and_the_provider_works_on() -> None:
    arrived, released = asyncio.Event(), asyncio.Event()

    async def waits(fields: dict[str, str]) -> Said:
        arrived.set()
        await released.wait()
        return 200, {"ok": True, "result": []}

    me = {"id": 1, "is_bot": True, "first_name": "B", "username": "b_bot"}
    async with far_side(getUpdates=waits, getMe=lambda fields: (200, {"ok": True, "result": me})) as far:
        waiting = asyncio.create_task(far.telegram.poll(""))
        await arrived.wait()
        waiting.cancel()
        async with asyncio.timeout(1):
            with pytest.raises(asyncio.CancelledError):
                await waiting
            assert await far.telegram.probe() == "@b_bot answers; mode polling"
            await far.telegram.close()
        released.set()


async def test_a_long_poll_may_take_longer_than_other_calls() -> None:
    box_timeout = 1.0  # second; the update comes after more than that, and well within the poll's own time
    async with Sandbox.start() as box, connected(box, timeout=box_timeout, poll_seconds=20) as telegram:
        waiting = asyncio.create_task(telegram.poll(""))
        asyncio.get_running_loop().call_later(box_timeout * 1.5, box.type, ANA, "late")
        assert [reply.text for reply in read(telegram, await waiting)] == ["late"]


async def test_opening_removes_a_webhook_and_keeps_the_updates_that_wait_there(box: Sandbox) -> None:
    hook = {"mode": "webhook", "webhook_secret": "s3", "public_url": "http://127.0.0.1:9"}
    async with connected(box, **hook):
        box.type(ANA, "kept")
    async with connected(box) as telegram:
        assert [reply.text for reply in read(telegram, await telegram.poll(""))] == ["kept"]


async def test_opening_leaves_a_bot_without_a_webhook_alone() -> None:
    info = {"url": "", "has_custom_certificate": False, "pending_update_count": 0}
    me = {"id": 1, "is_bot": True, "first_name": "B", "username": "b_bot"}
    said = {"getWebhookInfo": info, "getMe": me}
    methods = {name: lambda fields, name=name: (200, {"ok": True, "result": said[name]}) for name in said}
    async with far_side(**methods) as far:
        await far.telegram.open()
    assert sorted(far.calls) == ["getMe", "getWebhookInfo"]


async def test_a_service_that_is_not_there_at_the_start_is_tried_again() -> None:
    telegram = provider("http://127.0.0.1:1")
    with pytest.raises(TryLater, match="cannot be reached"):
        await telegram.open()
    await telegram.close()


async def test_the_probe_says_who_the_bot_is_and_how_it_listens(telegram: Telegram) -> None:
    assert await telegram.probe() == "@answerback_sandbox_bot answers; mode polling"


async def test_the_probe_names_a_wrong_token() -> None:
    async with Sandbox.start(token=f"1:{'x' * 35}") as box:
        telegram = provider(box.url)
        with pytest.raises(TryLater, match="does not know the token of the provider telegram"):
            await telegram.probe()
        await telegram.close()


async def test_closing_twice_is_fine_and_a_closed_provider_can_be_opened_again(box: Sandbox) -> None:
    telegram = provider(box.url)
    await telegram.open()
    await telegram.close()
    await telegram.close()
    await telegram.open()
    await telegram.close()


async def test_another_bot_is_read_from_its_own_beginning() -> None:
    """Telegram forgets what is before an offset: that of one bot would lose what people tell another."""
    async with far_side(getUpdates=lambda fields: (200, {"ok": True, "result": []})) as far:
        for cursor in (f"{BOT}:17", "17", "123:17"):
            await far.telegram.poll(cursor)
        assert [call.get("offset") for call in far.calls["getUpdates"]] == ["17", "17", None]
