"""A machine whose clock is behind: LangGraph takes the checkpoint with the greatest id for the last one."""

import contextlib
import sqlite3
from collections.abc import Iterator
from typing import Any

import pytest
from langgraph.checkpoint.base import id as ids

from answerback.agent import Finished
from answerback.errors import AgentUnavailable
from tests.flow.langgraph.harness import Harness, only, said, target, texts

HOUR = 3600 * 10_000_000  # in the units of a UUID's time


class Machine:
    """What LangGraph knows of the time in one process."""

    def __init__(self) -> None:
        self._now = ids.uuid6().time
        self._counter: Any = ids

    def ahead(self) -> None:
        """From now on this is a process whose clock is an hour ahead."""
        self._counter._last_v6_timestamp = self._now + HOUR

    def anew(self) -> None:
        """From now on it is another one, and its clock is right."""
        self._counter._last_v6_timestamp = None


@pytest.fixture
def machine() -> Iterator[Machine]:
    before = ids._last_v6_timestamp
    yield Machine()
    ids._last_v6_timestamp = before


@pytest.mark.parametrize("graph", ["two_steps", "two_questions", "steps_inside", "steps_called"])
async def test_law_3_an_answer_counts_though_the_clock_was_put_back_since_its_question(
    harness: Harness, machine: Machine, graph: str
) -> None:
    machine.ahead()
    agent = await harness.open(graph)
    first = only(await agent.start("t", harness.input()))
    machine.anew()
    second = only(await agent.resume("t", target(first), said("one")))
    assert second.questions != first.questions
    machine.anew()
    done = await agent.resume("t", target(second), said("two"))
    assert isinstance(done, Finished) and done.result["heard"] == ["one", "two"]
    machine.anew()
    assert texts(await agent.start("t", harness.input())) == [first.questions[0].text]


async def test_a_question_is_asked_again_though_the_clock_was_put_back(
    harness: Harness, machine: Machine
) -> None:
    machine.ahead()
    agent = await harness.open("two_steps")
    first = only(await agent.start("t", harness.input()))
    second = only(await agent.resume("t", target(first), said("wrong")))
    assert second.questions != first.questions
    machine.anew()
    again = only(await agent.reask("t"))
    assert again.questions == first.questions
    machine.anew()
    assert only(await agent.resume("t", target(again), said("right"))).questions == second.questions


async def test_law_10_a_thread_is_cancelled_though_the_clock_was_put_back(
    harness: Harness, machine: Machine
) -> None:
    machine.ahead()
    agent = await harness.open("two_steps")
    await agent.start("t", harness.input())
    machine.anew()
    await agent.cancel("t")
    assert await agent.pending("t") == ()


async def test_law_3_a_checkpoint_that_nobody_would_see_is_not_written_and_no_run_ends_by_it(
    harness: Harness, machine: Machine
) -> None:
    machine.ahead()
    agent = await harness.open("forgetful")
    first = only(await agent.start("t", harness.input()))
    with pytest.raises(AgentUnavailable, match="clock is behind"):
        await agent.resume("t", target(first), said("one"))
    second = only(await agent.resume("t", target(first), said("one"), again=True))
    done = await agent.resume("t", target(second), said("two"))
    assert isinstance(done, Finished) and done.result["heard"] == ["one", "two"]


async def test_law_10_a_damaged_thread_that_says_it_is_from_the_end_of_time_harms_no_other(
    light: Harness, machine: Machine
) -> None:
    agent = await light.open("two_steps")
    await agent.start("damaged", light.input())
    last = "ffffffff-ffff-6fff-bfff-ffffffffffff"
    path = light.data_dir / "var" / "checkpoints-mine.db"
    with contextlib.closing(sqlite3.connect(path)) as file, file:
        file.execute(
            "UPDATE checkpoints SET checkpoint_id = ? WHERE parent_checkpoint_id IS NOT NULL", (last,)
        )
        file.execute("UPDATE writes SET checkpoint_id = ?", (last,))
    first = only(await agent.start("t", light.input()))
    await agent.pending("damaged")
    second = only(await agent.resume("t", target(first), said("one")))
    done = await agent.resume("t", target(second), said("two"))
    assert isinstance(done, Finished) and done.result["heard"] == ["one", "two"]
