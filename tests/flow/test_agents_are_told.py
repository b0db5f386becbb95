"""An agent hears that its run is cancelled, however long it is away and whoever dies meanwhile."""

import asyncio
import logging
from collections.abc import Awaitable, Callable
from pathlib import Path

import pytest
from sqlalchemy import text

from answerback.agent import State, Target
from answerback.backoff import AWAY
from answerback.errors import AgentUnavailable, Conflict
from answerback.faults import Faults
from answerback.model import Answer, Json, OnExpire, RunStatus
from answerback.run import Run, RunRequest
from answerback.settings import Route
from answerback.stop import GIVE_UP
from answerback.store import Row, leases, stops
from answerback.store.query import Query
from answerback.tables import NEVER
from answerback.testing import ManualClock, ScriptedAgent, asks
from tests.support.databases import Database
from tests.support.gateway import Gateway, gateway
from tests.support.two import Opened, opening

HOUR = 3600.0
MARK = Query(text("SELECT stop_at, stop_by, stop_attempts FROM run WHERE id = :id"))
AWAY_NOW = "its server does not answer"


class Server(ScriptedAgent):
    """It works on, whatever becomes of the gateway, until it hears that it is to stop."""

    def __init__(self) -> None:
        super().__init__(asks("First?"), asks("Second?"))
        self.told, self.wrong = list[str](), list[Exception]()
        self.hears, self.heard = asyncio.Event(), asyncio.Event()
        self.hears.set()
        self.may = asyncio.Event()
        self.may.set()

    async def resume(self, thread: str, target: Target, answer: Answer, *, again: bool = False) -> State:
        await self.may.wait()
        return await super().resume(thread, target, answer, again=again)

    async def cancel(self, thread: str) -> Json:
        if self.wrong:
            raise self.wrong[0] if len(self.wrong) == 1 else self.wrong.pop(0)
        self.heard.set()
        await self.hears.wait()
        self.told.append(thread)
        return await super().cancel(thread)


class Killed(Faults):
    """As if the process were killed whenever it is about to tell an agent, as long as it `dies`."""

    dies = True

    def reach(self, point: str) -> None:
        super().reach(point)
        if self.dies and point == "stop.before-agent":
            raise RuntimeError("killed here")


async def mark(g: Gateway, run: str) -> Row:
    [row] = await g.app.context.store.read(lambda tx: tx.all(MARK, id=run))
    return row


async def by_the_api(g: Gateway, run: Run) -> None:
    await g.app.runner.cancel(run.id)


async def by_taking_it_back(g: Gateway, run: Run) -> None:
    await g.app.asker.cancel(run.interactions[0])


async def by_a_word(g: Gateway, run: Run) -> None:
    await g.types("1001", "stop")


async def by_its_deadline(g: Gateway, run: Run) -> None:
    await g.later(HOUR + 1)


WAYS = (by_the_api, by_taking_it_back, by_a_word, by_its_deadline)
ENDING = {
    "default": Route(
        "default", ask=("alice",), providers=("memory",), expires_in=HOUR, on_expire=OnExpire.CANCEL
    )
}


@pytest.mark.parametrize("cancels", WAYS, ids=lambda way: way.__name__)
async def test_law_3_an_agent_hears_from_the_next_life_what_the_one_that_was_killed_did_not_tell(
    database: Database, cancels: Callable[[Gateway, Run], Awaitable[None]]
) -> None:
    agent, clock = Server(), ManualClock()
    async with gateway(database, agent, clock=clock, faults=Killed(), routes=ENDING) as g:
        run = await g.run()
        await cancels(g, run)
        await g.app.idle()
        assert ((await g.app.runner.get(run.id)).status, agent.told) == (RunStatus.CANCELLED, [])
    clock.advance(31)
    async with gateway(database, agent, clock=clock, routes=ENDING) as g:
        await g.sweep()
        assert (agent.told, agent.threads) == ([run.thread_id], ())
        assert (await mark(g, run.id))["stop_at"] is None
        await g.later(HOUR)
        assert agent.told == [run.thread_id]


async def test_the_only_process_on_its_database_tells_at_its_start_what_a_dead_one_did_not(
    tmp_path: Path,
) -> None:
    agent, clock, database = Server(), ManualClock(), Database("sqlite", tmp_path)
    async with gateway(database, agent, clock=clock, faults=Killed()) as g:
        run = await g.run()
        await g.app.asker.cancel(run.interactions[0])
    async with gateway(database, agent, clock=clock) as g:
        await g.sweep()
        assert agent.told == [run.thread_id]


