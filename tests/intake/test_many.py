"""Ten thousand updates in one poll: taken piece by piece, while everything else goes on."""

import asyncio
import json
import tracemalloc
from pathlib import Path

import pytest

from answerback.app import App
from answerback.ask import AskRequest
from answerback.metrics import Metric
from answerback.model import Question
from answerback.provider import Batch, Inbound
from answerback.receive import AT_ONCE
from tests.intake.doors import TEXT, World, world_in
from tests.intake.table import update
from tests.providers.telegram.far import far_side

pytestmark = pytest.mark.needs_extra("telegram", "whatsapp")
MANY = 10_000
PIECE = 1000  # of the updates that one poll takes
STRANGER = {"from": {"id": 6666, "is_bot": False}, "chat": {"id": 6666, "type": "private"}}
MOST_BYTES = 64 << 20  # of memory in use at the same time, for about 3 MB that came in


def flood(first: int = 1) -> list[dict[str, object]]:
    """What strangers wrote; in the middle, what Ana wrote."""
    found = [update(first + number, **STRANGER) for number in range(MANY)]
    found[MANY // 2] = update(first + MANY // 2)
    return found


async def taken(app: App) -> int:
    return app.context.metrics.of(Metric.EVENTS, "telegram")


async def test_of_ten_thousand_updates_in_one_answer_a_thousand_are_taken_at_once(tmp_path: Path) -> None:
    said = json.dumps({"ok": True, "result": flood()}).encode()
    async with far_side(getUpdates=lambda fields: (200, said)) as far:
        batch = await far.telegram.poll("")
    assert (len(batch.events), batch.cursor) == (
        PIECE,
        f"7000000001:{PIECE + 1}",
    )  # the rest comes with the next


async def test_ten_thousand_updates_are_taken_while_the_api_keeps_its_turn(tmp_path: Path) -> None:
    events = tuple(Inbound(json.dumps(one).encode()) for one in flood())
    async with world_in(tmp_path) as world:
        tracemalloc.start()
        try:
            poll = asyncio.create_task(world.app.receiver.polled("telegram", Batch(events, str(MANY + 1))))
            asked = await asked_meanwhile(world, poll)
            await poll
            _, peak = tracemalloc.get_traced_memory()
        finally:
            tracemalloc.stop()
        assert asked >= 10  # each of them waited for a piece of the poll, and not for all of it
        assert peak < MOST_BYTES
        assert world.app.context.metrics.of(Metric.EVENTS, "telegram") == MANY
        assert world.app.context.metrics.of(Metric.EVENTS, "telegram", "accepted") == 1
        assert await world.app.receiver.cursor("telegram") == str(MANY + 1)


async def asked_meanwhile(world: World, poll: "asyncio.Task[None]") -> int:
    """How many questions were asked through the application before the poll was done."""
    asked = 0
    while not poll.done():
        before = world.app.context.metrics.of(Metric.EVENTS, "telegram")
        await world.app.asker.ask(AskRequest((Question("q1", f"Question {asked}?"),), ask=("ben",)))
        after = world.app.context.metrics.of(Metric.EVENTS, "telegram")
        assert after - before <= 3 * AT_ONCE  # what came in while this one call waited for its turn
        asked += 1
        await asyncio.sleep(0.05)  # another caller, a moment later
    return asked


async def test_a_poll_that_was_cut_short_is_read_again_and_counts_once(tmp_path: Path) -> None:
    events = tuple(Inbound(json.dumps(update(number, **STRANGER)).encode()) for number in range(1, 301))
    async with world_in(tmp_path) as world:
        cut = asyncio.create_task(world.app.receiver.polled("telegram", Batch(events, "301")))
        while not await taken(world.app):  # noqa: ASYNC110
            await asyncio.sleep(0)
        cut.cancel()
        await asyncio.gather(cut, return_exceptions=True)
        await world.app.context.store.settled()
        first = await taken(world.app)
        assert 0 < first < 300
        assert await world.app.receiver.cursor("telegram") == ""  # nothing of it is confirmed
        await world.app.receiver.polled("telegram", Batch(events, "301"))
        found = world.app.context.metrics
        once = found.of(Metric.EVENTS, "telegram") - found.of(Metric.EVENTS, "telegram", "duplicate")
        assert once <= 300 and found.of(Metric.EVENTS, "telegram", "duplicate") >= first
        assert await world.app.receiver.cursor("telegram") == "301"


async def test_a_strange_update_hides_none_of_the_others(tmp_path: Path) -> None:
    strange = [b"null", b"[]", b'{"update_id": "x"}', b"\xff", b"{", b"[" * 9999, b'{"update_id": 1e400}']
    good = json.dumps(update(5)).encode()
    async with world_in(tmp_path) as world:
        batch = Batch(tuple(Inbound(one) for one in (*strange, good, *strange)), "6")
        await world.app.receiver.polled("telegram", batch)
        await world.app.idle()
        found = world.app.context.metrics
        assert found.of(Metric.EVENTS, "telegram", "accepted") == 1
        assert found.of(Metric.EVENTS, "telegram") == 2 * len(strange) + 1
        assert (await world.app.reader.interaction(world.interaction)).answer.text == TEXT
