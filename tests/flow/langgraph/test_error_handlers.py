"""Steps with an error handler that asks what to do: LangGraph runs it beside the step that failed."""

from collections.abc import Callable

import pytest

from answerback.agent import Failed, Finished, Pending, State
from answerback.errors import NotPending
from answerback_agents.langgraph import LangGraph
from tests.flow.langgraph.harness import Harness, only, said, target, texts, waiting

Log = Callable[[], list[str]]
WHAT = "It failed. What now?"


def about(text: str, state: State) -> Pending:
    (found,) = (pending for pending in waiting(state) if pending.questions[0].text == text)
    return found


async def failed_beside_another(mine: LangGraph, harness: Harness) -> State:
    """A step has been told to pay, and failed: its handler asks, and another step too."""
    pay = about("Pay 5?", await mine.start("t", harness.input()))
    return await mine.resume("t", target(pay), said("yes"))


@pytest.mark.parametrize("graph", ["plain", "outside"])
async def test_a_handler_asks_and_is_answered(harness: Harness, log: Log, graph: str) -> None:
    mine = await harness.open(f"mended.py:{graph}")
    question = only(await mine.start("t", harness.input()))
    assert question.questions[0].text == WHAT
    assert await mine.pending("t") == (question,)
    assert isinstance(await mine.resume("t", target(question), said("by-hand")), Finished)
    assert log() == ["pay", "now:by-hand"]


@pytest.mark.parametrize("graph", ["asked", "inside"])
async def test_law_1_what_its_step_was_told_is_not_for_the_handler(
    harness: Harness, log: Log, graph: str
) -> None:
    mine = await harness.open(f"mended.py:{graph}")
    first = only(await mine.start("t", harness.input()))
    second = only(await mine.resume("t", target(first), said("yes")))
    assert (first.questions[0].text, second.questions[0].text) == ("Pay 5?", WHAT)
    with pytest.raises(NotPending):
        await mine.resume("t", target(first), said("no"))
    assert isinstance(await mine.resume("t", target(second), said("later")), Finished)
    assert log() == ["pay:yes", "now:later"]


async def test_a_handler_asks_twice(harness: Harness, log: Log) -> None:
    mine = await harness.open("mended.py:twice")
    what = only(await mine.start("t", harness.input()))
    when = only(await mine.resume("t", target(what), said("retry")))
    assert only(await mine.resume("t", target(what), said("retry"), again=True)) == when
    with pytest.raises(NotPending):
        await mine.resume("t", target(what), said("give up"), again=True)
    assert isinstance(await mine.resume("t", target(when), said("tonight")), Finished)
    assert log() == ["pay", "now:retry:tonight"]


@pytest.mark.parametrize("graph", ["told_twice", "told_elsewhere"])
async def test_law_3_whatever_its_step_was_told_a_handler_asks_and_what_it_is_told_is_known_after_a_crash(
    harness: Harness, log: Log, graph: str
) -> None:
    """Whoever gave an answer died before noting that: it is given again."""
    mine = await harness.open(f"mended.py:{graph}")
    state, asked = await mine.start("t", harness.input()), 0
    while not isinstance(state, Finished):
        question, asked = only(state), asked + 1
        state = await mine.resume("t", target(question), said(str(asked)))
        assert await mine.resume("t", target(question), said(str(asked)), again=True) == state
        with pytest.raises(NotPending):
            await mine.resume("t", target(question), said("0"))
    assert log() == ["pay:1:2", "now:3:4"]


async def test_a_handler_that_fails_is_tried_again_with_its_answer(harness: Harness, log: Log) -> None:
    mine = await harness.open("mended.py:fails")
    question = only(await mine.start("t", harness.input()))
    assert isinstance(await mine.resume("t", target(question), said("later")), Failed)
    assert await mine.pending("t") == ()
    assert isinstance(await mine.retry("t"), Finished)
    assert log() == ["pay", "fell", "now:later"]


@pytest.mark.parametrize("graph", ["two", "two_inside"])
async def test_law_12_a_handler_that_has_ended_does_not_run_again_beside_what_still_waits(
    harness: Harness, log: Log, graph: str
) -> None:
    mine = await harness.open(f"mended.py:{graph}")
    state = await failed_beside_another(mine, harness)
    delete, what = about("Delete it?", state), about(WHAT, state)
    assert only(await mine.resume("t", target(what), said("by-hand"))) == delete
    ended = await mine.resume("t", target(delete), said("no"))
    assert log() == ["pay:yes", "now:by-hand", "delete:no"]
    assert isinstance(ended, Finished)
    assert sorted(ended.result["heard"]) == ["by-hand", "no"]


@pytest.mark.parametrize("graph", ["two", "two_inside"])
async def test_law_3_that_a_handler_was_told_something_is_known_after_a_crash(
    harness: Harness, log: Log, graph: str
) -> None:
    """It has ended, another step still waits, and whoever gave it the answer died before noting it."""
    mine = await harness.open(f"mended.py:{graph}")
    what = about(WHAT, await failed_beside_another(mine, harness))
    state = await mine.resume("t", target(what), said("by-hand"))
    assert await mine.resume("t", target(what), said("by-hand"), again=True) == state
    assert texts(state) == ["Delete it?"]
    assert log() == ["pay:yes", "now:by-hand"]
