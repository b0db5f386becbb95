"""Inside: what breakpoints hold back in the graphs that are steps of another one. Pure.

A graph that goes on with an answer and then comes to a breakpoint raises nothing that its outer graph would
store. So the outer one's state goes on showing what was asked before; only the inner one's tells the truth.
"""

from collections.abc import Iterator, Mapping, Set
from typing import Any

from answerback_agents.langgraph.breakpoints import Hold

Found = dict[str, Any]  # a state or one of its tasks, as the server shows it


def holds(state: Found) -> Iterator[Hold]:
    """What is held back in the graphs of a state's tasks, or in graphs of theirs."""
    for task in _tasks(state):
        inner = task.get("state") or {}
        yield from holds(inner)
        if is_held(task):
            yield Hold(checkpoint(inner), _next(inner))


def of_now(state: Found) -> Found:
    """The state, in which a graph has begun only if it has done so in its step.

    One that is compiled with `checkpointer=True` has a single history for its thread, which is there before
    it begins: of an earlier step, or of an earlier run. A checkpoint names those around it as its parents.
    """
    return {**state, "tasks": [_of_now(state, task) for task in _tasks(state)]}


def _of_now(around: Found, task: Found) -> Found:
    if not (inner := task.get("state")):
        return task
    parents = (inner.get("metadata") or {}).get("parents") or {}
    place = (around.get("checkpoint") or {}).get("checkpoint_ns", "")
    is_of_now = parents.get(place, checkpoint(around)) == checkpoint(around)  # who says nothing is believed
    return {**task, "state": of_now(inner) if is_of_now else {}}


def held_by(breakpoints: Mapping[str, str] | None, over: Set[str], state: Found, place: str = "") -> Found:
    """The state, in which graphs inside it stand still at these breakpoints only.

    One that was left at work when another part of its step asked looks as if it were held back, too; and one
    that waits in a step that the server leaves out, as if it were at its end.

    `breakpoints`: "before" or "after" or both, by the path of the step, such as `graph:inner graph:step`;
    None if they are not known. `over`: the ids of interrupts that have been answered.
    """
    tasks = [_held_by(breakpoints, over, task, place) for task in _tasks(state)]
    return {**state, "tasks": tasks}


def _held_by(breakpoints: Mapping[str, str] | None, over: Set[str], task: Found, place: str) -> Found:
    if not (inner := task.get("state")):
        return task
    inside, steps = f"{place}{task['name']}:", _next(inner)
    task = {**task, "state": held_by(breakpoints, over, inner, inside)}
    may_hold = breakpoints is None or _may_hold(breakpoints, inside, steps)
    if not is_held(task) or (may_hold and (steps or _shown(task) <= over)):
        return task
    return {**task, "state": {}}


def _may_hold(breakpoints: Mapping[str, str], inside: str, steps: tuple[str, ...]) -> bool:
    """Any of them may, where the next step is none or is left out."""
    before = any("before" in breakpoints.get(inside + step, "") for step in steps)
    others = (at for path, at in breakpoints.items() if path.startswith(inside))
    return before or any("after" in at or not steps for at in others)


def doubtful(state: Found) -> bool:
    """Whether a task shows a question whose graph is at its end, or waits in a step that is left out."""
    return any(
        doubtful(task.get("state") or {})
        or (is_held(task) and bool(_shown(task)) and not _next(task["state"]))
        for task in _tasks(state)
    )


def asks(task: Found) -> bool:
    """Whether what a task shows is still asked: nothing is, once its graph has come to a breakpoint."""
    within = _tasks(task.get("state") or {})
    return bool(task.get("interrupts")) and (not any(holds({"tasks": [task]})) or any(map(asks, within)))


def is_held(task: Found) -> bool:
    """Whether the graph of a task that has not ended has begun none of its next steps, or is at its end."""
    inner = task.get("state") or {}
    steps, tasks = _next(inner), _tasks(inner)
    has_begun = len(steps) < len(tasks) or any(map(_has_begun, tasks))
    return bool(checkpoint(inner)) and not has_begun and task.get("result") is None


def checkpoint(state: Found) -> str:
    """The id of the checkpoint that this state is."""
    return str((state.get("checkpoint") or {}).get("checkpoint_id") or "")


def _has_begun(task: Found) -> bool:
    """Whether it asked, failed, ended, or has a state of its own."""
    return bool(task.get("interrupts") or task.get("error") or checkpoint(task.get("state") or {}))


def _shown(task: Found) -> set[str]:
    return {str(interrupt["id"]) for interrupt in task.get("interrupts") or ()}


def _next(state: Found) -> tuple[str, ...]:
    return tuple(state.get("next") or ())


def _tasks(state: Found) -> list[Found]:
    return state.get("tasks") or []
