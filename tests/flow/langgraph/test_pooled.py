"""Behind a pool that gives each client a session of PostgreSQL, an agent keeps its threads as without one."""

import contextlib
from pathlib import Path

import pytest

from answerback.agent import Finished
from tests.flow.langgraph.harness import Harness, only, said, target
from tests.support.pooler import pooled

pytestmark = pytest.mark.needs_extra("postgres")


async def test_an_agent_keeps_its_threads_behind_a_pool_of_sessions(
    postgres_url: str, tmp_path: Path
) -> None:
    with pooled(postgres_url, "session") as url:
        async with contextlib.AsyncExitStack() as stack:
            harness = Harness(url, tmp_path, stack)
            agent = await harness.open("two_steps")
            first = only(await agent.start("t", harness.input()))
            second = only(await agent.resume("t", target(first), said("one")))
            done = await agent.resume("t", target(second), said("two"))
            assert isinstance(done, Finished) and done.result["heard"] == ["one", "two"]
