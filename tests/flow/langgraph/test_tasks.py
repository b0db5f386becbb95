"""Tasks of LangGraph's functional API: what one was told is the result of that call alone (law 1)."""

from collections.abc import Callable

import pytest

from answerback.agent import Finished, Paused, State
from answerback.errors import DoesNotFit
from answerback_agents.langgraph import LangGraph
from tests.flow.langgraph.harness import Harness, ids, only, said, target, texts

Log = Callable[[], list[str]]


async def answer_all(mine: LangGraph, state: State) -> tuple[State, list[str]]:
    """Each with what was asked and its number, and what was asked."""
    asked: list[str] = []
    while isinstance(state, Paused):
        first = state.pending[0]
        asked.append(first.questions[0].text)
        answer = said(f"{len(asked)}:{asked[-1]}".replace(" ", ""))
        try:
            state = await mine.resume("t", target(first), answer)
        except DoesNotFit:
            state = Paused(await mine.pending("t"))
    return state, asked


@pytest.mark.parametrize("graph", ["raced", "raced_in_a_step", "raced_in_an_inner_graph"])
async def test_law_1_calls_at_the_same_time_get_their_own_results_in_any_order(
    harness: Harness, log: Log, graph: str
) -> None:
    mine = await harness.open(f"tasked.py:{graph}")
    ended, asked = await answer_all(mine, await mine.start("t", harness.input()))
    assert isinstance(ended, Finished)
    assert sorted(asked) == ["Pay 5?", "Pay 6?"]
    assert {line.split(":")[0] + line.split(":")[2] for line in log() if line != "tried"} == {
        "5Pay5?",
        "6Pay6?",
    }


async def test_law_3_and_so_they_do_when_each_answer_finds_another_process(light: Harness, log: Log) -> None:
    mine = await light.open("tasked.py:raced")
    state, asked = await mine.start("t", light.input()), list[str]()
    while isinstance(state, Paused):
        await mine.close()
        mine = await light.open("tasked.py:raced")
        asked.append(state.pending[0].questions[0].text)
        state = await mine.resume("t", target(state.pending[0]), said(asked[-1].replace(" ", "")))
    assert isinstance(state, Finished)
    assert sorted(asked) == ["Pay 5?", "Pay 6?"]
    assert {line for line in log() if line != "tried"} == {"5:Pay5?", "6:Pay6?"}


@pytest.mark.parametrize("seed", range(8))
async def test_law_1_in_whatever_order_calls_come_each_gets_what_it_asked_for_once(
    light: Harness, seed: int
) -> None:
    """And whoever gave an answer and did not hear what became of it can give it again (law 3)."""
    mine = await light.open("tasked.py:shuffled")
    state = await mine.start("t", light.input(topic=str(seed)))
    asked = []
    while isinstance(state, Paused):
        question = state.pending[-1]
        asked.append(question.questions[0].text)
        answer = said(f"{len(asked)}: {asked[-1]}")
        state = await mine.resume("t", target(question), answer)
        again = await mine.resume("t", target(question), answer, again=True)
        assert ids(again) == ids(state)
    assert isinstance(state, Finished)
    answers = [answer for _, both in state.result["heard"] for answer in both]
    assert sorted(answers) == sorted(f"{number}: {text}" for number, text in enumerate(asked, 1))
    for amount, (agreed, when) in state.result["heard"]:
        assert agreed.endswith(f": Pay {amount}?") and when.endswith(f": When to pay {amount}?")


async def test_law_12_equal_calls_in_another_order_are_each_asked_about(light: Harness, log: Log) -> None:
    mine = await light.open("tasked.py:equal")
    ended, asked = await answer_all(mine, await mine.start("t", light.input()))
    assert isinstance(ended, Finished)
    assert sorted(asked) == ["Pay 5?", "Pay 5?", "Pay 6?"]
    assert {line.split(":")[1] for line in log() if line != "tried"} == {"1", "2", "3"}


async def test_law_1_what_was_approved_is_not_the_result_of_a_call_with_something_else(
    harness: Harness, log: Log
) -> None:
    mine = await harness.open("tasked.py:changed")
    state = await mine.resume("t", target(only(await mine.start("t", harness.input()))), said("yes"))
    assert texts(state) == ["A receipt?"]
    with pytest.raises(DoesNotFit):
        await mine.resume("t", target(only(state)), said("please"))
    assert [pending.questions[0].text for pending in await mine.pending("t")] == ["Pay 2?"]
    state = await mine.resume("t", target(only(Paused(await mine.pending("t")))), said("no"))
    assert isinstance(await mine.resume("t", target(only(state)), said("please")), Finished)
    assert log() == ["tried", "tried", "1:yes", "tried", "tried", "2:no", "tried", "2:no"]


async def test_law_12_a_task_that_asked_nothing_does_not_run_again_whatever_it_is_called_with(
    light: Harness, log: Log
) -> None:
    mine = await light.open("tasked.py:charged")
    state = await mine.start("t", light.input())
    assert isinstance(await mine.resume("t", target(only(state)), said("please")), Finished)
    assert log() == ["tried", "charged", "tried"]


async def test_law_12_a_step_that_tries_again_by_itself_does_no_task_twice_that_had_ended(
    harness: Harness, log: Log
) -> None:
    mine = await harness.open("tasked.py:retried")
    ended, asked = await answer_all(mine, await mine.start("t", harness.input()))
    assert isinstance(ended, Finished)
    assert asked == ["Pay 5?"]
    assert sorted(log()) == ["5:1:Pay5?", "calls", "calls", "calls", "charged"]


async def test_law_1_the_tasks_of_a_task_whose_step_tries_again_are_told_apart(
    light: Harness, log: Log
) -> None:
    mine = await light.open("tasked.py:retried_deeper")
    ended, asked = await answer_all(mine, await mine.start("t", light.input()))
    assert isinstance(ended, Finished)
    assert sorted(asked) == ["Pay 7?", "Pay 8?"]
    answers = [f"{1 + asked.index(text)}:{text}".replace(" ", "") for text in ("Pay 7?", "Pay 8?")]
    paid = [f"{amount}:{answer}" for amount, answer in zip((7, 8), answers, strict=True)]
    assert sorted(log()) == sorted(["calls"] * 3 + paid + [",".join(answers)])