async def test_an_agent_that_is_away_hears_of_it_when_it_is_back_and_the_clock_wakes_for_that(
    database: Database, caplog: pytest.LogCaptureFixture
) -> None:
    agent = Server()
    async with gateway(database, agent) as g:
        run = await g.run()
        agent.wrong = [AgentUnavailable(AWAY_NOW)]
        cancelled = await g.app.runner.cancel(run.id)
        assert cancelled.status is RunStatus.CANCELLED
        assert f"it is told again: {AWAY_NOW}" in caplog.text
        now = g.clock()
        assert now < (await mark(g, run.id))["stop_at"] < now + 10_000_000
        for _ in range(3 * GIVE_UP):  # longer than what goes wrong is tried
            await g.later(301 * 1.2)
        agent.wrong = []
        await g.later(301 * 1.2)
        assert agent.told == [run.thread_id]


async def test_what_is_away_for_days_is_given_up_and_says_so(
    database: Database, caplog: pytest.LogCaptureFixture
) -> None:
    agent = Server()
    async with gateway(database, agent) as g:
        run = await g.run()
        agent.wrong = [AgentUnavailable(AWAY_NOW)]
        await g.app.runner.cancel(run.id)
        await g.later(AWAY / 1e6 + 1)
        agent.wrong = []
        await g.later(HOUR)
        assert agent.told == []
        ended = await g.settled(run.id)
        assert ended.error == f"cancelled (its agent was not told: {AWAY_NOW})"
        assert "may work on, see answerback dead-letters" in caplog.text
        assert (await mark(g, run.id))["stop_at"] == NEVER


async def test_law_10_an_agent_that_raises_whenever_it_is_told_is_given_up_and_stops_no_other(
    database: Database, caplog: pytest.LogCaptureFixture
) -> None:
    agent, other = Server(), Server()
    other.name = "other"
    async with gateway(database, agent, other) as g:
        run, fine = await g.run(), await g.run("other")
        agent.wrong = [ValueError("the token is s3cret")]
        for each in (run, fine):
            await g.app.asker.cancel(each.interactions[0])
        await g.app.idle()
        for _ in range(GIVE_UP + 3):
            await g.later(301 * 1.2)
        assert (agent.told, other.told) == ([], [fine.thread_id])
        assert (await mark(g, run.id))["stop_attempts"] == GIVE_UP
        ended = await g.settled(run.id)
        assert ended.error == "cancelled by the asker (its agent was not told: ValueError)"
        levels = [record.levelno for record in caplog.records if record.name == "answerback.run"]
        assert levels == [logging.WARNING] * (GIVE_UP - 1) + [logging.ERROR]


async def test_what_an_agent_had_finished_is_kept_once_however_often_it_hears(database: Database) -> None:
    agent = Server()
    async with gateway(database, agent) as g:
        run = await g.run()
        await g.types("1001", "tea")
        assert (await g.app.runner.cancel(run.id)).result == ["tea"]
        store = g.app.context.store
        await store.write(lambda tx: stops.again(tx, "scripted", run.thread_id, "dead", waits=True))
        await g.later(31)
        assert agent.told == [run.thread_id] * 2
        await store.write(lambda tx: stops.keep(tx, run.id, ["other"]))
        assert (await g.settled(run.id)).result == ["tea"]


async def test_law_1_a_run_that_begins_before_the_agent_has_heard_tells_it_first_and_is_not_stopped_later(
    database: Database,
) -> None:
    agent = Server()
    async with gateway(database, agent) as g:
        first = await g.run(thread_id="t")
        agent.wrong = [AgentUnavailable(AWAY_NOW)]
        await g.app.runner.cancel(first.id)
        agent.wrong = []
        second = await g.run(thread_id="t")
        assert (second.status, agent.told) == (RunStatus.WAITING, ["t"])
        assert (await mark(g, first.id))["stop_at"] is None
        await g.later(HOUR)
        await g.types("1001", "tea")
        assert ((await g.settled(second.id)).status, agent.told) == (RunStatus.WAITING, ["t"])


async def test_no_run_begins_while_another_process_tells_the_agent(database: Database) -> None:
    agent = Server()
    killed = Killed()
    async with gateway(database, agent, faults=killed) as g:
        first = await g.run(thread_id="t")
        store = g.app.context.store
        await g.app.asker.cancel(first.interactions[0])
        held = await store.read(lambda tx: leases.of(tx, "scripted", "t", g.app.context.stopper))
        await store.write(lambda tx: leases.release(tx, held))
        for replace in (False, True):
            with pytest.raises(Conflict, match="working right now"):
                await g.app.runner.start(RunRequest("scripted", thread_id="t", replace=replace))
        killed.dies = False
        await g.later(31)
        assert agent.told == ["t"]
        assert (await g.run(thread_id="t")).status is RunStatus.WAITING


async def test_who_tries_another_run_of_the_thread_again_is_not_stopped_with_the_one_that_was_cancelled(
    database: Database,
) -> None:
    agent = Server()
    async with gateway(database, agent) as g:
        failed = await g.run(thread_id="t")
        await g.types("1001", "fail")
        store = g.app.context.store
        await store.write(lambda tx: tx.run(CANCELLED_BESIDE))
        await g.app.runner.reask(failed.id)
        assert (await g.settled(failed.id)).status is RunStatus.WAITING
        await g.later(HOUR)
        assert (agent.told, (await mark(g, "beside"))["stop_at"]) == ([], None)
        await g.types("1001", "tea")
        assert (await g.settled(failed.id)).status is RunStatus.WAITING


