"""What leads from one step to the next may ask as well, before the first step too."""

from collections.abc import Callable

import pytest

from answerback.agent import Failed, Finished
from answerback.errors import DoesNotFit, NotPending
from tests.flow.langgraph.harness import Harness, only, said, target

Log = Callable[[], list[str]]


@pytest.mark.parametrize("graph", ["at_start", "after_a_step", "inside", "hidden"])
async def test_a_question_is_asked_wherever_it_stands(harness: Harness, graph: str) -> None:
    mine = await harness.open(f"routed.py:{graph}")
    question = only(await mine.start("t", harness.input()))
    assert question.questions[0].text == "Left or right?"
    assert await mine.pending("t") == (question,)
    ended = await mine.resume("t", target(question), said("left"))
    assert isinstance(ended, Finished)
    assert ended.result["heard"][-1] == "left"


@pytest.mark.parametrize("graph", ["twice", "twice_inside"])
async def test_law_1_the_second_question_there_is_not_answered_by_the_first_answer(
    harness: Harness, log: Log, graph: str
) -> None:
    mine = await harness.open(f"routed.py:{graph}")
    first = only(await mine.start("t", harness.input()))
    second = only(await mine.resume("t", target(first), said("left")))
    assert second.questions[0].text == "Really?"
    with pytest.raises(NotPending):
        await mine.resume("t", target(first), said("left"))
    assert only(await mine.resume("t", target(first), said("left"), again=True)) == second
    assert isinstance(await mine.resume("t", target(second), said("yes")), Finished)
    assert log() == ["way:left:yes"]


async def test_law_1_a_question_that_has_changed_there_is_asked_anew(harness: Harness) -> None:
    mine = await harness.open("routed.py:changing")
    first = only(await mine.start("t", harness.input()))
    with pytest.raises(DoesNotFit):
        await mine.resume("t", target(first), said("left"))
    (second,) = await mine.pending("t")
    assert second.questions[0].text == "Left or right, for the 2. time?"
    assert isinstance(await mine.resume("t", target(second), said("left")), Finished)


async def test_a_restart_forgets_no_question_there(harness: Harness) -> None:
    before = await harness.open("routed.py:at_start")
    question = only(await before.start("t", harness.input()))
    await before.close()
    after = await harness.open("routed.py:at_start")
    assert only(await after.start("t", harness.input())) == question
    assert isinstance(await after.resume("t", target(question), said("right")), Finished)


async def test_what_fails_there_is_tried_again_with_its_answer(harness: Harness, log: Log) -> None:
    mine = await harness.open("routed.py:failing")
    question = only(await mine.start("t", harness.input()))
    assert isinstance(await mine.resume("t", target(question), said("left")), Failed)
    assert await mine.pending("t") == ()
    ended = await mine.retry("t")
    assert isinstance(ended, Finished)
    assert ended.result["heard"] == ["left"]
    assert log() == ["way:left", "way:left"]


@pytest.mark.parametrize(
    "graph", ["failing_after", "failing_inside", "failing_called", "failing_called_in_thread", "cut_off"]
)
async def test_a_step_whose_way_on_failed_is_not_taken_for_one_that_has_ended(
    harness: Harness, log: Log, graph: str
) -> None:
    mine = await harness.open(f"routed.py:{graph}")
    assert isinstance(await mine.start("t", harness.input()), Failed)
    ended = await mine.retry("t")
    assert isinstance(ended, Finished)
    assert ended.result["heard"] == ["work", "left"]
