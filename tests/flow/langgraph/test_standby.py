"""A PostgreSQL server that becomes a standby takes connections, and lets nobody write: that is waited for."""

import asyncio
import contextlib
from collections.abc import AsyncIterator, Callable
from contextlib import AbstractAsyncContextManager
from pathlib import Path

import psycopg
import pytest

from answerback.agent import Finished
from answerback.errors import AgentUnavailable
from tests.flow.langgraph.harness import Harness, only, said, target, until
from tests.support.replicated import Replicated
from tests.support.standby import Standby as Pair
from tests.support.standby import standing_by

Standby = Callable[[], AbstractAsyncContextManager[None]]
ENDED = (
    "SELECT pg_terminate_backend(pid, 10000) FROM pg_stat_activity "
    "WHERE datname = current_database() AND pid <> pg_backend_pid()"
)


@pytest.fixture
def standby(postgres_url: str) -> Standby:
    """Whoever connects meanwhile may only read; who did stays where they are, as after a failover."""

    @contextlib.asynccontextmanager
    async def standby() -> AsyncIterator[None]:
        async with await psycopg.AsyncConnection.connect(postgres_url, autocommit=True) as admin:
            name = psycopg.sql.Identifier(admin.info.dbname)
            change = psycopg.sql.SQL("ALTER DATABASE {} SET default_transaction_read_only = {}")
            await admin.execute(change.format(name, "on"))
            await admin.execute(ENDED)
            try:
                yield
            finally:
                await admin.execute(change.format(name, "off"))

    return standby


@pytest.fixture
async def harness(postgres_url: str, tmp_path: Path) -> AsyncIterator[Harness]:
    async with contextlib.AsyncExitStack() as stack:
        yield Harness(postgres_url, tmp_path, stack)


async def test_law_3_what_cannot_be_written_is_no_failure_of_the_graph_and_goes_on_later(
    harness: Harness, standby: Standby
) -> None:
    agent = await harness.open("builder")
    async with standby():
        with pytest.raises(AgentUnavailable):
            await agent.start("t", harness.input(), "run")
    asked = only(await agent.start("t", harness.input(), "run"))
    async with standby():
        with pytest.raises(AgentUnavailable):
            await agent.resume("t", target(asked), said("yes"))
    assert isinstance(await agent.resume("t", target(asked), said("yes"), again=True), Finished)


async def loses_an_answer(harness: Harness, standby: Replicated | Pair) -> None:
    """A step is at work on what a standby that takes over knows nothing of; then it is done once more."""
    log, agent = harness.data_dir / "log", await harness.open("held_between")
    asked = only(await agent.start("t", harness.input()))
    standby.falls_behind()
    resumed = asyncio.create_task(agent.resume("t", target(asked), said("first")))
    await until(lambda: log.exists() and "held" in log.read_text().split())
    standby.takes_over()  # it knows of no answer
    with log.open("a") as file:
        file.write("go\n")
    with pytest.raises(AgentUnavailable):
        await resumed
    assert only(await agent.stands("t")) == asked
    second = only(await agent.resume("t", target(asked), said("first"), again=True))
    done = await agent.resume("t", target(second), said("second"))
    assert isinstance(done, Finished) and done.result["heard"] == ["first", "second"]


async def test_law_1_what_a_standby_lacks_is_not_built_upon(harness: Harness, replicated: Replicated) -> None:
    await loses_an_answer(harness, replicated)


async def test_law_1_nor_is_it_with_a_real_one(tmp_path: Path) -> None:
    with standing_by() as pair:
        async with contextlib.AsyncExitStack() as stack:
            await loses_an_answer(Harness(pair.url, tmp_path, stack), pair)


async def test_an_agent_that_is_opened_meanwhile_is_opened_later(harness: Harness, standby: Standby) -> None:
    async with standby():
        with pytest.raises(AgentUnavailable, match="PostgreSQL lets nobody write"):
            await harness.open("builder")
    await harness.open("builder")
