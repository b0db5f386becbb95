"""Who sends a message may be stopped for longer than a claim lasts, and go on: then two have sent it.

Here one gateway is both: the claim of the first send lapses while the service holds it up.
"""

import asyncio
import contextlib
from collections.abc import AsyncIterator

import pytest

from answerback.ask import AskRequest
from answerback.errors import Moved, TryLater, Undeliverable
from answerback.model import InteractionStatus, Question
from answerback.provider import Message, Receipt, Sent
from answerback.receipts import note
from answerback.store import Row, deliveries, letters
from answerback.testing import MemoryProvider
from tests.support.databases import Database
from tests.support.gateway import Gateway, gateway
from tests.support.stand_ins import Stand, routed

QUESTION = (Question("q1", "Which?"),)


class Held(MemoryProvider):
    """Each message waits until the test says what becomes of it."""

    def __init__(self) -> None:
        super().__init__()
        self.sends: list[asyncio.Future[None]] = []
        self.holds = True

    async def send(self, message: Message) -> Sent:
        if self.holds:
            self.sends.append(asyncio.get_running_loop().create_future())
            await self.sends[-1]
        return await super().send(message)


class HeldStand(Stand):
    """Each question waits until the test says so."""

    def __init__(self, name: str, *answers: object) -> None:
        super().__init__(name, *answers)
        self.sends: list[asyncio.Future[None]] = []

    async def send(self, message: Message) -> Sent:
        self.sends.append(asyncio.get_running_loop().create_future())
        await self.sends[-1]
        return await super().send(message)


async def asked_twice(g: Gateway, held: Held | HeldStand) -> str:
    """A question that is being sent twice, because the first claim has lapsed; its id."""
    asked = await g.app.asker.ask(AskRequest(QUESTION))
    await begun(held, 1)
    g.clock.advance(61)
    await g.app.deliverer.pump()
    await begun(held, 2)
    return asked.interaction.id


@contextlib.asynccontextmanager
async def claimed_twice(database: Database) -> AsyncIterator[tuple[Gateway, Held, str]]:
    """Two are sending the same question, whose id this is: the first one's claim has lapsed."""
    held = Held()
    async with gateway(database, providers={"memory": held}) as g:
        yield g, held, await asked_twice(g, held)


async def begun(held: Held | HeldStand, number: int) -> None:
    async with asyncio.timeout(10):
        while len(held.sends) < number:  # noqa: ASYNC110
            await asyncio.sleep(0.001)


async def ends(g: Gateway, held: Held | HeldStand, which: int, how: Exception | None = None) -> None:
    """A send ends like this, and that is written down."""
    if how is None:
        held.sends[which].set_result(None)
    else:
        held.sends[which].set_exception(how)
    tasks = g.app.deliverer._tasks
    left = len(tasks) - 1
    async with asyncio.timeout(10):
        while len(tasks) > left:  # noqa: ASYNC110
            await asyncio.sleep(0.001)
    await g.app.context.store.settled()


async def copies(g: Gateway, id: str) -> list[Row]:
    """What Alice was sent."""
    found = await g.app.context.store.read(lambda tx: tx.all(deliveries.OF, interaction_id=id))
    return [row for row in found if row["contact_id"] == "alice" and row["kind"] == "question"]


LATE = {
    "failed for good": Undeliverable("blocked"),
    "its address is dead": Undeliverable("blocked", address_dead=True),
    "the service is away": TryLater(3600, "busy"),
    "its place moved": Moved("1001"),
    "nobody knows": TimeoutError(),
    "the plugin raises": RuntimeError("a bug"),
}


@pytest.mark.parametrize("late", LATE.values(), ids=LATE.keys())
@pytest.mark.parametrize("other_has_sent", [False, True])
async def test_law_12_what_went_wrong_late_changes_nothing_of_what_another_has_claimed(
    database: Database, late: Exception, other_has_sent: bool
) -> None:
    async with claimed_twice(database) as (g, held, id):
        if other_has_sent:
            await ends(g, held, 1)
        (before,) = await copies(g, id)
        await ends(g, held, 0, late)
        (after,) = await copies(g, id)
        assert after == before
        if not other_has_sent:
            await ends(g, held, 1)
        held.holds = False
        await g.later(7200)
        assert g.memory.titles("1001") == ["Which?"]
        await g.types("1001", "tea", references=["m1"])
        assert (await g.app.reader.interaction(id)).status is InteractionStatus.COMPLETED


