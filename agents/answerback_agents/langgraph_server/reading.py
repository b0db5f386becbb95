"""Reading: where a thread stands and what waits on it, from what the server says of it. Pure."""

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

from answerback.agent import Failed, Finished, Paused, Pending, State, digest
from answerback.model import Json
from answerback_agents import dialects
from answerback_agents.langgraph import breakpoints, values
from answerback_agents.langgraph_server import inside
from answerback_agents.langgraph_server.inside import checkpoint

REFUSED = "UnknownInterruptError"  # of a strict resume; nothing was written


@dataclass(frozen=True, slots=True)
class Ended:
    """How a run ended: `success`, `error`, `timeout`, or `interrupted` when it was stopped from outside."""

    status: str
    error: dict[str, Json]

    @property
    def failed(self) -> bool:
        return self.status in ("error", "timeout")


@dataclass(frozen=True, slots=True)
class Asked:
    """One interrupt as the server shows it. `locked`: its step failed, perhaps with an answer in it."""

    id: str
    payload: Json
    schema: Json
    digest: str
    locked: bool = False


def whole(thread: dict[str, Any], state: dict[str, Any]) -> dict[str, Any]:
    """The state as it is: the server leaves out steps that wait for several others to end, and shows errors
    that are over.

    It reads a checkpoint as JSON, which knows no sets, and so takes the edge of such a step for one that is
    not complete. What the thread waits for, and whether it failed, it has from the last run itself.
    """
    status, error, tasks = thread.get("status"), thread.get("error") or {}, list(state.get("tasks") or ())
    if status not in ("interrupted", "error"):
        return state
    waits = thread.get("interrupts") or {}
    if status == "interrupted" and not error:  # what had failed and waits now has been tried again since
        over = {task.get("id") for task in tasks if waits.get(task.get("id")) or inside.is_held(task)}
        tasks = [{**task, "error": None} if task.get("id") in over else task for task in tasks]
    failed = _said(error) if status == "error" and error.get("error") != REFUSED else ""
    known = {task.get("id") for task in tasks}
    hidden = (item for item in waits.items() if item[0] not in known)
    tasks += [{"id": id, "interrupts": found, "error": failed or None} for id, found in hidden if found]
    if failed and not tasks and not state.get("next"):
        tasks = [{"id": "", "interrupts": [], "error": failed}]
    return {**state, "tasks": tasks}


def is_whole(thread: dict[str, Any], state: dict[str, Any]) -> bool:
    """Whether the server shows the state as it is, and of the same moment as the thread."""
    tasks = whole(thread, state).get("tasks") or []
    has_ended = not (tasks or state.get("next"))  # or waits at a breakpoint before what is left out
    return bool(tasks == (state.get("tasks") or [])) and not (
        thread.get("status") == "interrupted" and has_ended
    )


def asked(state: dict[str, Any]) -> Iterator[Asked]:
    """The interrupts of a thread's newest checkpoint; those of inner graphs stand at the outer ones."""
    for task in state.get("tasks") or ():
        if inside.asks(task):
            for interrupt in task["interrupts"]:
                yield _asked(interrupt, locked=bool(task.get("error")))


def listed(thread: dict[str, Any]) -> tuple[tuple[str, str], ...]:
    """(id, digest) of what a thread in a list seems to wait for."""
    found = (_asked(each) for task in (thread.get("interrupts") or {}).values() for each in task)
    return tuple((each.id, each.digest) for each in found)


def _asked(interrupt: dict[str, Any], *, locked: bool = False) -> Asked:
    payload, schema = interrupt.get("value"), interrupt.get("response_schema")
    mark = digest(payload if schema is None else [payload, schema])
    return Asked(str(interrupt["id"]), values.storable(payload), schema, mark, locked)


def origin(state: dict[str, Any]) -> str:
    """The id of the checkpoint to fork from, to have this state again.

    LangGraph forks no fork that is the last one, only what that was forked from.
    """
    is_fork = (state.get("metadata") or {}).get("source") == "fork"
    from_there = (state.get("parent_checkpoint") or {}).get("checkpoint_id")
    return str(from_there) if is_fork and from_there else checkpoint(state)


def waits(thread: dict[str, Any], state: dict[str, Any], own: dialects.Own | None) -> tuple[Pending, ...]:
    """What can be answered now: a breakpoint before anything else."""
    hold = held(thread, state)
    return (hold,) if hold else pending(state, own)


def pending(state: dict[str, Any], own: dialects.Own | None) -> tuple[Pending, ...]:
    """The questions that can be answered."""
    return tuple(_pending(each, checkpoint(state), own) for each in asked(state) if not each.locked)


def _pending(each: Asked, at: str, own: dialects.Own | None) -> Pending:
    reading = dialects.read(each.payload, own, each.schema)
    return Pending(
        interrupt_id=each.id,
        digest=each.digest,
        questions=reading.questions,
        context=reading.context,
        title=reading.title,
        expirable=reading.expirable,
        checkpoint=at,
        human_only=reading.human_only,
        unusable=reading.unusable,
        impossible=reading.impossible,
        **reading.deadline.said,
    )


def held(thread: dict[str, Any], state: dict[str, Any]) -> Pending | None:
    """The confirmation for steps that wait unasked: at a breakpoint, or because their run was stopped.

    Inside the graph of a step, others beside it may ask or have failed: an answer to these, or another try,
    would let the held ones run.
    """
    status = thread.get("status")
    found = [*inside.holds(state)] if status in ("interrupted", "error") else []
    if status == "interrupted" and not (found or _failed(state) or any(asked(state))):
        steps = tuple(state.get("next") or ())  # none are named of those that wait for several others to end
        found = [breakpoints.Hold(checkpoint(state), steps)]
    return breakpoints.ask(found, checkpoint(state)) if found else None


def stands(thread: dict[str, Any], state: dict[str, Any], own: dialects.Own | None) -> State | None:
    """Where the thread stands; None while a run works on it."""
    if thread.get("status") == "busy":
        return None
    if waiting := waits(thread, state, own):
        return Paused(waiting)
    if state.get("next") or is_half_done(state):
        return failed(thread, state)
    return Finished(values.storable(state.get("values") or {}))


def is_half_done(state: dict[str, Any]) -> bool:
    """Whether a step failed once it had given its output, where the next one is chosen or beside another.

    LangGraph takes it for one that has ended, and if it goes on, what comes next is left out.
    """
    return not state.get("next") and bool(_failed(state))


def failed(thread: dict[str, Any], state: dict[str, Any], secrets: Any = ()) -> Failed:
    """Why the thread's last run failed, in one line without what is in `secrets`."""
    texts = [_said(thread.get("error") or {}), *_failed(state)]
    error = _Remote(next(filter(None, texts), "The run failed on its server."))
    return Failed(values.error_line(error, secrets).removeprefix("_Remote: "))


def is_refused(ended: Ended, thread: dict[str, Any], state: dict[str, Any]) -> bool:
    """Whether the server refused the run's answer, because nothing of that id waited: it does so at once.

    Where nobody says any more why the run failed, a step that failed is the sign of an answer that was taken.
    """
    error = (ended.error or thread.get("error") or {}).get("error")
    return ended.status == "error" and (error == REFUSED if error else not _failed(state))


def _said(error: dict[str, Any]) -> str:
    return f"{error['error']}: {error.get('message', '')}".removesuffix(": ") if error.get("error") else ""


def _failed(state: dict[str, Any]) -> list[str]:
    return [str(task["error"]) for task in state.get("tasks") or () if task.get("error")]


class _Remote(Exception):
    """An error that was raised elsewhere; its own class stands in its text."""
