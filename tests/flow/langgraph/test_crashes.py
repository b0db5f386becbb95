"""kill -9 and what a restart makes of it: the consumed / locked / not consumed table, on real processes."""

import asyncio
import json
import os
import signal
from collections.abc import Callable
from pathlib import Path

import pytest

from answerback.agent import Failed, Finished, Pending
from answerback.errors import NotPending
from tests.flow.langgraph.harness import Harness, only, said, target, texts, until, waiting
from tests.support.programs import Program

Log = Callable[[], list[str]]
ROOT = Path(__file__).parents[3]
CHILD = "tests.flow.langgraph.child"
# What that, the graphs and the savers import.
IMPORTED = (CHILD, "tests.flow.langgraph.graphs", "tests.flow.langgraph.tooled", "psycopg_pool", "aiosqlite")


async def killed(harness: Harness, graph: str, topic: str, *answers: object) -> None:
    """Start the graph in a process, answer, and see it die by SIGKILL where `topic` says."""
    words = harness.url, str(harness.data_dir), graph, topic, json.dumps(answers)
    process = Program(CHILD, *words, env=os.environ, cwd=ROOT, also=IMPORTED)
    _, error = await asyncio.to_thread(process.communicate, timeout=60)
    assert process.returncode == -signal.SIGKILL, error


async def asked_then_killed(harness: Harness, graph: str, topic: str) -> Pending:
    """The question as it was asked before the process that answers it was killed."""
    before = await harness.open(graph)
    question = only(await before.start("t", harness.input(topic=topic)))
    await before.close()
    await killed(harness, graph, topic, "coding")
    return question


async def test_killed_in_the_step_the_question_still_waits_and_takes_the_answer_once(
    harness: Harness, log: Log
) -> None:
    question = await asked_then_killed(harness, "deadly_graph", "in-node")
    mine = await harness.open("deadly_graph")
    assert await mine.pending("t") == (question,)
    ended = await mine.resume("t", target(question), said("coding"), again=True)
    assert isinstance(ended, Finished)
    assert ended.result["heard"] == ["coding"]
    assert log() == ["in-node", "in-node", "in-next"]


@pytest.mark.parametrize("graph", ["deadly_graph", "deadly_inside"])
async def test_killed_in_the_next_step_the_answer_is_consumed_and_the_run_goes_on(
    harness: Harness, log: Log, graph: str
) -> None:
    question = await asked_then_killed(harness, graph, "in-next")
    mine = await harness.open(graph)
    assert await mine.pending("t") == ()
    with pytest.raises(NotPending):
        await mine.resume("t", target(question), said("coding"))
    with pytest.raises(NotPending):
        await mine.resume("t", target(question), said("costing"), again=True)
    ended = await mine.resume("t", target(question), said("coding"), again=True)
    assert isinstance(ended, Finished)
    assert ended.result["report"] == "about coding"
    assert log() == ["in-node", "in-next", "in-next"]


async def test_killed_in_a_step_that_was_allowed_it_runs_again_and_the_next_breakpoint_is_asked(
    harness: Harness, log: Log
) -> None:
    before = await harness.open("deadly_guarded")
    question = only(await before.start("t", harness.input(topic="in-next")))
    held = only(await before.resume("t", target(question), said("coding")))
    await before.close()
    await killed(harness, "deadly_guarded", "in-next", True)
    mine = await harness.open("deadly_guarded")
    assert await mine.pending("t") == (held,)
    state = await mine.resume("t", target(held), said(True), again=True)
    assert texts(state) == ["The next step is “danger”. Go on?"]
    assert log() == ["in-node", "in-next", "in-next"]
    with pytest.raises(NotPending):
        await mine.resume("t", target(held), said(True))
    assert only(await mine.resume("t", target(held), said(True), again=True)) == only(state)
    assert "danger" not in log()


async def test_killed_between_an_answer_and_a_breakpoint_the_held_step_is_asked_not_run(
    harness: Harness, log: Log
) -> None:
    # Without breakpoints the process dies just after the checkpoint at which, with them, it would pause.
    question = await asked_then_killed(harness, "deadly_graph", "in-next")
    mine = await harness.open("deadly_guarded")
    state = await mine.resume("t", target(question), said("coding"), again=True)
    assert texts(state) == ["The next step is “deadly_next”. Go on?"]
    assert log() == ["in-node", "in-next"]


