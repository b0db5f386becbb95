"""A run is stopped while its agent begins to wait, or is looked at: nothing is asked or stays open."""

import asyncio
from collections.abc import Awaitable, Callable
from pathlib import Path

import pytest
from sqlalchemy import text

from answerback.agent import Change, Look, State, Target
from answerback.errors import Conflict
from answerback.model import Answer, InteractionStatus, Json, RunStatus
from answerback.run import Run, RunRequest
from answerback.store import runs
from answerback.store.query import Query
from answerback.testing import ScriptedAgent, asks
from tests.support.databases import Database
from tests.support.gateway import Gateway, gateway
from tests.support.two import Opened, at_once, opening

STATUSES = Query(text("SELECT status FROM interaction ORDER BY id"))


class Reached(ScriptedAgent):
    """Others reach its threads too. `hears`: when it may be told that a run is cancelled."""

    def __init__(self, *, ours: bool = True) -> None:
        super().__init__(asks("First?"), asks("Second?"), asks("Third?"))
        self.ours, self.thread, self.cancelled = ours, "", list[str]()
        self.hears = asyncio.Event()
        self.hears.set()
        self.meanwhile: Callable[[], Awaitable[object]] | None = None

    async def look(self, cursor: str) -> Look:
        if not self.thread:
            return Look()
        waiting = tuple((each.interrupt_id, each.digest) for each in await self.pending(self.thread))
        return Look((Change(self.thread, waiting, started=self.ours),))

    async def stands(self, thread: str) -> State | None:
        state = await super().stands(thread)
        if self.meanwhile is not None:
            await self.meanwhile()
        return state

    async def cancel(self, thread: str) -> Json:
        await self.hears.wait()
        self.cancelled.append(thread)
        return await super().cancel(thread) if self.ours else None

    async def is_answered_elsewhere(self) -> None:
        (waiting,) = await self.pending(self.thread)
        await self.resume(self.thread, Target(waiting.interrupt_id, waiting.digest), Answer({"q1": "theirs"}))


class Deaf(ScriptedAgent):
    """What it is told while it works, it does not hear."""

    def __init__(self) -> None:
        super().__init__(asks("First?"), asks("Second?"))
        self.works, self.told = False, 0
        self.may = asyncio.Event()

    async def resume(self, thread: str, target: Target, answer: Answer, *, again: bool = False) -> State:
        self.works = True
        await self.may.wait()
        self.works = False
        return await super().resume(thread, target, answer, again=again)

    async def cancel(self, thread: str) -> Json:
        self.told += 1
        return None if self.works else await super().cancel(thread)


@pytest.fixture
def two(postgres_url: str, tmp_path: Path) -> Opened:
    return opening(postgres_url, tmp_path)


async def statuses(g: Gateway) -> list[str]:
    return [row["status"] for row in await g.app.context.store.read(lambda tx: tx.all(STATUSES))]


async def look(g: Gateway) -> None:
    await g.app.adopter.look("scripted")


async def waiting_run(g: Gateway, agent: Reached) -> Run:
    """A run that waits; `agent` began it, or found it on somebody else's thread."""
    if agent.ours:
        run = await g.run()
        agent.thread = run.thread_id
        return run
    agent.thread = "theirs"
    await agent.start("theirs", None)
    await look(g)
    await g.app.idle()
    (run,) = (await g.app.runner.list()).items
    return run


@pytest.mark.parametrize("ours", [True, False])
async def test_a_run_that_is_stopped_while_it_is_looked_at_asks_nothing_more(
    database: Database, ours: bool
) -> None:
    agent = Reached(ours=ours)
    async with gateway(database, agent) as g:
        run = await waiting_run(g, agent)
        await agent.is_answered_elsewhere()
        agent.hears.clear()
        agent.meanwhile = lambda: g.app.asker.cancel(run.interactions[0])
        await look(g)
        agent.meanwhile = None
        agent.hears.set()
        await g.app.idle()
        await look(g)
        await g.app.idle()
        (only,) = (await g.app.runner.list()).items
        assert only.status is RunStatus.CANCELLED
        assert set(await statuses(g)) == {"cancelled"}
        assert "Second?" not in g.memory.titles("1001")
        assert await agent.pending(agent.thread) == () or not ours


