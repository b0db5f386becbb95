"""Breakpoints of a graph that is a step of another one: its server still shows what was asked before them."""

import uuid

import pytest

from answerback.agent import Failed, Finished, Paused, Pending, State
from answerback.errors import NotPending, NotYet
from answerback_agents.langgraph.breakpoints import STUCK
from tests.flow.langgraph_server.development import Rule
from tests.flow.langgraph_server.harness import Harness, only, said, target, text

DANGER = "The next step is “danger”. Go on?"


def thread() -> str:
    return uuid.uuid4().hex


def texts(state: State) -> list[str]:
    assert isinstance(state, Paused), state
    return [pending.questions[0].text for pending in state.pending]


def asking(state: State, question: str) -> Pending:
    assert isinstance(state, Paused), state
    return next(pending for pending in state.pending if pending.questions[0].text == question)


async def test_law_1_what_was_asked_before_it_has_its_answer_and_the_breakpoint_is_asked(
    harness: Harness,
) -> None:
    agent, t = await harness.open("guarded_inside"), thread()
    asked = only(await agent.start(t, harness.input(), "run-1"))
    held = await agent.resume(t, target(asked), said("fine"))
    assert text(held) == DANGER
    assert await agent.pending(t) == (only(held),)
    with pytest.raises(NotPending):
        await agent.resume(t, target(asked), said("fine"))
    assert isinstance(await agent.resume(t, target(only(held)), said(True)), Finished)
    assert harness.log == ["ask:fine", "danger"]


async def test_so_it_is_before_a_step_that_is_itself_a_graph(harness: Harness) -> None:
    agent, t = await harness.open("guarded_graph"), thread()
    asked = only(await agent.start(t, harness.input(), "run-1"))
    held = only(await agent.resume(t, target(asked), said("fine")))
    assert held.questions[0].text == "The next step is “inner”. Go on?"
    assert isinstance(await agent.resume(t, target(held), said(True)), Finished)
    assert harness.log == ["ask:fine", "danger"]


async def test_an_answer_after_which_we_died_is_found_in_front_of_it(harness: Harness) -> None:
    agent, t = await harness.open("guarded_inside"), thread()
    asked = only(await agent.start(t, harness.input(), "run-1"))
    held = await agent.resume(t, target(asked), said("fine"))
    assert await agent.resume(t, target(asked), said("fine"), again=True) == held
    assert harness.log == ["ask:fine"]


async def test_a_no_ends_the_thread(harness: Harness) -> None:
    agent, t = await harness.open("guarded_inside"), thread()
    asked = only(await agent.start(t, harness.input(), "run-1"))
    held = only(await agent.resume(t, target(asked), said("fine")))
    assert isinstance(await agent.resume(t, target(held), said(False)), Failed)
    assert await agent.pending(t) == ()
    assert harness.log == ["ask:fine"]


async def test_law_1_a_yes_is_for_one_of_two_in_the_same_graph(harness: Harness) -> None:
    agent, t = await harness.open("guarded_twice_inside"), thread()
    first = only(await agent.start(t, harness.input(), "run-1"))
    assert first.questions[0].text == DANGER
    second = only(await agent.resume(t, target(first), said(True)))
    assert second.questions[0].text == "The next step is “more_danger”. Go on?"
    with pytest.raises(NotPending):
        await agent.resume(t, target(first), said(True))
    assert harness.log == ["danger"]
    assert isinstance(await agent.resume(t, target(second), said(True)), Finished)
    assert harness.log == ["danger", "more_danger"]


async def test_so_it_is_behind_steps_also_behind_the_last_one(harness: Harness) -> None:
    agent, t = await harness.open("guarded_behind"), thread()
    asked = only(await agent.start(t, harness.input(), "run-1"))
    first = only(await agent.resume(t, target(asked), said("fine")))
    assert first.questions[0].text == DANGER
    second = only(await agent.resume(t, target(first), said(True)))
    assert second.questions[0].text == "Go on with the next step?"
    assert harness.log == ["ask:fine", "danger"]
    assert isinstance(await agent.resume(t, target(second), said(True)), Finished)
    assert harness.log == ["ask:fine", "danger"]


async def test_a_breakpoint_before_a_step_that_its_graphs_state_leaves_out_is_asked(harness: Harness) -> None:
    agent, t = await harness.open("joined_guarded_inside"), thread()
    asked = only(await agent.start(t, harness.input(), "run-1"))
    held = only(await agent.resume(t, target(asked), said("fine")))
    assert held.questions[0].text == "Go on with the next step?"
    number = only(await agent.resume(t, target(held), said(True)))
    assert number.questions[0].text == "A number?"
    assert isinstance(await agent.resume(t, target(number), said("7")), Finished)