async def test_a_start_that_was_killed_goes_on_instead_of_starting_over(harness: Harness, log: Log) -> None:
    await killed(harness, "failing_start", "in-next")
    mine = await harness.open("failing_start")
    ended = await mine.start("t", harness.input(topic="in-next"))
    assert isinstance(ended, Finished)
    assert log() == ["first", "in-next", "in-next"]


async def test_a_start_that_ended_but_was_not_recorded_gives_its_result_again_and_runs_nothing(
    harness: Harness, log: Log
) -> None:
    mine = await harness.open("silent")
    ended = await mine.start("t", harness.input(heard=["it"]), "run-1")
    assert isinstance(ended, Finished)
    assert await mine.start("t", harness.input(heard=["it"]), "run-1") == ended
    assert log() == ["report"]
    await mine.start("t", harness.input(heard=["it"]), "run-2")
    assert log() == ["report", "report"]


async def test_a_start_repeated_after_its_pause_was_not_recorded_gives_the_same_question(
    harness: Harness,
) -> None:
    mine = await harness.open("bare")
    state = await mine.start("t", harness.input())
    assert await mine.start("t", harness.input()) == state


async def test_a_crash_after_the_step_failed_uses_the_answer_that_is_locked_in(
    harness: Harness, log: Log
) -> None:
    before = await harness.open("failing_once")
    question = only(await before.start("t", harness.input()))
    assert isinstance(await before.resume("t", target(question), said("12")), Failed)
    await before.close()
    mine = await harness.open("failing_once")
    with pytest.raises(NotPending):
        await mine.resume("t", target(question), said("13"), again=True)
    ended = await mine.resume("t", target(question), said("12"), again=True)
    assert isinstance(ended, Finished)
    assert ended.result["heard"] == ["12"]


@pytest.mark.parametrize("graph", ["two_questions", "outer", "functional"])
async def test_consumed_by_the_same_step_that_now_asks_something_else(harness: Harness, graph: str) -> None:
    mine = await harness.open(graph)
    first = only(await mine.start("t", harness.input()))
    second = await mine.resume("t", target(first), said("coding"))
    assert await mine.resume("t", target(first), said("coding"), again=True) == second
    with pytest.raises(NotPending):
        await mine.resume("t", target(first), said("costing"), again=True)


@pytest.mark.parametrize("graph", ["bare", "two_questions", "outer", "functional", "agent"])
async def test_consumed_to_the_end_gives_the_result_again(harness: Harness, graph: str) -> None:
    mine = await harness.open(graph)
    state = await mine.start("t", {"messages": ["Find it."]} if graph == "agent" else harness.input())
    question = only(state)
    while not isinstance(state, Finished):
        question = only(state)
        state = await mine.resume("t", target(question), said("coding"))
    assert await mine.resume("t", target(question), said("coding"), again=True) == state


async def test_a_worker_that_is_stopped_leaves_the_answer_to_the_next_one(harness: Harness, log: Log) -> None:
    before = await harness.open("never_ending")
    question = only(await before.start("t", harness.input()))
    resuming = asyncio.create_task(before.resume("t", target(question), said("coding")))
    await until(lambda: "slow" in log())
    resuming.cancel()
    await asyncio.gather(resuming, return_exceptions=True)
    mine = await harness.open("never_ending")
    going_on = asyncio.create_task(mine.resume("t", target(question), said("coding"), again=True))
    await until(lambda: log().count("slow") == 2)
    await mine.cancel("t")
    assert await going_on == Failed("Cancelled.", retryable=False)
    assert log().count("asked") == 1


async def test_killed_in_a_tool_it_goes_on_with_its_answer_and_the_turns_other_calls_do_not_run_again(
    harness: Harness, log: Log
) -> None:
    mine = await harness.open("tooled.py:deadly")
    state = await mine.start("t", harness.input(messages=[], topic=""))
    pay, die = sorted(waiting(state), key=lambda pending: pending.questions[0].text, reverse=True)
    assert only(await mine.resume("t", target(pay), said("yes"))) == die
    await mine.close()
    await killed(harness, "tooled.py:deadly", "", "yes")
    mine = await harness.open("tooled.py:deadly")
    with pytest.raises(NotPending):
        await mine.resume("t", target(pay), said("no"))
    ended = await mine.resume("t", target(die), said("yes"), again=True)
    assert isinstance(ended, Finished)
    assert ended.result["messages"][-2]["content"] == "alive yes"
    assert sorted(log()) == ["5:yes", "die:yes", "die:yes", "mailed"]
