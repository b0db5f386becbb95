"""Any graph works unchanged: each kind asks, is answered, and ends."""

import contextlib
import logging
import re
import sqlite3
from pathlib import Path

import pytest

from answerback.agent import Failed, Finished
from tests.flow.langgraph.harness import Harness, only, said, target, texts, waiting

pytestmark = pytest.mark.either_database

GRAPHS = ["builder", "bare", "in_memory", "own_sync_saver"]
FACTORIES = ["factory", "async_factory", "config_factory"]
WITH_OWN_SAVER = """
from contextlib import asynccontextmanager
from pathlib import Path
from langgraph.checkpoint.sqlite.aio import AsyncSqliteSaver
from langgraph.graph import START, StateGraph
from langgraph.types import interrupt

@asynccontextmanager
async def make():
    async with AsyncSqliteSaver.from_conn_string(str(Path(__file__).with_name("own.db"))) as saver:
        builder = StateGraph(dict)
        builder.add_node("ask", lambda state: {"heard": interrupt("Which term?")})
        builder.add_edge(START, "ask")
        yield builder.compile(checkpointer=saver)
"""


@pytest.mark.parametrize("graph", GRAPHS + FACTORIES)
async def test_a_graph_with_one_question_asks_and_goes_on_with_the_answer(light: Harness, graph: str) -> None:
    mine = await light.open(graph)
    question = only(await mine.start("t", light.input()))
    assert question.questions[0].text == "Which term?"
    assert await mine.pending("t") == (question,)
    ended = await mine.resume("t", target(question), said("coding"))
    assert isinstance(ended, Finished)
    assert ended.result["report"] == "about coding"
    assert await mine.pending("t") == ()


@pytest.mark.parametrize("graph", ["bare", "in_memory"])
async def test_a_restart_forgets_nothing_though_the_graph_has_no_durable_saver(
    harness: Harness, graph: str
) -> None:
    before = await harness.open(graph)
    question = only(await before.start("t", harness.input()))
    await before.close()
    after = await harness.open(graph)
    assert await after.pending("t") == (question,)
    ended = await after.resume("t", target(question), said("coding"))
    assert isinstance(ended, Finished)


async def test_replacing_a_saver_in_memory_is_said_in_the_log(
    light: Harness, caplog: pytest.LogCaptureFixture
) -> None:
    with caplog.at_level(logging.WARNING):
        await light.open("in_memory")
    assert "mine: its graph's saver forgets" in caplog.text


async def test_a_graphs_own_saver_is_kept(light: Harness, tmp_path: Path) -> None:
    (tmp_path / "with_own_saver.py").write_text(WITH_OWN_SAVER)
    mine = await light.open(f"{tmp_path}/with_own_saver.py:make")
    await mine.start("t", {"topic": "x"})
    await mine.forget("t")  # what it keeps is for its owner to delete
    with contextlib.closing(sqlite3.connect(tmp_path / "own.db")) as own:
        assert own.execute("SELECT DISTINCT thread_id FROM checkpoints").fetchall() == [("t",)]


async def test_where_a_step_raised_is_said_in_the_log(
    light: Harness, caplog: pytest.LogCaptureFixture
) -> None:
    mine = await light.open("failing_once")
    question = only(await mine.start("t", light.input()))
    with caplog.at_level(logging.INFO):
        await mine.resume("t", target(question), said("x"))
    assert re.search(r"mine: a step raised ValueError \(.*graphs\.py:\d+\)", caplog.text)


async def test_what_no_checkpoint_can_keep_is_explained(light: Harness) -> None:
    failed = await (await light.open("locking")).start("t", light.input())
    assert isinstance(failed, Failed)
    assert failed.error.startswith(
        "TypeError: Type is not msgpack serializable: _thread.lock. What steps return"
    )


async def test_sync_steps_run_beside_the_loop(light: Harness) -> None:
    mine = await light.open("blocking")
    question = only(await mine.start("t", light.input()))
    ended = await mine.resume("t", target(question), said("x"))
    assert isinstance(ended, Finished)
    assert ended.result["report"] != "MainThread"


async def test_create_agent_works_unchanged(light: Harness) -> None:
    mine = await light.open("agent")
    question = only(await mine.start("t", {"messages": [{"role": "user", "content": "Find it."}]}))
    assert question.questions[0].text == "Which term?"
    ended = await mine.resume("t", target(question), said("coding"))
    assert isinstance(ended, Finished)
    assert ended.result["messages"][-1] == {"type": "ai", "content": "It is coding"}


async def test_the_functional_api_asks_from_the_entrypoint_and_from_tasks(harness: Harness) -> None:
    mine = await harness.open("functional")
    first = only(await mine.start("t", harness.input()))
    second = await mine.resume("t", target(first), said("coding"))
    assert texts(second) == ["Look up coding?"]
    ended = await mine.resume("t", target(only(second)), said("yes"))
    assert ended == Finished({"found": {"term": "coding", "sure": "yes"}})


async def test_send_fans_out_to_questions_that_are_answered_in_any_order(harness: Harness) -> None:
    mine = await harness.open("fanned")
    state = await mine.start("t", harness.input())
    asked = {pending.questions[0].text[-2]: pending for pending in waiting(state)}
    assert sorted(asked) == ["a", "b", "c"]
    for topic in "cab":
        state = await mine.resume("t", target(asked[topic]), said(topic.upper()))
    assert isinstance(state, Finished)
    assert "a={'content': 'A'}" in state.result["report"]
    assert "c={'content': 'C'}" in state.result["report"]


async def test_questions_of_a_subgraph_surface_and_are_answered_one_after_the_other(harness: Harness) -> None:
    mine = await harness.open("outer")
    first = only(await mine.start("t", harness.input()))
    second = await mine.resume("t", target(first), said("one"))
    assert texts(second) == ["second?"]
    ended = await mine.resume("t", target(only(second)), said("two"))
    assert isinstance(ended, Finished)
    assert ended.result["heard"][-2:] == ["one", "two"]


async def test_the_users_own_types_survive_in_the_state_and_as_payloads(harness: Harness) -> None:
    mine = await harness.open("typed")
    question = only(await mine.start("t", harness.input()))
    assert [choice.label for choice in question.questions[0].choices] == ["coding", "costing"]
    ended = await mine.resume("t", target(question), said("costing"))
    assert isinstance(ended, Finished)
    assert ended.result["report"] == "Term"
    assert ended.result["heard"] == [
        {"word": "coding", "count": 214},
        {"content": "costing", "choice": "costing"},
    ]


async def test_checkpoints_are_readable_by_their_owner_only(light: Harness) -> None:
    mine = await light.open("bare")
    await mine.start("t", light.input())
    files = list((light.data_dir / "var").glob("checkpoints-mine*"))
    assert len(files) >= 3
    assert {file.stat().st_mode & 0o777 for file in files} == {0o600}


async def test_two_agents_may_use_the_same_thread_id(harness: Harness) -> None:
    mine, yours = await harness.open("bare", "mine"), await harness.open("two_questions", "yours")
    await mine.start("t", harness.input())
    assert await yours.pending("t") == ()
    assert texts(await yours.start("t", harness.input())) == ["first?"]
