"""What fails is tried again with what it was told, and goes on where it was."""

import asyncio
from collections.abc import Callable

import pytest

from answerback.agent import Failed, Finished, Paused, State
from answerback.errors import NotPending
from answerback_agents.langgraph import LangGraph
from tests.flow.langgraph.harness import Harness, only, said, target, texts, waiting

Log = Callable[[], list[str]]


async def answered(mine: LangGraph, state: State, answer: str = "yes") -> tuple[State, list[str]]:
    """Everything with this, until the graph ends or fails; and what was asked."""
    asked = []
    while isinstance(state, Paused):
        asked.append(state.pending[0].questions[0].text)
        state = await mine.resume("t", target(state.pending[0]), said(answer))
    return state, asked


async def test_what_fails_again_once_it_was_asked_anew_is_asked_anew_as_often_as_one_likes(
    harness: Harness,
) -> None:
    mine = await harness.open("again.py:picky")
    question = only(await mine.start("t", harness.input()))
    ids = {question.interrupt_id}
    for wrong in ("few", "some", "many"):
        assert isinstance(await mine.resume("t", target(question), said(wrong)), Failed)
        question = only(await mine.reask("t"))
        ids.add(question.interrupt_id)
    assert len(ids) == 4
    ended = await mine.resume("t", target(question), said("3"))
    assert isinstance(ended, Finished)
    assert ended.result["heard"] == [3]


async def test_law_1_what_a_graph_was_told_that_a_failed_step_had_called_waits_no_more(
    harness: Harness,
) -> None:
    """Its last answer stands nowhere: the graph's own step has ended with it."""
    mine = await harness.open("again.py:fails_after_a_call")
    first = only(await mine.start("t", harness.input()))
    second = only(await mine.resume("t", target(first), said("one")))
    failed = await mine.resume("t", target(second), said("two"))
    assert failed == Failed("ValueError: bank is not there now")
    assert await mine.pending("t") == ()
    with pytest.raises(NotPending, match="locked in"):
        await mine.resume("t", target(second), said("three"))
    ended = await mine.resume("t", target(second), said("two"), again=True)
    assert isinstance(ended, Finished)
    assert ended.result["heard"] == ["one", "two"]


async def test_law_12_tasks_that_have_ended_are_not_done_again_when_a_step_around_their_graph_tries_again(
    harness: Harness, log: Log
) -> None:
    mine = await harness.open("again.py:tasks_within")
    ended, asked = await answered(mine, await mine.start("t", harness.input()))
    assert isinstance(ended, Finished)
    assert sorted(asked) == ["milk?", "tea?"]
    assert sorted(log()) == ["fell:shop", "milk:yes", "tea:yes"]


async def test_a_step_that_was_cut_off_once_asks_all_the_same(harness: Harness, log: Log) -> None:
    """What it asks later, in a task too, is not taken for what failed then."""
    mine = await harness.open("again.py:cut_off")
    assert isinstance(await mine.start("t", harness.input()), Failed)
    state = await mine.retry("t")
    assert texts(state) == ["Shall I?"]
    ended, asked = await answered(mine, state)
    assert isinstance(ended, Finished)
    assert sorted(asked) == ["Shall I?", "milk?", "tea?"]


async def test_law_3_what_a_task_was_told_that_was_made_in_a_function_is_known_after_a_crash(
    harness: Harness,
) -> None:
    """Whoever gave it the answer died before noting that: it is given again."""
    mine = await harness.open("again.py:in_tasks")
    state = await mine.start("t", harness.input())
    while isinstance(state, Paused):
        asked = state.pending[0]
        after = await mine.resume("t", target(asked), said(asked.questions[0].text))
        await mine.close()
        mine = await harness.open("again.py:in_tasks")
        state = await mine.resume("t", target(asked), said(asked.questions[0].text), again=True)
        assert state == after
    assert isinstance(state, Finished)


async def test_each_call_of_a_step_that_tries_again_and_again_has_its_own_result(
    harness: Harness, log: Log
) -> None:
    mine = await harness.open("again.py:three_calls")
    state = await mine.resume("t", target(only(await mine.start("t", harness.input()))), said("yes"))
    while isinstance(state, Failed):
        state = await mine.retry("t")
    assert isinstance(state, Finished)
    assert state.result["heard"] == ["a", "b", "c", "yes"]
    assert [line for line in log() if line.startswith("brought")] == ["brought:a", "brought:b", "brought:c"]


async def test_law_12_calls_that_have_ended_are_not_done_again_whatever_they_are_called_with(
    harness: Harness, log: Log
) -> None:
    """Each of them keeps its own result, when its step is answered and when it tries again."""
    mine = await harness.open("again.py:changing_calls")
    question = only(await mine.start("t", harness.input()))
    ended = await mine.resume("t", target(question), said("yes"))
    assert isinstance(ended, Finished)
    assert ended.result["heard"] == ["a1", "b1", "c1", "yes"]
    assert [line for line in log() if line != "called"] == [
        "brought:a1",
        "brought:b1",
        "brought:c1",
        "fell:bank",
    ]


@pytest.mark.parametrize("closes", [False, True])
async def test_law_3_what_is_left_running_and_tries_again_ends_with_the_answer_that_it_was_given(
    harness: Harness, closes: bool
) -> None:
    """Its agent waits for that, and for a moment also if it is to close."""
    mine = await harness.open("again.py:left_trying")
    mine._runs.beside = 0.0
    asked = waiting(await mine.start("t", harness.input()))
    (first,) = (each for each in asked if each.questions[0].text == "a?")
    answering = asyncio.create_task(mine.resume("t", target(first), said("yes")))
    if closes:
        async with asyncio.timeout(30):
            while texts(Paused(await mine.pending("t"))) != ["b?"]:  # until the second has paused the step
                pass
        await mine.close()
        with pytest.raises(asyncio.CancelledError):
            await answering
        mine = await harness.open("again.py:left_trying")
        state: State = Paused(await mine.pending("t"))
    else:
        state = await answering
    assert texts(state) == ["b?"]
    ended = await mine.resume("t", target(only(state)), said("no"))
    assert isinstance(ended, Finished)
    assert ended.result["heard"] == ["a:yes", "b:no"]


@pytest.mark.parametrize("graph", ["falls_beside", "falls_beside_in_threads"])
async def test_what_was_asked_beside_a_call_that_fails_is_not_asked_anew_when_their_step_tries_again(
    harness: Harness, graph: str
) -> None:
    """As it does, the other call has not ended yet."""
    mine = await harness.open(f"again.py:{graph}")
    asked = {each.questions[0].text: each for each in waiting(await mine.start("t", harness.input()))}
    state = await mine.resume("t", target(asked["right?"]), said("yes"))
    assert waiting(state) == (asked["left?"],)
    ended = await mine.resume("t", target(asked["left?"]), said("no"))
    assert isinstance(ended, Finished)
    assert ended.result["heard"] == ["left:no", "right:yes"]
