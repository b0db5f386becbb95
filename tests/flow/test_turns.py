"""Law 10 in the gateway itself: what waits for an agent that is at its limit keeps no other agent waiting."""

import asyncio

import pytest

from answerback.agent import State, Target
from answerback.model import Answer, Json, RunStatus
from answerback.run import Run, RunRequest
from answerback.store import Row, Tx, interactions, leases, runs
from answerback.store.query import Query
from answerback.testing import ScriptedAgent, asks
from answerback.turns import AT_ONCE, Turns
from tests.support.databases import Database
from tests.support.gateway import Gateway, gateway

pytestmark = pytest.mark.either_database

LONGEST = 30.0  # seconds to give up after; nothing takes that long


class Hanging(ScriptedAgent):
    """Neither begins a run nor takes an answer until it is let go on."""

    def __init__(self, *, starts: bool) -> None:
        super().__init__(asks("Hangs?"), name="hanging")
        self.goes_on = asyncio.Event()
        self.called = 0
        self._starts = starts

    async def start(self, thread: str, input: Json, run: str = "") -> State:
        if not self._starts:
            self.called += 1
            await self.goes_on.wait()
        return await super().start(thread, input, run)

    async def resume(self, thread: str, target: Target, answer: Answer, *, again: bool = False) -> State:
        self.called += 1
        await self.goes_on.wait()
        return await super().resume(thread, target, answer, again=again)


async def until_called(agent: Hanging, number: int) -> None:
    async with asyncio.timeout(LONGEST):
        while agent.called < number:  # noqa: ASYNC110 - tasks of the gateway call it
            await asyncio.sleep(0)


async def waiting(g: Gateway, number: int) -> list[str]:
    """So many runs of the agent that hangs, each of which waits for an answer; the ids of their questions."""
    found = [await g.run("hanging") for _ in range(number)]
    return [run.interactions[0] for run in found]


async def answered(g: Gateway, id: str) -> None:
    await g.app.receiver.respond(id, "yes", by="ops", via="api")


async def stands(g: Gateway, run: str, status: RunStatus) -> Run:
    """The run, as soon as it has this status, whatever else is under way."""
    async with asyncio.timeout(LONGEST):
        while (found := await g.app.runner.get(run)).status is not status:  # noqa: ASYNC110 - as above
            await asyncio.sleep(0.01)
    return found


@pytest.mark.parametrize("starts", [True, False], ids=["answers", "starts"])
async def test_law_10_an_agent_that_hangs_keeps_no_other_agent_waiting(
    database: Database, starts: bool
) -> None:
    hanging, other = Hanging(starts=starts), ScriptedAgent(asks("Other?"), name="other")
    async with gateway(database, hanging, other) as g:
        if starts:
            for id in await waiting(g, AT_ONCE + 3):
                await answered(g, id)
        else:
            for _ in range(AT_ONCE + 3):
                await g.app.runner.start(RunRequest("hanging"))
        await until_called(hanging, AT_ONCE)
        run = await g.app.runner.start(RunRequest("other"))
        await answered(g, (await stands(g, run.id, RunStatus.WAITING)).interactions[0])
        await stands(g, run.id, RunStatus.COMPLETED)
        assert hanging.called == AT_ONCE
        hanging.goes_on.set()
        await g.app.idle()
        assert hanging.called == AT_ONCE + 3


async def given_back(g: Gateway, query: Query, id: str) -> Row:
    """The row of what had no turn, once it is nobody's again."""

    def tx_(tx: Tx) -> Row | None:
        row = tx.one(query, id=id)
        assert row is not None
        return None if leases.is_held(tx, row["agent"], row["thread_id"]) else row

    async with asyncio.timeout(LONGEST):
        while (row := await g.app.context.store.snapshot(tx_)) is None:  # noqa: ASYNC110 - as above
            await asyncio.sleep(0.01)
    return row


async def test_law_10_an_answer_that_had_no_turn_is_anybodys_and_that_was_no_attempt(
    database: Database,
) -> None:
    hanging = Hanging(starts=True)
    async with gateway(database, hanging, turns=lambda: Turns(1, 0.01)) as g:
        first, second = await waiting(g, 2)
        await answered(g, first)
        await until_called(hanging, 1)
        await answered(g, second)
        row = await given_back(g, interactions.GET, second)
        assert row["resume_attempts"] == 0
        assert g.clock() < row["resume_next_at"] <= g.clock() + leases.SPAN
        hanging.goes_on.set()
        await g.app.idle()
        await g.later(leases.SPAN / 1e6)
        assert [(await g.app.runner.get(run.id)).status for run in (await g.app.runner.list()).items] == [
            RunStatus.COMPLETED,
            RunStatus.COMPLETED,
        ]
        assert len(hanging.journal) == 2


async def test_law_10_a_run_that_had_no_turn_is_anybodys_and_that_was_no_attempt(database: Database) -> None:
    hanging = Hanging(starts=False)
    async with gateway(database, hanging, turns=lambda: Turns(1, 0.01)) as g:
        await g.app.runner.start(RunRequest("hanging"))
        await until_called(hanging, 1)
        second = await g.app.runner.start(RunRequest("hanging"))
        row = await given_back(g, runs.GET, second.id)
        assert row["attempts"] == 0
        assert g.clock() < row["next_attempt_at"] <= g.clock() + leases.SPAN
        hanging.goes_on.set()
        await g.app.idle()
        await g.later(leases.SPAN / 1e6)
        assert (await g.app.runner.get(second.id)).status is RunStatus.WAITING


async def test_law_1_an_answer_is_not_given_when_its_run_was_cancelled_while_it_waited_for_its_turn(
    database: Database,
) -> None:
    hanging = Hanging(starts=True)
    async with gateway(database, hanging, turns=lambda: Turns(1)) as g:
        first, second = await waiting(g, 2)
        await answered(g, first)
        await until_called(hanging, 1)
        await answered(g, second)
        _, run = (await g.app.runner.list()).items
        assert (await g.app.runner.cancel(run.id)).status is RunStatus.CANCELLED
        hanging.goes_on.set()
        await g.app.idle()
        assert hanging.called == 1
        row = await given_back(g, interactions.GET, second)
        assert (row["resumed_at"], row["resume_next_at"]) == (None, None)
        assert row["resume_error"] == "Its run was cancelled."


async def test_a_run_does_not_begin_when_it_was_cancelled_while_it_waited_for_its_turn(
    database: Database,
) -> None:
    hanging = Hanging(starts=False)
    async with gateway(database, hanging, turns=lambda: Turns(1)) as g:
        await g.app.runner.start(RunRequest("hanging"))
        await until_called(hanging, 1)
        second = await g.app.runner.start(RunRequest("hanging"))
        await g.app.runner.cancel(second.id)
        hanging.goes_on.set()
        await g.app.idle()
        assert hanging.called == 1
        assert (await g.app.runner.get(second.id)).status is RunStatus.CANCELLED
        await given_back(g, runs.GET, second.id)


async def test_what_another_process_took_meanwhile_is_left_to_it(database: Database) -> None:
    hanging = Hanging(starts=True)
    async with gateway(database, hanging, turns=lambda: Turns(1)) as g:
        first, second = await waiting(g, 2)
        await answered(g, first)
        await until_called(hanging, 1)
        await answered(g, second)
        thread = (await g.app.reader.interaction(second)).thread_id
        g.clock.advance(2 * leases.SPAN / 1e6)
        taken = await g.app.context.store.write(lambda tx: leases.take(tx, "hanging", thread, "another"))
        assert taken is not None
        hanging.goes_on.set()
        await g.app.idle()
        assert hanging.called == 1
