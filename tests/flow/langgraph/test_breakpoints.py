"""Static breakpoints: asked as a confirmation bound to their checkpoint, never run unasked."""

from collections.abc import Callable

import pytest

from answerback.agent import Failed, Finished, Paused
from answerback.errors import Conflict, NotPending, NotYet
from answerback.model import Answer, QuestionKind
from tests.flow.langgraph.harness import Harness, only, said, target, texts, waiting

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


@pytest.mark.parametrize("graph", ["guarded_at_its_end", "guarded_around_its_end"])
async def test_a_breakpoint_at_the_end_of_a_graph_in_a_step_is_asked(
    harness: Harness, log: Log, graph: str
) -> None:
    mine = await harness.open(graph)
    held = only(await mine.resume("t", target(only(await mine.start("t", harness.input()))), said("x")))
    if graph == "guarded_around_its_end":
        assert held.questions[0].text == "The next step is “danger”. Go on?"
        held = only(await mine.resume("t", target(held), said(True)))
    assert held.questions[0].text == "“danger” is done. Go on?"
    assert await mine.pending("t") == (held,)
    ended = await mine.resume("t", target(held), said(True))
    assert isinstance(ended, Finished)
    assert ended.result["heard"] == ["x"]
    assert await mine.resume("t", target(held), said(True), again=True) == ended
    assert log() == ["asked", "danger"]


async def test_a_no_there_ends_the_run(light: Harness, log: Log) -> None:
    mine = await light.open("guarded_at_its_end")
    held = only(await mine.resume("t", target(only(await mine.start("t", light.input()))), said("x")))
    ended = await mine.resume("t", target(held), said(False))
    assert ended == Failed("You said no before the next step.", retryable=False)


async def test_a_breakpoint_that_no_yes_passes_fails_the_run(light: Harness, log: Log) -> None:
    mine = await light.open("guarded_called")
    state = await mine.resume("t", target(only(await mine.start("t", light.input()))), said("x"))
    while isinstance(state, Paused):
        held = only(state)
        answer = said(True) if held.interrupt_id.startswith("breakpoint:") else said("x")
        state = await mine.resume("t", target(held), answer)
    assert isinstance(state, Failed)
    assert "Make that graph itself the step" in state.error
    assert "danger" not in log()


async def test_nor_is_it_done_where_nobody_knows_of_the_breakpoint(light: Harness, log: Log) -> None:
    mine = await light.open("guarded_unseen")
    state = await mine.start("t", light.input())
    assert isinstance(state, Failed)
    assert "Make that graph itself the step" in state.error
    assert log() == []


async def test_answering_a_question_never_releases_a_step_held_beside_it(harness: Harness, log: Log) -> None:
    mine = await harness.open("guarded_beside")
    held = only(await mine.start("t", harness.input()))
    assert held.interrupt_id.startswith("breakpoint:")
    state = await mine.resume("t", target(held), said(True))
    assert texts(state) == ["left?"]
    assert log() == ["danger"]
    assert isinstance(await mine.resume("t", target(only(state)), said("x")), Finished)
    assert log() == ["danger"]


async def test_law_3_an_answer_to_what_waits_beside_a_held_step_is_taken_once_that_was_asked_about(
    harness: Harness, log: Log
) -> None:
    mine = await harness.open("guarded_later_beside")
    started = await mine.start("t", harness.input())
    asked = {pending.questions[0].text: target(pending) for pending in waiting(started)}
    held = only(await mine.resume("t", asked["Which term?"], said("x")))
    assert held.interrupt_id.startswith("breakpoint:")
    for again in (False, True):
        with pytest.raises(NotYet):
            await mine.resume("t", asked["left?"], said("y"), again=again)
    assert await mine.pending("t") == (held,)
    assert texts(await mine.resume("t", target(held), said(True))) == ["left?"]
    ended = await mine.resume("t", asked["left?"], said("y"))
    assert isinstance(ended, Finished)
    assert ended.result["heard"] == [["left", "y"], "x"]
    assert log() == ["asked", "danger"]


class TestBeforeAGraphThatRemembers:
    """Its history is there before it begins: of an earlier step, or of an earlier run."""

    @pytest.mark.parametrize("graph", ["before", "after"])
    async def test_it_is_asked_each_time(self, harness: Harness, log: Log, graph: str) -> None:
        mine = await harness.open(f"remembering.py:{graph}")
        state = await mine.start("t", harness.input())
        for word in ("more", "enough"):
            held = only(await mine.resume("t", target(only(state)), said(word)))
            assert "“inner”" in held.questions[0].text
            assert await mine.pending("t") == (held,)
            assert only(await mine.retry("t")) == held
            assert log()[-1] == "asked"
            state = await mine.resume("t", target(held), said(True))
        assert isinstance(state, Finished)
        assert log() == ["asked", "danger", "finished"] * 2

    async def test_so_it_is_in_the_next_run_of_its_thread(self, harness: Harness, log: Log) -> None:
        mine = await harness.open("remembering.py:before")
        for topic in ("one", "two"):
            question = only(await mine.start("t", harness.input(topic=topic)))
            held = only(await mine.resume("t", target(question), said("enough")))
            assert "“inner”" in held.questions[0].text
            assert log()[-1] == "asked"
            assert isinstance(await mine.resume("t", target(held), said(True)), Finished)
        assert log() == ["asked", "danger", "finished"] * 2

    async def test_what_held_an_earlier_run_holds_no_later_one(self, harness: Harness, log: Log) -> None:
        mine = await harness.open("remembering.py:inside")
        question = only(await mine.start("t", harness.input(topic="one")))
        held = only(await mine.resume("t", target(question), said("enough")))
        assert isinstance(await mine.resume("t", target(held), said(False)), Failed)
        question = only(await mine.start("t", harness.input(topic="two")))
        assert question.questions[0].text == "Which term?"
        held = only(await mine.resume("t", target(question), said("enough")))
        assert held.questions[0].text == "The next step is “finish”. Go on?"
        assert log() == ["asked", "danger"] * 2
        assert isinstance(await mine.resume("t", target(held), said(True)), Finished)
        assert log()[-1] == "finished"