async def test_no_other_run_of_the_thread_is_tried_again_until_the_agent_was_told(
    database: Database,
) -> None:
    async with gateway(database, Server(), faults=Killed()) as g:
        failed = await g.run(thread_id="t")
        await g.types("1001", "fail")
        await g.app.context.store.write(lambda tx: tx.run(WAITING_BESIDE))
        await g.app.runner.cancel("beside")
        for again in (g.app.runner.retry, g.app.runner.reask):
            with pytest.raises(Conflict, match="working right now"):
                await again(failed.id)


WAITING_BESIDE = Query(
    text(
        "INSERT INTO run (id, agent, thread_id, status, intent, attempts, created_at, updated_at)"
        " VALUES ('beside', 'scripted', 't', 'waiting', 'adopt', 0, 1, 1)"
    )
)
# Somebody else's thread was taken up after one run on it had failed; that second run was cancelled.
CANCELLED_BESIDE = Query(
    text(
        "INSERT INTO run (id, agent, thread_id, status, intent, attempts, created_at, updated_at, stop_at)"
        " VALUES ('beside', 'scripted', 't', 'cancelled', 'adopt', 0, 1, 1, 1)"
    )
)


async def test_an_agent_that_works_while_nobody_tells_it_is_told_while_it_works(database: Database) -> None:
    agent = Server()
    killed = Killed()
    async with gateway(database, agent, faults=killed) as g:
        run = await g.run()
        agent.may.clear()
        await g.app.receiver.webhook("memory", g.memory.typed("1001", "tea"))
        await g.app.runner.cancel(run.id)
        killed.dies = False
        store, owner = g.app.context.store, g.app.context.owner
        held = await store.read(lambda tx: leases.of(tx, "scripted", run.thread_id, owner))
        for _ in range(3):  # who works has the thread, and renews that
            await store.write(lambda tx: leases.renew(tx, held))
            g.clock.advance(11)
        await g.app.runner.pump()
        await agent.heard.wait()
        agent.may.set()
        await g.app.idle()
        assert agent.threads == ()


async def test_what_is_not_told_yet_is_not_erased(database: Database) -> None:
    agent = Server()
    async with gateway(database, agent, retention=24 * HOUR) as g:
        run = await g.run()
        agent.wrong = [AgentUnavailable(AWAY_NOW)]
        await g.app.runner.cancel(run.id)
        with pytest.raises(Conflict, match="has still to be told"):
            await g.app.eraser.now(run.interactions[0], "ops")
        g.clock.advance(25 * HOUR)
        await g.app.eraser.sweep()
        assert (await g.app.runner.get(run.id)).erased_at is None
        agent.wrong = []
        await g.later(HOUR)
        await g.app.eraser.sweep()
        assert (await g.app.runner.get(run.id)).erased_at is not None


@pytest.fixture
def two(postgres_url: str, tmp_path: Path) -> Opened:
    return opening(postgres_url, tmp_path)


@pytest.mark.needs_extra("postgres")
async def test_of_two_that_find_it_due_at_once_one_tells_it(two: Opened) -> None:
    agent = Server()
    async with two(agent) as both:
        run = await both.one.run()
        both.one.app.context.signals.stop = lambda _: None  # it is killed before that, and lives again
        await both.one.app.asker.cancel(run.interactions[0])
        both.one.clock.advance(31)
        pumps = both.one.app.runner.pump(), both.two.app.runner.pump()
        await both.begun_at_once(run.id, *pumps, "run")
        await both.one.app.idle()
        await both.two.app.idle()
        assert agent.told == [run.thread_id]


@pytest.mark.needs_extra("postgres")
async def test_while_one_tells_it_the_other_neither_tells_it_too_nor_lets_a_run_begin(two: Opened) -> None:
    agent = Server()
    async with two(agent) as both:
        run = await both.one.run(thread_id="t")
        agent.may.clear()
        agent.hears.clear()
        await both.one.app.receiver.webhook("memory", both.one.memory.typed("1001", "tea"))
        telling = asyncio.create_task(both.two.app.runner.cancel(run.id))
        await agent.heard.wait()
        agent.may.set()
        await both.one.app.idle()
        with pytest.raises(Conflict, match="working right now"):
            await both.one.app.runner.start(RunRequest("scripted", thread_id="t", replace=True))
        agent.hears.set()
        await telling
        await both.one.app.idle()
        assert agent.told == ["t", "t"], "it began to wait after it was told first"
        assert agent.threads == ()
        assert (await both.one.run(thread_id="t")).status is RunStatus.WAITING
