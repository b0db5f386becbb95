"""How what a server says of a run is read: was the answer refused, or taken by a run that failed later?"""

import pytest

from answerback.agent import Failed, Finished
from answerback.model import Json
from answerback_agents.langgraph_server.reading import (
    REFUSED,
    Ended,
    asked,
    is_refused,
    is_whole,
    stands,
    whole,
)

GOING_ON = {"next": ["pay"], "tasks": [{"name": "pay"}]}
FAILED_STEP = {"next": ["pay"], "tasks": [{"name": "pay", "error": "ValueError('no')"}]}


@pytest.mark.parametrize(
    ("status", "error", "state", "refused"),
    [
        ("error", {"error": REFUSED}, GOING_ON, True),
        ("error", {"error": "ValueError"}, GOING_ON, False),
        ("error", {}, GOING_ON, True),
        ("error", {}, FAILED_STEP, False),
        ("timeout", {}, GOING_ON, False),  # it was at work, in a step after the one that was answered
        ("interrupted", {}, GOING_ON, False),
        ("success", {}, GOING_ON, False),
    ],
)
def test_only_what_is_refused_at_once_is(status: str, error: Json, state: Json, refused: bool) -> None:
    assert is_refused(Ended(status, error), {}, state) is refused
    assert is_refused(Ended(status, {}), {"error": error}, state) is refused


WAITS: Json = {"id": "i1", "value": "Go on?"}
HIDDEN: Json = {"checkpoint": {"checkpoint_id": "c1"}, "next": [], "tasks": [], "values": {"done": 1}}


def shown(thread: Json, state: Json) -> list[tuple[str, bool]]:
    return [(each.id, each.locked) for each in asked(whole(thread, state))]


def test_what_the_thread_waits_for_and_its_state_leaves_out_is_asked() -> None:
    thread: Json = {"status": "interrupted", "interrupts": {"t1": [WAITS]}}
    assert shown(thread, HIDDEN) == [("i1", False)]
    assert not is_whole(thread, HIDDEN)


def test_what_the_state_shows_too_is_asked_once() -> None:
    thread: Json = {"status": "interrupted", "interrupts": {"t1": [WAITS]}}
    state: Json = {"next": ["ask"], "tasks": [{"id": "t1", "interrupts": [WAITS], "error": None}]}
    assert shown(thread, state) == [("i1", False)]
    assert is_whole(thread, state)


def test_a_thread_that_waits_in_a_state_that_has_ended_is_looked_at_twice() -> None:
    """It may have ended in between, or wait before a step that is left out."""
    assert not is_whole({"status": "interrupted", "interrupts": {}}, HIDDEN)
    assert is_whole({"status": "idle"}, HIDDEN)


@pytest.mark.parametrize("status", ["idle", "busy"])
def test_a_thread_that_does_not_wait_is_asked_nothing(status: str) -> None:
    assert shown({"status": status, "interrupts": {"t1": [WAITS]}}, HIDDEN) == []


def test_a_failure_that_the_state_leaves_out_is_none_that_has_ended() -> None:
    thread: Json = {"status": "error", "error": {"error": "ValueError", "message": "no"}}
    assert stands(thread, whole(thread, HIDDEN), None) == Failed("ValueError: no")


def test_a_refused_answer_leaves_an_end_an_end_and_a_question_a_question() -> None:
    thread: Json = {"status": "error", "error": {"error": REFUSED, "message": "i0"}}
    assert stands(thread, whole(thread, HIDDEN), None) == Finished({"done": 1})
    assert shown(thread | {"interrupts": {"t1": [WAITS]}}, HIDDEN) == [("i1", False)]


@pytest.mark.parametrize(
    ("thread", "locked"),
    [
        ({"status": "interrupted", "interrupts": {"t1": [WAITS]}}, False),  # tried again since
        ({"status": "interrupted", "interrupts": {}}, True),  # its error handler asks instead
        ({"status": "interrupted", "interrupts": {"t1": [WAITS]}, "error": {"error": "UserInterrupt"}}, True),
        ({"status": "error", "interrupts": {"t1": [WAITS]}, "error": {"error": "ValueError"}}, True),
    ],
)
def test_a_step_that_failed_takes_an_answer_once_it_has_been_tried_again(thread: Json, locked: bool) -> None:
    state: Json = {"next": ["ask"], "tasks": [{"id": "t1", "interrupts": [WAITS], "error": "Cancelled()"}]}
    assert shown(thread, state) == [("i1", locked)]


def test_what_was_asked_in_a_graph_before_its_breakpoint_is_asked_no_more() -> None:
    inner: Json = {"checkpoint": {"checkpoint_id": "c2"}, "next": ["pay"], "tasks": [{"name": "pay"}]}
    task: Json = {"id": "t1", "name": "inner", "interrupts": [WAITS], "state": inner}
    assert shown({"status": "interrupted"}, {"next": ["inner"], "tasks": [task]}) == []
