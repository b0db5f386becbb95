"""How often a saver is asked: a look at a new thread is spared, and our own file is read directly."""

import asyncio
import threading
from typing import Any

import pytest
from langchain_core.runnables import RunnableConfig
from langgraph.checkpoint.base import CheckpointTuple
from langgraph.checkpoint.memory import InMemorySaver

from answerback.agent import Failed, Finished
from answerback.errors import AgentUnavailable
from answerback_agents.langgraph import savers
from answerback_agents.langgraph.grouped import Grouped
from tests.flow.langgraph.graphs import two_questions
from tests.flow.langgraph.harness import Harness, only, said, target


class Counting(InMemorySaver):
    """Notes what is asked for."""

    def __init__(self) -> None:
        super().__init__()
        self.asked: list[dict[str, Any]] = []

    async def aget_tuple(self, config: RunnableConfig) -> CheckpointTuple | None:
        self.asked.append(config["configurable"])
        return await super().aget_tuple(config)


def at(**wanted: str) -> RunnableConfig:
    return {"configurable": {"thread_id": "t", "checkpoint_ns": "", **wanted}}


class TestNewThread:
    async def test_the_first_look_is_spared_and_no_other(self) -> None:
        saver = Counting()
        once = savers.for_one_run(saver, savers.nothing, [])
        assert await once.aget_tuple(at()) is None and saver.asked == []
        await once.aget_tuple(at())
        assert saver.asked == [at()["configurable"]]

    @pytest.mark.parametrize("wanted", [{"checkpoint_id": "1"}, {"checkpoint_ns": "inner:1"}])
    async def test_whatever_else_is_asked_for_goes_to_the_saver(self, wanted: dict[str, str]) -> None:
        saver = Counting()
        once = savers.for_one_run(saver, savers.nothing, [])
        await once.aget_tuple(at(**wanted))
        assert saver.asked == [at(**wanted)["configurable"]]
        assert await once.aget_tuple(at()) is None and len(saver.asked) == 1

    async def test_a_run_pauses_as_ever_and_the_saver_stays_as_it_was(self) -> None:
        saver = Counting()
        graph = two_questions.compile(checkpointer=savers.for_one_run(saver, savers.nothing, []))
        paused = await graph.ainvoke({}, at())
        assert paused["__interrupt__"] and saver.asked == []
        again = await two_questions.compile(checkpointer=saver).aget_state(at())
        assert again.interrupts == tuple(paused["__interrupt__"])


@pytest.mark.parametrize("graph", ["two_questions", "factory", "async_factory"])
async def test_a_graph_that_keeps_its_threads_in_our_file_has_them_read_directly(
    light: Harness, graph: str
) -> None:
    """Not through the thread of the saver that writes. A builder is compiled with a copy of our saver."""
    mine = await light.open(graph)
    assert mine._reader.look != mine._reader.saver.aget_tuple
    question = only(await mine.start("t", light.input()))
    assert await mine.pending("t") == (question,)


async def test_what_a_thread_waits_for_is_read_while_the_saver_is_busy(harness: Harness) -> None:
    """It does one thing at a time, for all threads together."""
    mine = await harness.open("two_questions")
    question = only(await mine.start("t", harness.input()))
    saver, free = mine._reader.saver, threading.Event()
    assert isinstance(saver, Grouped)
    busy = asyncio.create_task(saver.committer.do(free.wait))
    try:
        assert await asyncio.wait_for(mine.pending("t"), 10) == (question,)
    finally:
        free.set()
        await busy


async def test_a_graph_with_a_saver_of_its_own_is_read_through_that(light: Harness) -> None:
    mine = await light.open("own_sync_saver")
    assert mine._reader.look == mine._reader.saver.aget_tuple
    question = only(await mine.start("t", light.input()))
    assert isinstance(await mine.resume("t", target(question), said("coding")), Finished)


async def test_law_3_a_saver_that_is_away_for_a_moment_is_asked_again_later_whatever_it_was_asked(
    light: Harness,
) -> None:
    mine = await light.open("listed_badly")
    first = only(await mine.start("t", light.input()))
    second = await mine.resume("t", target(first), said("coding"))
    with pytest.raises(AgentUnavailable):
        await mine.resume("t", target(first), said("coding"), again=True)
    assert await mine.resume("t", target(first), said("coding"), again=True) == second


async def test_law_3_a_run_whose_question_its_saver_did_not_keep_has_failed_and_not_ended(
    light: Harness,
) -> None:
    mine = await light.open("kept_badly")
    failed = await mine.start("t", light.input())
    assert isinstance(failed, Failed) and "its checkpoints do not have" in failed.error
