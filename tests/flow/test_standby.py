"""A real standby of PostgreSQL takes over without the last transactions, under a gateway that lives on."""

import asyncio
import contextlib
from collections.abc import Iterator
from pathlib import Path

import pytest

from answerback.agent import Finished
from answerback.errors import AgentUnavailable
from tests.flow.langgraph.harness import Harness, only, said, target, until
from tests.flow.test_restored import LOST, answer_of, ask
from tests.support.databases import Database
from tests.support.gateway import gateway
from tests.support.standby import Standby, running

pytestmark = pytest.mark.needs_extra("langgraph", "postgres")


@pytest.fixture
def pair() -> Iterator[Standby]:
    with running() as made:
        yield made


async def test_law_1_what_is_written_for_a_question_that_the_standby_lacks_answers_no_other(
    pair: Standby, tmp_path: Path
) -> None:
    async with gateway(Database(pair.url, tmp_path)) as g:
        kept = await ask(g, "Which folder?")
        pair.falls_behind()
        g.clock.advance(60)
        await ask(g, "Delete all of it?")
        g.clock.advance(60)
        pair.takes_over()
        await g.types("1001", "yes", sent_at=g.clock())
        assert await answer_of(g, kept) == ""
        await g.sweep()
        assert LOST in g.memory.shown[-1].message.body
        await g.types("1001", "only logs")
        assert await answer_of(g, kept) == "only logs"


async def test_law_1_a_step_is_not_built_upon_what_the_standby_lacks(pair: Standby, tmp_path: Path) -> None:
    async with contextlib.AsyncExitStack() as stack:
        harness = Harness(pair.url, tmp_path, stack)
        agent = await harness.open("held_between")
        asked = only(await agent.start("t", harness.input()))
        pair.falls_behind()
        resumed = asyncio.create_task(agent.resume("t", target(asked), said("first")))
        log = tmp_path / "log"
        await until(lambda: log.exists() and "held" in log.read_text())
        pair.takes_over()
        with log.open("a") as file:
            file.write("go\n")
        with pytest.raises(AgentUnavailable):
            await resumed
        second = only(await agent.resume("t", target(asked), said("first"), again=True))
        done = await agent.resume("t", target(second), said("second"))
        assert isinstance(done, Finished) and done.result["heard"] == ["first", "second"]
