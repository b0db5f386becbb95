"""A process that dies between a step's output and the checkpoint after it: the thread goes on from there."""

import asyncio
import contextlib
from collections.abc import AsyncIterator, Coroutine
from pathlib import Path
from textwrap import dedent
from typing import Any

import pytest

from answerback.agent import Agent, AgentContext, Finished, Paused, Pending, State, Target
from answerback.model import Answer

pytestmark = pytest.mark.needs_extra("langgraph")
GRAPH = """
    import asyncio
    import contextlib
    from pathlib import Path
    from typing import TypedDict
    from langgraph.checkpoint.sqlite.aio import AsyncSqliteSaver
    from langgraph.graph import END, START, StateGraph
    from langgraph.types import interrupt

    FOLDER = Path(__file__).parent

    class Dying(AsyncSqliteSaver):
        async def aput(self, *checkpoint):
            passes = FOLDER / "passes"
            if passes.exists() and passes.read_text():
                passes.write_text(passes.read_text()[1:])
            elif (FOLDER / "dies").exists():
                (FOLDER / "dead").touch()
                await asyncio.Event().wait()
            return await super().aput(*checkpoint)

    class State(TypedDict, total=False):
        heard: list[str]
        kept: list[str]

    def ask(state: State) -> State:
        return {"heard": [interrupt(text) for text in QUESTIONS]}

    def keep(state: State) -> State:
        return {"kept": state["heard"]}

    @contextlib.asynccontextmanager
    async def graph():
        builder = StateGraph(State)
        builder.add_node("ask", ask)
        builder.add_node("keep", keep)
        builder.add_edge(START, "ask")
        builder.add_edge("ask", "keep")
        builder.add_edge("keep", END)
        async with Dying.from_conn_string(str(FOLDER / "own.db")) as saver:
            yield builder.compile(checkpointer=saver)
"""


def agent_in(folder: Path) -> Agent:
    from answerback_agents.langgraph import LangGraph

    settings = LangGraph.Settings(graph="graph.py:graph")
    return LangGraph("graph", settings, AgentContext(str(folder), "sqlite", str(folder)))


async def give(agent: Agent, pending: Pending, text: str, again: bool = False) -> State:
    target = Target(pending.interrupt_id, pending.digest, pending.checkpoint)
    answer = Answer(values={pending.questions[0].id: text}, text=text)
    return await agent.resume("thread", target, answer, again=again)


async def dies(agent: Agent, folder: Path, work: Coroutine[Any, Any, State]) -> None:
    """The work goes on until the next checkpoint would be put, and no further."""
    (folder / "dies").touch()
    dying = asyncio.create_task(work)
    while not (folder / "dead").exists():  # noqa: ASYNC110 - the graph has nothing else to tell it with
        await asyncio.sleep(0)
    dying.cancel()
    await asyncio.gather(dying, return_exceptions=True)
    await agent.close()
    (folder / "dies").unlink()


@contextlib.asynccontextmanager
async def opened(folder: Path, texts: list[str]) -> AsyncIterator[Agent]:
    (folder / "graph.py").write_text(dedent(GRAPH).replace("QUESTIONS", repr(texts)))
    agent = agent_in(folder)
    await agent.open()
    try:
        yield agent
    finally:
        await agent.close()


@pytest.mark.parametrize("count", [1, 2, 3])
async def test_the_last_answer_of_a_step_that_ended_as_the_process_died_is_not_lost(
    tmp_path: Path, count: int
) -> None:
    texts = [f"question {number}" for number in range(count)]
    answers = [f"answer to {text}" for text in texts]
    async with opened(tmp_path, texts) as first:
        state = await first.start("thread", {})
        for answer in answers[:-1]:
            assert isinstance(state, Paused)
            state = await give(first, state.pending[0], answer)
        assert isinstance(state, Paused)
        [last] = state.pending
        await dies(first, tmp_path, give(first, last, answers[-1]))
    async with opened(tmp_path, texts) as second:
        state = await give(second, last, answers[-1], again=True)
    assert state == Finished({"heard": answers, "kept": answers})


@pytest.mark.parametrize("checkpoint", [1, 2])
async def test_a_run_whose_process_died_as_it_was_started_asks_its_question_all_the_same(
    tmp_path: Path, checkpoint: int
) -> None:
    (tmp_path / "passes").write_text("x" * (checkpoint - 1))
    async with opened(tmp_path, ["which?"]) as first:
        await dies(first, tmp_path, first.start("thread", {"heard": []}, "run"))
    async with opened(tmp_path, ["which?"]) as second:
        state = await second.start("thread", {"heard": []}, "run")
    assert isinstance(state, Paused)
    assert [item.questions[0].text for item in state.pending] == ["which?"]