async def test_what_somebody_else_asks_later_on_a_thread_of_theirs_is_asked(database: Database) -> None:
    agent = Reached(ours=False)
    async with gateway(database, agent) as g:
        run = await waiting_run(g, agent)
        await agent.is_answered_elsewhere()
        agent.meanwhile = lambda: g.app.asker.cancel(run.interactions[0])
        await look(g)
        agent.meanwhile = None
        await g.app.idle()
        await agent.is_answered_elsewhere()
        await look(g)
        await g.app.idle()
        assert g.memory.titles("1001")[-1] == "Third?"


async def test_nobody_looks_at_a_thread_until_its_agent_was_told_that_the_run_is_stopped(
    database: Database,
) -> None:
    agent = Reached()
    async with gateway(database, agent) as g:
        run = await waiting_run(g, agent)
        await agent.is_answered_elsewhere()
        agent.hears.clear()
        await g.app.asker.cancel(run.interactions[0])
        await look(g)
        assert await statuses(g) == ["cancelled"]
        agent.hears.set()
        await g.app.idle()
        assert agent.threads == ()


async def test_nobody_looks_at_a_thread_whose_agent_was_not_told_as_its_gateway_was_killed(
    database: Database,
) -> None:
    agent = Reached(ours=False)
    async with gateway(database, agent) as g:
        run = await waiting_run(g, agent)
        g.app.context.signals.stop = lambda _: None
        await g.app.asker.cancel(run.interactions[0])
        await agent.is_answered_elsewhere()  # it was at work on that, and goes on
        g.clock.advance(31)
        await look(g)
        await g.app.idle()
        assert await statuses(g) == ["cancelled"]
        await g.sweep()
        assert agent.cancelled == ["theirs"]


async def test_an_agent_that_was_told_too_early_is_told_again(database: Database) -> None:
    agent = Deaf()
    async with gateway(database, agent) as g:
        run = await g.app.runner.start(RunRequest("scripted", thread_id="t"))
        await g.app.idle()
        await g.app.receiver.webhook("memory", g.memory.typed("1001", "tea"))
        await g.app.runner.cancel(run.id)
        assert (agent.told, agent.threads) == (1, ("t",))
        agent.may.set()
        await g.app.idle()
        assert (agent.told, agent.threads) == (2, ())
        assert await statuses(g) == ["completed"]
        assert (await g.run(thread_id="t")).status is RunStatus.WAITING


async def test_no_run_begins_on_a_thread_until_its_agent_was_told_that_the_one_before_is_stopped(
    database: Database,
) -> None:
    agent = Reached()
    async with gateway(database, agent) as g:
        first = await g.run(thread_id="t")
        agent.hears.clear()
        await g.app.asker.cancel(first.interactions[0])
        with pytest.raises(Conflict, match="working right now"):
            await g.app.runner.start(RunRequest("scripted", thread_id="t", replace=True))
        agent.hears.set()
        await g.app.idle()
        second = await g.run(thread_id="t")
        await g.types("1001", "tea")
        assert (await g.settled(second.id)).status is RunStatus.WAITING
        assert agent.cancelled == ["t"]


@pytest.mark.needs_extra("postgres")
async def test_of_two_who_cancel_a_run_at_once_the_second_is_told(two: Opened) -> None:
    async with two(ScriptedAgent(asks("Which?"))) as both:
        run = await both.one.run()
        cancels = both.one.app.runner.cancel(run.id), both.two.app.runner.cancel(run.id)
        first, second = await at_once(both, "run", run.id, *cancels)
        assert isinstance(first, Run) and first.status is RunStatus.CANCELLED
        assert isinstance(second, Conflict) and "cancelled already" in str(second)


@pytest.mark.needs_extra("postgres")
async def test_who_stops_what_ends_at_that_moment_is_not_told_that_they_stopped_it(two: Opened) -> None:
    agent = Deaf()
    async with two(agent) as both:
        run = await both.one.run()
        await both.one.app.receiver.webhook("memory", both.one.memory.typed("1001", "tea"))
        store = both.one.app.context.store
        ends = store.write(lambda tx: runs.finish(tx, run.id, RunStatus.COMPLETED))
        stop = both.two.app.receiver.webhook("memory", both.one.memory.typed("1001", "stop"))
        await both.begun_at_once(run.id, ends, stop, "run")
        agent.may.set()
        await both.one.app.idle()
        await both.two.app.idle()
        assert both.one.memory.titles("1001")[-1] == "Nothing is waiting for you."
        assert InteractionStatus.PENDING not in await statuses(both.one)
