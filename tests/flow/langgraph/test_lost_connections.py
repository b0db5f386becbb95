"""A run whose connections to PostgreSQL end goes on if its thread is still its own; if not, it stops."""

import asyncio
import contextlib
from collections.abc import AsyncIterator, Callable
from pathlib import Path

import pytest

from answerback.agent import Finished, Pending, State
from answerback.errors import AgentUnavailable
from answerback_agents.langgraph import LangGraph
from answerback_agents.langgraph.locks import PostgresGuard, ThreadLocks
from tests.flow.langgraph.harness import Harness, end_connections, only, said, target, until

pytestmark = pytest.mark.needs_extra("postgres")
Log = Callable[[], list[str]]


@pytest.fixture
async def harness(postgres_url: str, tmp_path: Path) -> AsyncIterator[Harness]:
    async with contextlib.AsyncExitStack() as stack:
        yield Harness(postgres_url, tmp_path, stack)


@pytest.fixture
async def another(postgres_url: str) -> AsyncIterator[PostgresGuard]:
    """Takes locks as another worker does."""
    guard = PostgresGuard(postgres_url)
    yield guard
    await guard.close()


async def at_work(harness: Harness, agent: LangGraph, log: Log) -> tuple[Pending, asyncio.Task[State]]:
    """What was asked, and a run that was in the middle of the step after it when all connections ended."""
    asked = only(await agent.start("t", harness.input()))
    resumed = asyncio.create_task(agent.resume("t", target(asked), said("first")))
    await until(lambda: "held" in log())
    await end_connections(harness.url)
    return asked, resumed


def end_step(harness: Harness) -> None:
    with (harness.data_dir / "log").open("a") as file:
        file.write("go\n")


async def test_it_goes_on_where_nobody_else_has_come(harness: Harness, log: Log) -> None:
    agent = await harness.open("held_between")
    _, resumed = await at_work(harness, agent, log)
    end_step(harness)
    second = only(await resumed)
    done = await agent.resume("t", target(second), said("second"))
    assert isinstance(done, Finished) and done.result["heard"] == ["first", "second"]
    assert log().count("held") == 1


async def test_law_1_it_writes_nothing_while_somebody_else_has_its_thread(
    harness: Harness, log: Log, another: PostgresGuard
) -> None:
    agent = await harness.open("held_between")
    asked, resumed = await at_work(harness, agent, log)
    assert await another.take(ThreadLocks("mine", another).number("t"))
    end_step(harness)
    with pytest.raises(AgentUnavailable):
        await resumed
    await another.close()
    second = only(await agent.resume("t", target(asked), said("first"), again=True))
    done = await agent.resume("t", target(second), said("second"))
    assert isinstance(done, Finished) and done.result["heard"] == ["first", "second"]


async def test_law_10_it_writes_nothing_where_somebody_else_has_gone_on(harness: Harness, log: Log) -> None:
    agent = await harness.open("held_between")
    _, resumed = await at_work(harness, agent, log)
    other = await harness.open("held_between")
    await other.cancel("t")
    end_step(harness)
    with pytest.raises(AgentUnavailable):
        await resumed
    assert await agent.pending("t") == ()