async def test_a_claim_that_lapsed_and_is_nobody_else_s_still_says_what_went_wrong(
    database: Database,
) -> None:
    held = Held()
    async with gateway(database, providers={"memory": held}) as g:
        asked = await g.app.asker.ask(AskRequest(QUESTION))
        await begun(held, 1)
        g.clock.advance(61)
        await ends(g, held, 0, Undeliverable("blocked"))
        (row,) = await copies(g, asked.interaction.id)
        assert (row["status"], row["error"]) == ("failed", "blocked")


async def test_a_dead_letter_that_is_sent_again_is_not_what_failed_before_it_was_one(
    database: Database,
) -> None:
    """It counts its attempts from the start: the first of now is not the first of then."""
    async with claimed_twice(database) as (g, held, id):
        await ends(g, held, 1, Undeliverable("blocked"))
        (row,) = await copies(g, id)
        store = g.app.context.store
        assert await store.read(lambda tx: letters.find(tx, row["id"])) is not None
        await g.app.letters.replay(row["id"], "ops")
        await g.app.deliverer.pump()
        await begun(held, 3)
        await ends(g, held, 0, Undeliverable("blocked"))
        await ends(g, held, 2)
        (row,) = await copies(g, id)
        assert row["status"] == "sent" and g.memory.titles("1001") == ["Which?"]


@pytest.mark.parametrize("order", [(0, 1), (1, 0)], ids=["first", "late"])
async def test_law_12_of_a_message_that_two_have_sent_both_copies_are_known_and_edited(
    database: Database, order: tuple[int, int]
) -> None:
    async with claimed_twice(database) as (g, held, id):
        for which in order:
            await ends(g, held, which)
        held.holds = False
        assert [row["status"] for row in await copies(g, id)] == ["sent", "sent"]
        await g.app.asker.cancel(id)
        await g.app.idle()
        assert [(shown.id, shown.edited) for shown in g.memory.shown] == [("m1", True), ("m2", True)]


@pytest.mark.parametrize("named", ["m1", "m2"])
async def test_law_1_a_reply_to_either_copy_is_for_its_question(database: Database, named: str) -> None:
    async with claimed_twice(database) as (g, held, id):
        await ends(g, held, 1)
        await ends(g, held, 0)
        held.holds = False
        await g.app.asker.ask(AskRequest((Question("q", "Another?"),)))
        await g.app.idle()
        await g.types("1001", "tea", references=[named])
        record = await g.app.reader.interaction(id)
        assert record.answer is not None and record.answer.values == {"q1": "tea"}


async def test_a_copy_that_turns_up_when_its_question_is_closed_is_told_how_it_ended(
    database: Database,
) -> None:
    async with claimed_twice(database) as (g, held, id):
        await ends(g, held, 1)
        await g.app.receiver.respond(id, "tea", by="ops", via="api")
        held.holds = False
        await ends(g, held, 0)
        await g.app.idle()
        assert [shown.edited for shown in g.memory.shown] == [True, True]


async def test_one_that_turns_up_after_it_was_given_up_is_known_and_its_person_is_asked_nowhere_else_again(
    database: Database,
) -> None:
    async with claimed_twice(database) as (g, held, id):
        await ends(g, held, 1, Undeliverable("blocked"))
        await ends(g, held, 0)
        assert [row["status"] for row in await copies(g, id)] == ["failed", "sent"]
        assert not (await g.app.letters.list()).items
        held.holds = False
        await g.types("1001", "tea", references=["m1"])
        assert (await g.app.reader.interaction(id)).status is InteractionStatus.COMPLETED


async def test_what_the_service_says_of_one_copy_says_nothing_of_the_other(database: Database) -> None:
    async with claimed_twice(database) as (g, held, id):
        await ends(g, held, 1)
        store, outbox = g.app.context.store, g.app.context.outbox
        # It comes before anybody knows that this message is there.
        bounced = Receipt("e1", "m2", "failed", "blocked")
        await store.write(lambda tx: note(tx, outbox, "memory", bounced))
        await ends(g, held, 0)
        assert [row["status"] for row in await copies(g, id)] == ["sent", "failed"]
        await store.write(lambda tx: note(tx, outbox, "memory", Receipt("e2", "m1", "read")))
        assert [row["status"] for row in await copies(g, id)] == ["read", "failed"]


async def test_a_stand_in_that_two_have_asked_hands_on_once(database: Database) -> None:
    llm, spare, third = HeldStand("llm"), Stand("spare", TryLater(30, "busy")), Stand("third", "x")
    routes = routed("llm", "spare", "third", ask=())
    providers = {"llm": llm, "spare": spare, "third": third}
    async with gateway(database, providers=providers, routes=routes) as g:
        await asked_twice(g, llm)
        await ends(g, llm, 0)
        await ends(g, llm, 1)
        await g.app.idle()
        assert (len(spare.asked), third.asked) == (1, [])
