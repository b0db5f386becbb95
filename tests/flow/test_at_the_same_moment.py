"""Two gateways on one PostgreSQL do something about one question at the same moment.

A third connection holds the question's row until both wait, so that each has begun before the other ends.
"""

import asyncio
from collections.abc import Sequence
from pathlib import Path

import psycopg
import pytest
from sqlalchemy import text

from answerback.agent import Finished, State, Target
from answerback.context import Context
from answerback.errors import AgentUnavailable
from answerback.failing import failed, hold_asker
from answerback.model import (
    Address,
    Answer,
    Contact,
    InteractionStatus,
    Json,
    Question,
    RunStatus,
    StandsIn,
)
from answerback.provider import Message, Provider, ProviderContext, Receipt, Sent, StandInSettings
from answerback.receipts import note
from answerback.settings import Route
from answerback.store import Row, Tx, deliveries, leases
from answerback.store.query import Query
from answerback.succession import gave_up
from answerback.testing import ScriptedAgent, asks
from tests.support.gateway import ALICE, BEN
from tests.support.two import WAIT, Opened, at_once, opening

pytestmark = pytest.mark.needs_extra("postgres")
ROW = Query(text("SELECT resume_attempts, resume_next_at, resumed_at FROM interaction"))
ATTEMPTS = Query(text("SELECT attempts FROM run"))
REMINDERS = Query(text("SELECT contact_id FROM delivery WHERE kind = 'reminder' ORDER BY contact_id"))
RENEW = Query(text("UPDATE thread_lease SET until = :until WHERE owner <> ''"))
FAIL = Query(text("UPDATE delivery SET status = 'failed', open = 0 WHERE contact_id = :whose"))
FAIL_ONE = Query(text("UPDATE delivery SET status = 'failed', open = 0 WHERE id = :id"))
FAILED = Receipt("e", "late", "failed", "blocked")
CARL = Contact("carl", "Carl", addresses=(Address("memory", "3003", "3003"),))
PEOPLE = {"alice": ALICE, "ben": BEN, "carl": CARL}
HANDING = {"default": Route("default", ask=("alice", "ben"), providers=("memory",), delegates=("carl",))}


class Slow(ScriptedAgent):
    """It resumes nothing before it may."""

    def __init__(self, *steps: Question | Sequence[Question]) -> None:
        super().__init__(*steps or (asks("Which?"),))
        self.may, self.entered, self.begun = asyncio.Event(), asyncio.Event(), 0

    async def resume(self, thread: str, target: Target, answer: Answer, *, again: bool = False) -> State:
        self.begun += 1
        self.entered.set()
        await self.may.wait()
        return await super().resume(thread, target, answer, again=again)


class Away(ScriptedAgent):
    """It is never there."""

    begun = 0

    async def start(self, thread: str, input: Json, run: str = "") -> State:
        self.begun += 1
        raise AgentUnavailable("its disk is full")


class Done(Slow):
    """One answer of two is enough for it, once it may go on."""

    def __init__(self) -> None:
        super().__init__((asks("This?"), asks("That?")))

    async def resume(self, thread: str, target: Target, answer: Answer, *, again: bool = False) -> State:
        await super().resume(thread, target, answer, again=again)
        return Finished(await self.cancel(thread))


class Idle(Provider):
    """A stand-in that is never sent anything here."""

    stand_in = StandsIn.PROGRAM
    Settings = StandInSettings

    async def send(self, message: Message) -> Sent:
        return Sent()


@pytest.fixture
def two(postgres_url: str, tmp_path: Path) -> Opened:
    return opening(postgres_url, tmp_path)


async def test_law_1_an_answer_that_both_find_due_is_given_once_and_the_attempt_stays_written_down(
    two: Opened,
) -> None:
    agent = Slow()
    async with two(agent) as both:
        run, store = await both.one.run(), both.one.app.context.store
        elsewhere = await store.write(lambda tx: leases.take(tx, "scripted", run.thread_id, "elsewhere"))
        assert elsewhere is not None
        await both.one.types("1001", "tea")
        await store.write(lambda tx: leases.release(tx, elsewhere))
        both.one.clock.advance(16)
        pumps = both.one.app.resumer.pump(), both.two.app.resumer.pump()
        await both.begun_at_once(run.interactions[0], *pumps)
        (row,) = await store.read(lambda tx: tx.all(ROW))
        # Should it be killed now, whoever comes next knows that the answer may have been taken.
        assert (row["resume_attempts"], row["resumed_at"]) == (1, None)
        agent.may.set()
        await both.two.app.idle()
        ended = await both.one.settled(run.id)
        assert (ended.status, ended.result, agent.begun) == (RunStatus.COMPLETED, ["tea"], 1)


async def test_law_1_a_run_that_both_find_due_is_begun_once_more_and_counted_once(two: Opened) -> None:
    agent = Away()
    async with two(agent) as both:
        run = await both.one.run()
        both.one.clock.advance(3600)
        await both.begun_at_once(run.id, both.one.app.runner.pump(), both.two.app.runner.pump(), "run")
        await both.one.app.idle()
        await both.two.app.idle()
        (row,) = await both.one.app.context.store.read(lambda tx: tx.all(ATTEMPTS))
        assert (agent.begun, row["attempts"]) == (2, 2)


