"""Static breakpoints: asked as a confirmation bound to their checkpoint, never run unasked."""

from collections.abc import Callable

import pytest

from answerback.agent import Failed, Finished
from answerback.errors import Conflict, NotPending
from answerback.model import Answer, QuestionKind
from tests.flow.langgraph.harness import Harness, only, said, target, texts

Log = Callable[[], list[str]]
GUARDED = ["guarded", "guarded_after", "guarded_inside"]


@pytest.mark.parametrize("graph", GUARDED)
async def test_a_breakpoint_is_asked_and_a_yes_runs_the_step(harness: Harness, log: Log, graph: str) -> None:
    mine = await harness.open(graph)
    question = only(await mine.start("t", harness.input()))
    held = only(await mine.resume("t", target(question), said("x")))
    assert held.questions[0].kind is QuestionKind.CONFIRM
    assert "“danger”" in held.questions[0].text
    assert held.interrupt_id.startswith("breakpoint:")
    assert not held.expirable
    assert await mine.pending("t") == (held,)
    assert log() == ["asked"]
    assert isinstance(await mine.resume("t", target(held), said(True)), Finished)
    assert log() == ["asked", "danger"]


@pytest.mark.parametrize("graph", GUARDED)
@pytest.mark.parametrize("answer", [said(False), said("yes"), said(1), Answer({}, expired=True)])
async def test_anything_but_a_yes_ends_the_run(
    harness: Harness, log: Log, graph: str, answer: Answer
) -> None:
    mine = await harness.open(graph)
    question = only(await mine.start("t", harness.input()))
    held = only(await mine.resume("t", target(question), said("x")))
    ended = await mine.resume("t", target(held), answer)
    who = "Nobody answered" if answer.expired else "You said no"
    assert ended == Failed(f"{who} before “danger”.", retryable=False)
    assert await mine.pending("t") == ()
    assert isinstance(await mine.retry("t"), Finished)
    assert log() == ["asked"]


@pytest.mark.parametrize("graph", GUARDED)
async def test_neither_retry_nor_a_duplicate_nor_a_crashed_answer_runs_a_held_step(
    harness: Harness, log: Log, graph: str
) -> None:
    mine = await harness.open(graph)
    question = only(await mine.start("t", harness.input()))
    held = only(await mine.resume("t", target(question), said("x")))
    with pytest.raises(NotPending):
        await mine.resume("t", target(question), said("x"))
    assert only(await mine.resume("t", target(question), said("x"), again=True)) == held
    assert only(await mine.retry("t")) == held
    with pytest.raises(Conflict):
        await mine.start("t", harness.input(topic="another"))
    assert log() == ["asked"]


@pytest.mark.parametrize("graph", GUARDED)
async def test_a_yes_given_twice_runs_the_step_once(harness: Harness, log: Log, graph: str) -> None:
    mine = await harness.open(graph)
    question = only(await mine.start("t", harness.input()))
    held = only(await mine.resume("t", target(question), said("x")))
    ended = await mine.resume("t", target(held), said(True))
    with pytest.raises(NotPending):
        await mine.resume("t", target(held), said(True))
    assert await mine.resume("t", target(held), said(True), again=True) == ended
    assert log() == ["asked", "danger"]


async def test_answering_a_question_never_releases_a_step_held_beside_it(harness: Harness, log: Log) -> None:
    mine = await harness.open("guarded_beside")
    held = only(await mine.start("t", harness.input()))
    assert held.interrupt_id.startswith("breakpoint:")
    state = await mine.resume("t", target(held), said(True))
    assert texts(state) == ["left?"]
    assert log() == ["danger"]
    assert isinstance(await mine.resume("t", target(only(state)), said("x")), Finished)
    assert log() == ["danger"]
