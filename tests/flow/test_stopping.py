"""The gateway stops: what is on its way to somebody, or at work in an agent, ends and is not done twice."""

import asyncio
import contextlib
from collections.abc import AsyncIterator, Mapping
from typing import Any

import pytest

from answerback.ask import AskRequest
from answerback.gates import Gates
from answerback.model import RunStatus
from answerback.run import RunRequest
from answerback.store import Row, Tx, deliveries, interactions, leases, runs
from answerback.testing import MemoryProvider, ScriptedAgent, asks
from answerback.turns import Turns
from tests.flow.test_turns import Hanging, answered, until_called, waiting
from tests.support.databases import Database
from tests.support.gateway import Gateway, gateway

LONGEST = 30.0  # seconds to give up after; nothing takes that long
AN_HOUR = 3600.0


async def until_held_up(phone: MemoryProvider, number: int) -> None:
    async with asyncio.timeout(LONGEST):
        while phone.held_up < number:  # noqa: ASYNC110 - tasks of the gateway send
            await asyncio.sleep(0)


@contextlib.asynccontextmanager
async def stopping(g: Gateway, within: float = AN_HOUR) -> AsyncIterator[None]:
    """The gateway has begun to stop, and has stopped when the block is left."""
    stops = asyncio.create_task(g.app.stop(within))
    async with asyncio.timeout(LONGEST):
        while not g.app.deliverer.leaving:  # noqa: ASYNC110 - in the task above
            await asyncio.sleep(0)
        yield
        await stops


async def test_law_12_a_message_that_is_being_sent_is_not_sent_again_by_the_next_gateway(
    database: Database,
) -> None:
    phone = MemoryProvider()
    phone.hang = asyncio.Event()
    async with gateway(database, ScriptedAgent(asks("Which?")), providers={"memory": phone}) as g:
        run = await g.app.runner.start(RunRequest("scripted"))
        await until_held_up(phone, 1)
        async with stopping(g):
            phone.hang.set()
    async with gateway(database, ScriptedAgent(), providers={"memory": phone}) as g:
        await g.later(3600)
        assert phone.titles("1001") == ["Which?"]
        (question,) = (await g.app.runner.get(run.id)).interactions
        (row,) = await g.app.context.store.read(lambda tx: tx.all(deliveries.OF, interaction_id=question))
        assert (row["status"], row["attempts"]) == ("sent", 1)


@pytest.mark.parametrize("starts", [True, False], ids=["answer", "start"])
async def test_law_12_what_an_agent_works_on_ends_and_is_not_begun_again(
    database: Database, starts: bool
) -> None:
    agent = Hanging(starts=starts)
    async with gateway(database, agent) as g:
        if starts:
            (question,) = await waiting(g, 1)
            await answered(g, question)
        else:
            await g.app.runner.start(RunRequest("hanging"))
        await until_called(agent, 1)
        async with stopping(g):
            agent.goes_on.set()
    async with gateway(database, agent) as g:
        await g.later(3600)
        (run,) = (await g.app.runner.list()).items
        assert run.status is (RunStatus.COMPLETED if starts else RunStatus.WAITING)
        assert agent.called == 1


async def test_whoever_is_in_a_hurry_does_not_wait_for_it(database: Database) -> None:
    agent = Hanging(starts=True)
    async with gateway(database, agent) as g:
        (question,) = await waiting(g, 1)
        await answered(g, question)
        await until_called(agent, 1)
        async with stopping(g):
            g.app.hurry()
    assert agent.journal == []


async def test_what_has_not_begun_is_whoever_comes_nexts_at_once_and_that_was_no_attempt(
    database: Database,
) -> None:
    """Messages, answers and runs that wait for their turns behind what hangs."""
    phone, agent, starter = MemoryProvider(), Hanging(starts=True), Hanging(starts=False)
    starter.name = "starter"

    def narrow(at_once: Mapping[str, int]) -> Gates:
        return Gates({**at_once, "memory": 1})

    with_room: dict[str, Any] = {"gates": narrow, "turns": lambda: Turns(1)}
    async with gateway(database, agent, starter, providers={"memory": phone}, **with_room) as g:
        first, second = await waiting(g, 2)
        phone.hang = asyncio.Event()
        asked = [await g.app.asker.ask(AskRequest((asks("And this?"),))) for _ in range(2)]
        await answered(g, first)
        await until_called(agent, 1)
        await answered(g, second)
        await g.app.runner.start(RunRequest("starter"))
        await until_called(starter, 1)
        run = await g.app.runner.start(RunRequest("starter"))
        await until_held_up(phone, 1)
        async with stopping(g, within=0):
            pass
        assert (agent.called, starter.called, phone.held_up) == (1, 1, 1)
    async with gateway(database, agent, providers={"memory": MemoryProvider()}) as g:
        now = g.clock()

        def tx_(tx: Tx) -> tuple[list[Row], bool]:
            answer, start = tx.one(interactions.GET, id=second), tx.one(runs.GET, id=run.id)
            waits = tx.all(deliveries.OF, interaction_id=asked[1].interaction.id)
            assert answer is not None and start is not None
            rows = [
                {"attempts": answer["resume_attempts"], "next_attempt_at": answer["resume_next_at"]},
                *(start, *(row for row in waits if row["status"] == "queued")),
            ]
            held = any(leases.is_held(tx, row["agent"], row["thread_id"]) for row in (answer, start))
            return rows, held

        rows, held = await g.app.context.store.read(tx_)
        assert [(row["attempts"], row["next_attempt_at"]) for row in rows] == [(0, now)] * 3
        assert not held