async def test_who_snoozed_is_asked_again_once_when_both_find_it_due(two: Opened) -> None:
    async with two() as both:
        id = await both.ask()
        await both.one.types("1001", "snooze 1h")
        both.one.clock.advance(3601)
        await both.at_once(id, both.one.app.elapser.pump(), both.two.app.elapser.pump())
        assert await both.one.app.context.store.read(lambda tx: tx.all(REMINDERS)) == [
            {"contact_id": "alice"}
        ]


@pytest.mark.parametrize("sweeps_first", [False, True])
async def test_a_snooze_is_kept_while_the_other_one_ends_an_earlier_one(
    two: Opened, sweeps_first: bool
) -> None:
    async with two(routes=HANDING, contacts=PEOPLE) as both:
        id = await both.ask()
        await both.one.types("1001", "snooze 1h")
        both.one.clock.advance(3601)
        work = [both.one.app.elapser.pump(), both.two.types("2002", "snooze 2h")]
        await both.at_once(id, *(work if sweeps_first else reversed(work)))
        for _ in range(3):
            await both.one.later(3601)
        found = await both.one.app.context.store.read(lambda tx: tx.all(REMINDERS))
        assert found == [{"contact_id": "alice"}, {"contact_id": "ben"}]


async def test_law_2_a_question_that_is_just_being_answered_is_not_handed_on(two: Opened) -> None:
    async with two(routes=HANDING, contacts=PEOPLE) as both:
        id = await both.ask()
        await both.at_once(id, both.one.types("2002", "tea"), both.two.types("1001", "/delegate carl"))
        record = await both.record(id)
        assert (record.status, record.answered_by) == (InteractionStatus.COMPLETED, "ben")
        assert both.one.memory.titles("3003") == []
        said = both.one.memory.titles("1001")[-1]
        assert said == "Ben answered this at 12:00 on memory: “tea”. Nothing changed."


async def test_when_the_last_two_people_prove_unreachable_at_once_the_stand_in_is_asked(two: Opened) -> None:
    route = Route("default", ask=("alice", "ben"), providers=("memory",), stand_ins=("idle",))
    idle = Idle("idle", StandInSettings(), ProviderContext())
    async with two(routes={"default": route}, phones={"idle": idle}) as both:
        id = await both.ask()
        loop, second = asyncio.get_running_loop(), list[asyncio.Future[list[Row]]]()
        here, there = both.one.app.context, both.two.app.context

        def failing(tx: Tx, whose: str, context: Context) -> list[Row]:
            tx.run(FAIL, whose=whose)
            asked = {row["contact_id"]: row for row in tx.all(deliveries.OF, interaction_id=id)}
            return gave_up(context.outbox, tx, asked[whose]).rows

        def first(tx: Tx) -> list[Row]:
            rows = failing(tx, "alice", here)
            work = there.store.write(lambda tx: failing(tx, "ben", there))
            second.append(asyncio.wrap_future(asyncio.run_coroutine_threadsafe(work, loop), loop=loop))
            with psycopg.connect(both.url, autocommit=True) as watching:
                while not second[0].done() and watching.execute(WAIT).fetchone() == (0,):
                    continue
            return rows

        assert await here.store.write(first) == []
        (asked,) = await second[0]
        assert asked["provider"] == "idle"


async def test_what_a_service_says_to_one_of_a_message_that_the_other_is_just_writing_down_is_not_lost(
    two: Opened,
) -> None:
    async with two() as both:
        id, store, outbox = await both.ask(), both.one.app.context.store, both.one.app.context.outbox
        row = await both.message(id)
        async with await psycopg.AsyncConnection.connect(both.url) as writing:
            await writing.execute("INSERT INTO message VALUES ('memory', 'late', %s, '')", (row["id"],))
            said = asyncio.ensure_future(store.write(lambda tx: note(tx, outbox, "memory", FAILED)))
            await both.waiting(1, writing)
        await said
        row = await both.message(id)
        assert row["status"] == "failed"


async def test_of_two_receipts_at_once_the_higher_one_counts(two: Opened) -> None:
    async with two() as both:
        id, outbox = await both.ask(), both.one.app.context.outbox
        stores = both.one.app.context.store, both.two.app.context.store
        row = await both.message(id)
        delivered, read = (Receipt(each, "m1", each) for each in ("delivered", "read"))
        first = stores[0].write(lambda tx: note(tx, outbox, "memory", delivered))
        second = stores[1].write(lambda tx: note(tx, outbox, "memory", read))
        await both.begun_at_once(row["id"], first, second, "delivery")
        row = await both.message(id)
        assert row["status"] == "read"