async def test_a_step_that_its_graphs_state_leaves_out_is_asked_and_then_the_breakpoint_behind_it(
    harness: Harness,
) -> None:
    agent, t = await harness.open("joined_inside"), thread()
    asked = only(await agent.start(t, harness.input(), "run-1"))
    assert asked.questions[0].text == "Go on?"
    held = only(await agent.resume(t, target(asked), said("fine")))
    assert held.questions[0].text == "Go on with the next step?"
    assert isinstance(await agent.resume(t, target(held), said(True)), Finished)


async def test_law_1_what_is_asked_beside_it_waits_until_the_breakpoint_was_asked_about(
    harness: Harness,
) -> None:
    """LangGraph would let the held steps run for any answer."""
    agent, t = await harness.open("guarded_beside"), thread()
    both = await agent.start(t, harness.input(), "run-1")
    assert sorted(texts(both)) == ["A number?", "Go on?"]
    held = await agent.resume(t, target(asking(both, "Go on?")), said("fine"))
    assert texts(held) == [DANGER]
    with pytest.raises(NotYet):
        await agent.resume(t, target(asking(both, "A number?")), said("7"))
    assert harness.log == ["ask:fine"]
    after = await agent.resume(t, target(only(held)), said(True))
    assert texts(after) == ["A number?"]
    assert isinstance(await agent.resume(t, target(only(after)), said("7")), Finished)
    assert harness.log == ["ask:fine", "danger", "picky:7"]


async def test_what_failed_beside_it_is_tried_again_once_it_was_asked_about(harness: Harness) -> None:
    agent, t = await harness.open("guarded_failing"), thread()
    assert await agent.start(t, harness.input(), "run-1") == Failed("ValueError: not now")
    first = await agent.retry(t)
    assert texts(first) == [DANGER]
    assert harness.log == ["stumbles"]
    second = only(await agent.resume(t, target(only(first)), said(True)))
    assert isinstance(await agent.resume(t, target(second), said(True)), Finished)
    assert harness.log == ["stumbles", "danger", "more_danger"]


async def test_a_graph_that_was_left_at_work_is_held_by_nothing(harness: Harness) -> None:
    """Its state is that of one at a breakpoint; but it has none."""
    agent, t = await harness.open("calling"), thread()
    assert text(await agent.start(t, harness.input(), "run-1")) == "Go on?"
    (harness.place / "gate").touch()


async def test_one_that_no_yes_gets_past_fails_the_run_and_says_what_to_do(harness: Harness) -> None:
    """Of a graph that a step calls: its second call comes to where the first one was let past."""
    agent, t = await harness.open("calling_guarded"), thread()
    held = only(await agent.start(t, harness.input(), "run-1"))
    assert await agent.resume(t, target(held), said(True)) == Failed(STUCK, retryable=False)


async def test_on_a_server_that_cannot_draw_its_graphs_it_is_held_as_it_seems(harness: Harness) -> None:
    agent, t = await harness.open("guarded_inside"), thread()
    asked = only(await agent.start(t, harness.input(), "run-1"))
    harness.front.rules.append(Rule("/assistants/.*/graph", status=500, times=9))
    held = only(await agent.resume(t, target(asked), said("fine")))
    assert held.questions[0].text == DANGER
    assert isinstance(await agent.resume(t, target(held), said(True)), Finished)


@pytest.mark.parametrize("graph", ["guarded_again", "guarded_again_inside"])
async def test_one_before_a_graph_that_remembers_is_asked_about_each_time(
    harness: Harness, graph: str
) -> None:
    agent, t = await harness.open(graph), thread()
    state = await agent.start(t, harness.input(), "run-1")
    for word in ("more", "enough"):
        held = only(await agent.resume(t, target(asking(state, "Go on?")), said(word)))
        assert held.questions[0].text == "The next step is “inner”. Go on?"
        assert await agent.pending(t) == (held,)
        assert harness.log[-1] == f"ask:{word}"
        state = await agent.resume(t, target(held), said(True))
        if graph == "guarded_again_inside" and word == "more":
            held = asking(state, "The next step is “more_danger”. Go on?")
            state = await agent.resume(t, target(held), said(True))
    assert isinstance(state, Finished)
