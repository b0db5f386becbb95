"""What a state with the states of its graphs says: which of them are held, and what is still asked."""

import pytest

from answerback.model import Json
from answerback_agents.langgraph.breakpoints import Hold
from answerback_agents.langgraph_server.inside import asks, doubtful, held_by, holds, of_now
from answerback_agents.langgraph_server.reading import waits

QUESTION: Json = {"id": "i1", "value": "Go on?"}


def task(name: str, **more: Json) -> Json:
    """As the server shows one that has begun nothing."""
    return {"id": f"task {name}", "name": name, "error": None, "interrupts": [], "state": None, **more}


def state(*tasks: Json, next: tuple[str, ...] | None = None) -> Json:
    steps = [each["name"] for each in tasks] if next is None else [*next]
    return {"checkpoint": {"checkpoint_id": "c"}, "next": steps, "tasks": [*tasks]}


HELD = task("inner", state=state(task("pay")), interrupts=[QUESTION])  # what was asked before stays
ASKING = task("inner", state=state(task("ask", interrupts=[QUESTION])), interrupts=[QUESTION])
FAILED = task("inner", state=state(task("pay", error="ValueError('no')")), error="ValueError('no')")
CUT_OFF = task("inner", state=state(task("pay")), error="CancelledError()")
HALF = task("inner", state=state(task("ask", interrupts=[QUESTION]), task("done"), next=("ask",)))
AT_ITS_END = task("inner", state=state(), interrupts=[QUESTION])
ENDED = task("inner", state=state(), result={"paid": 1})
NOT_BEGUN = task("inner", state={"checkpoint": None, "next": [], "tasks": []})
DEEP = task("outer", state=state(HELD), interrupts=[QUESTION])
DEEP_BESIDE = task("outer", state=state(HELD, task("ask", interrupts=[QUESTION])), interrupts=[QUESTION])


@pytest.mark.parametrize(
    ("found", "steps"),
    [
        (HELD, ("pay",)),
        (CUT_OFF, ("pay",)),
        (AT_ITS_END, ()),
        (DEEP, ("pay",)),
        (DEEP_BESIDE, ("pay",)),
    ],
)
def test_a_graph_that_has_begun_none_of_its_next_steps_is_held(found: Json, steps: tuple[str, ...]) -> None:
    assert [*holds(state(found))] == [Hold("c", steps)]


@pytest.mark.parametrize("found", [ASKING, FAILED, HALF, ENDED, NOT_BEGUN, task("pay")])
def test_one_that_has_begun_or_ended_is_not(found: Json) -> None:
    assert [*holds(state(found))] == []


def test_law_1_what_a_graph_remembers_from_before_its_step_holds_nothing_and_has_not_begun() -> None:
    deep = state(
        task("inner", state=state(task("pay")) | {"metadata": {"parents": {"": "c", "outer": "old"}}})
    )
    deep |= {"metadata": {"parents": {"": "c"}}}
    deep["checkpoint"]["checkpoint_ns"] = "outer"
    assert [*holds(state(task("outer", state=deep)))] == [Hold("c", ("pay",))]
    assert [*holds(of_now(state(task("outer", state=deep))))] == [Hold("c", ("inner",))]
    shallow = state(task("pay")) | {"metadata": {"parents": {"": "old"}}}
    assert of_now(state(task("inner", state=shallow)))["tasks"] == [task("inner", state={})]


@pytest.mark.parametrize("found", [HELD, DEEP, AT_ITS_END])
def test_what_was_asked_before_a_breakpoint_is_over(found: Json) -> None:
    assert not asks(found)


@pytest.mark.parametrize("found", [ASKING, DEEP_BESIDE, task("ask", interrupts=[QUESTION])])
def test_what_waits_is_asked(found: Json) -> None:
    assert asks(found)


@pytest.mark.parametrize(
    ("breakpoints", "found", "is_held"),
    [
        ({"inner:pay": "before"}, HELD, True),
        ({"inner:pay": "before,after"}, HELD, True),
        ({"inner:look": "after"}, HELD, True),
        ({"inner:look": "after"}, AT_ITS_END, True),
        ({"outer:inner:pay": "before"}, DEEP, True),
        ({}, HELD, False),
        ({"pay": "before"}, HELD, False),
        ({"inner:look": "before"}, HELD, False),
        ({"inner:pay": "before"}, AT_ITS_END, True),  # or before a step that is left out
        ({"other:pay": "before"}, AT_ITS_END, False),
        ({"inner:pay": "before"}, DEEP, False),
    ],
)
def test_only_a_breakpoint_holds(breakpoints: dict[str, str], found: Json, is_held: bool) -> None:
    """One that another part of its step left at work looks the same."""
    kept = held_by(breakpoints, {"i1"}, state(found))
    assert any(holds(kept)) is is_held
    assert asks(kept["tasks"][0]) is not is_held


@pytest.mark.parametrize(
    ("found", "over", "is_held"),
    [
        (AT_ITS_END, set(), False),
        (AT_ITS_END, {"i1"}, True),
        (task("inner", state=state()), set(), True),  # nothing was asked before
        (HELD, set(), True),
    ],
)
@pytest.mark.parametrize("breakpoints", [None, {"inner:pay": "after"}])
def test_a_graph_without_a_next_step_waits_in_one_that_is_left_out_unless_its_question_was_answered(
    breakpoints: dict[str, str] | None, found: Json, over: set[str], is_held: bool
) -> None:
    assert doubtful(state(found)) is (found is AT_ITS_END)
    assert any(holds(held_by(breakpoints, over, state(found)))) is is_held


@pytest.mark.parametrize("status", ["interrupted", "error"])
def test_law_1_a_breakpoint_is_asked_before_what_waits_or_failed_beside_it(status: str) -> None:
    beside = task("ask", interrupts=[QUESTION])
    (asked,) = waits({"status": status}, state(HELD, beside), None)
    assert asked.questions[0].text == "The next step is “pay”. Go on?"
    (asked,) = waits({"status": status}, state(ENDED, beside, next=("ask",)), None)
    assert asked.interrupt_id == "i1"