async def test_law_7_two_who_hand_one_question_on_at_once_both_give_up_their_say(two: Opened) -> None:
    async with two(routes=HANDING, contacts=PEOPLE) as both:
        id = await both.ask()
        work = both.one.types("1001", "/delegate carl"), both.two.types("2002", "/delegate carl")
        await both.at_once(id, *work)
        record = await both.record(id)
        assert (record.route["ask"], record.route["delegated"]) == (["carl"], ["alice", "ben"])
        assert both.one.memory.titles("3003") == ["Which?"]


async def test_an_agent_that_ends_as_another_gateway_looks_after_its_answer_lets_neither_wait_for_the_other(
    two: Opened,
) -> None:
    """An answer whose agent works for long is looked at every now and then; its thread's lease is renewed."""
    agent = Slow()
    async with two(agent) as both:
        run = await both.one.run()
        (id,) = run.interactions
        answering = asyncio.ensure_future(both.one.types("1001", "tea"))
        await agent.entered.wait()
        both.one.clock.advance(20)
        await both.one.app.context.store.write(lambda tx: tx.run(RENEW, until=tx.now + leases.SPAN))
        both.one.clock.advance(11)

        async def ends() -> None:
            agent.may.set()
            await answering

        await both.begun_at_once(id, ends(), both.two.app.resumer.pump())
        await both.one.app.idle()
        await both.two.app.idle()
        assert (await both.one.settled(run.id)).status is RunStatus.COMPLETED
        assert agent.begun == 1
        assert await both.waited_in_a_ring() == 0


async def test_of_two_that_erase_the_last_two_runs_of_a_thread_one_has_it_forgotten(two: Opened) -> None:
    agent = ScriptedAgent(asks("Which?"))
    async with two(agent) as both:
        first = await both.one.run()
        await both.one.types("1001", "tea")
        second = await both.one.run(thread_id=first.thread_id)
        await both.one.types("1001", "milk")
        assert (await both.one.settled(second.id)).status is RunStatus.COMPLETED
        erasers = (both.one.app.eraser.run(first.id), both.two.app.eraser.run(second.id))
        assert await at_once(both, "run", first.id, *erasers) == [None, None]
        assert agent.threads == ()
        erased = [(await both.one.settled(run.id)).erased_at for run in (first, second)]
        assert None not in erased


async def test_when_a_stand_in_fails_at_two_questions_of_a_run_at_once_people_hear_of_it_once(
    two: Opened,
) -> None:
    agent = ScriptedAgent(asks("Which?"), [asks("This?"), asks("That?")])
    async with two(agent) as both:
        run = await both.one.run()
        await both.one.types("1001", "tea")
        run = await both.one.settled(run.id)
        work = []
        for id, here in zip(run.interactions[1:], (both.one, both.two), strict=True):
            context, row = here.app.context, await both.message(id)

            def failing_at(tx: Tx, context: Context = context, row: Row = row) -> list[Row]:
                hold_asker(tx, row)
                tx.run(FAIL_ONE, id=row["id"])
                return failed(tx, context, row | {"provider": "llm"}, "busy").rows

            work.append(context.store.write(failing_at))
        await both.begun_at_once(run.id, work[0], work[1], "run")
        both.one.clock.advance(61)
        await both.one.sweep()
        said = [title for title in both.one.memory.titles("1001") if "stopped" in title]
        assert said == ["⚠️ Scripted stopped: the stand-in llm failed: busy"]
        assert await both.waited_in_a_ring() == 0


async def test_law_2_who_answers_what_the_agent_just_gave_up_is_told_so(two: Opened) -> None:
    agent = Done()
    async with two(agent) as both:
        run = await both.one.run()
        first, second = [await both.record(id) for id in run.interactions]
        answering = asyncio.ensure_future(both.one.types("1001", f"#{first.code} tea"))
        await agent.entered.wait()

        async def ending() -> None:
            agent.may.set()
            await answering

        await both.begun_at_once(run.id, ending(), both.two.types("1001", f"#{second.code} milk"), "run")
        await both.two.app.idle()
        found = await both.record(second.id)
        assert (found.status, found.reason) == (InteractionStatus.CANCELLED, "superseded")
        assert [question for _, question, _ in agent.journal] == ["This?"]
        # Beside it they may hear how the run ended, sooner or later.
        assert both.one.memory.titles("1001").count("The question changed. Please look again.") == 1
        assert await both.waited_in_a_ring() == 0


async def test_a_message_that_fails_as_its_question_is_given_to_the_agent_waits_for_that(two: Opened) -> None:
    agent = Slow((asks("This?"), asks("That?")))
    async with two(agent) as both:
        run = await both.one.run()
        first, second = [await both.record(id) for id in run.interactions]
        answering = asyncio.ensure_future(both.one.types("1001", f"#{first.code} tea"))
        await agent.entered.wait()
        row = await both.message(first.id)

        async def ending() -> None:
            agent.may.set()
            await answering

        failing_ = both.two.app.context.store.write(lambda tx: hold_asker(tx, row))
        await both.begun_at_once(second.id, failing_, ending())
        assert await both.waited_in_a_ring() == 0
