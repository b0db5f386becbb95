"""Evidence: what a thread's checkpoints say about an interrupt: waiting, locked in, consumed, or nothing.

LangGraph keeps, for each task of the open superstep, its last question (`INTERRUPT`), the answers it got
(`RESUME`, a list), its error and its output. A task is finished when it has output. A question's id is the
hash of its task's namespace and of how many answers the task had, so `RESUME` at that position answers it.
The error handler of a step that failed is a task beside it, with a namespace within the step's.
"""

from collections.abc import Collection, Iterator, Mapping
from dataclasses import dataclass, field
from typing import Any

from langgraph.checkpoint.base import CheckpointTuple
from langgraph.checkpoint.serde.types import ERROR, INTERRUPT, RESUME
from langgraph.types import Interrupt

from answerback_agents.langgraph.asked import digest_of, id_of
from answerback_agents.langgraph.tasks import Numbered

NULL_TASK = "00000000-0000-0000-0000-000000000000"
# A task that is none: beside a checkpoint it holds what open tasks asked before their last question.
ASKED_BEFORE = "00000000-0000-0000-0000-0000616e7377"
HANDLED = "__error_source_node__"  # the name of a step that failed and has an error handler
CONTROL = frozenset({ERROR, INTERRUPT, RESUME, HANDLED})
NOTHING = object()
UNKNOWN = object()  # an answer that is not stored where it was taken


@dataclass(frozen=True, slots=True)
class Names:
    """Of a graph's steps, inner graphs' too, and of the functional API's tasks that they may call."""

    steps: frozenset[str]
    tasks: frozenset[str] = frozenset()


NO_NAMES = Names(frozenset())


_Start = tuple[str, Collection[str]]


@dataclass(slots=True)
class Task:
    """One task of a superstep, as its writes tell."""

    id: str
    interrupts: list[Interrupt[Any]] = field(default_factory=list)
    answers: list[Any] = field(default_factory=list)
    failed: bool = False
    finished: bool = False
    handled: str = ""  # its step's name, if that failed and has an error handler


def checkpoint_id(found: CheckpointTuple) -> str:
    return str(found.config["configurable"]["checkpoint_id"])


def namespace_of(found: CheckpointTuple) -> str:
    """That of its graph: "" for the outermost one."""
    return str(found.config["configurable"].get("checkpoint_ns", ""))


def tasks(found: CheckpointTuple) -> list[Task]:
    """The tasks that have run in the superstep that starts at this checkpoint."""
    known: dict[str, Task] = {}
    for task_id, channel, value in found.pending_writes or ():
        if task_id in (NULL_TASK, ASKED_BEFORE):
            continue
        task = known.setdefault(task_id, Task(task_id))
        if channel == INTERRUPT:
            task.interrupts = list(value) if isinstance(value, list | tuple) else [value]
        elif channel == RESUME:
            task.answers = list(value) if isinstance(value, list | tuple) else [value]
        elif channel == ERROR:
            task.failed = True
        elif channel == HANDLED:
            task.handled, task.finished = str(value), True
        elif channel not in CONTROL:
            task.finished = True
    return list(known.values())


def asked(found: CheckpointTuple) -> dict[str, str]:
    """By interrupt id, the digests of what the tasks of this superstep have asked, where known."""
    last = (interrupt for task in tasks(found) for interrupt in task.interrupts)
    return {**asked_before(found), **{interrupt.id: digest_of(interrupt) for interrupt in last}}


def asked_before(found: CheckpointTuple) -> dict[str, str]:
    """Those of what they asked before their last question; `Runs` writes them down."""
    return {key: value for key, value in _kept(found).items() if isinstance(value, str)}


def called_before(found: CheckpointTuple) -> dict[str, Numbered]:
    """The tasks that steps of this superstep have called, by the id of the step's task."""
    kept = {step: calls for step, calls in _kept(found).items() if not isinstance(calls, str)}
    return {
        step: {number: (called, asked) for number, called, asked in calls} for step, calls in kept.items()
    }


def to_keep(asked: Mapping[str, str], called: Mapping[str, Numbered]) -> list[tuple[str, Any]]:
    """What `asked_before` and `called_before` read, as a saver writes it under `ASKED_BEFORE`."""
    calls = {step: [[number, *call] for number, call in each.items()] for step, each in called.items()}
    return [(RESUME, {**asked, **calls})]


def _kept(found: CheckpointTuple) -> dict[str, Any]:
    kept = (value for task_id, _, value in found.pending_writes or () if task_id == ASKED_BEFORE)
    return next(kept, {})


def going_on(found: CheckpointTuple) -> set[str]:
    """The ids of the tasks that have begun here and have not ended."""
    return {task.id for task in tasks(found) if not task.finished}


def still_open(found: CheckpointTuple, taken: Mapping[str, tuple[str, str]]) -> dict[str, str]:
    """Of what was answered (digest and namespace, by interrupt id), what tasks that go on here had asked."""
    open_tasks = going_on(found)
    return {
        interrupt_id: digest
        for interrupt_id, (digest, place) in taken.items()
        if open_tasks & {step.rpartition(":")[2] for step in place.split("|")}
    }


def is_half_way(found: CheckpointTuple) -> bool:
    """Whether steps have ended here and the checkpoint after them was not put: what follows is still to run.

    LangGraph then names no next step, as it does at the end.
    """
    return any(task.finished for task in tasks(found))


def open_questions(found: CheckpointTuple, names: Names) -> dict[str, tuple[Interrupt[Any], bool]]:
    """The interrupts that are not consumed here, by id; beside each, whether it may be answered all the same.

    There is no doubt about a question of a task's own while the task has not failed: an answer is stored
    only when the task ends, asks again or fails. A question of an inner graph stays named here while that
    graph has long gone on. An id that a finished task holds is consumed, although a task around it may still
    name it (functional API: killed between a task's end and the entrypoint's next question).
    """
    known = tasks(found)
    over = {interrupt.id for task in known if task.finished for interrupt in task.interrupts}
    asked: dict[str, tuple[Interrupt[Any], bool]] = {}
    starts = _starts(namespace_of(found), known, names)
    for task in known:
        for interrupt in () if task.finished else task.interrupts:
            if interrupt.id not in over:
                places = _places(starts, task)
                own = any(id_of(place, len(task.answers)) == interrupt.id for place in places)
                doubt = task.failed or not own
                asked[interrupt.id] = (interrupt, doubt)
    return asked


def hidden(window: Collection[CheckpointTuple]) -> Iterator[tuple[str, str, Interrupt[Any]]]:
    """The questions that inner graphs wait for, and that no step names here: each with the id of the step's
    task, and with the namespace of the graph that asks.

    A step names what it asked when it paused last. If it runs again and pauses by something else before all
    that it calls has got as far as it was, that is not all. Nor does it say which of this still waits: a call
    may not come again. `window`: all that came with the last checkpoint, the newest first.
    """
    newest, depth = dict[str, CheckpointTuple](), dict[str, int]()
    over, ended = set[str](), set[str]()
    for found in window:
        place = namespace_of(found)
        newest.setdefault(place, found)
        for task in tasks(found):
            asked = [interrupt.id for interrupt in task.interrupts]
            depth.update({each: max(depth.get(each, 0), _depth(place)) for each in asked})
            if task.finished or task.failed:
                over.add(task.id)
                ended.update(asked)
    named = {interrupt.id for task in tasks(newest.pop("")) for interrupt in task.interrupts}
    for place, found in newest.items():
        around = [part.rpartition(":")[2] for part in place.split("|")]
        waits = (task for task in tasks(found) if not over & {task.id, *around})
        for interrupt in (interrupt for task in waits for interrupt in task.interrupts):
            if interrupt.id not in named | ended and depth[interrupt.id] == _depth(place):
                yield around[0], place, interrupt


def _depth(place: str) -> int:
    return place.count("|") + 1 if place else 0


def given_answer(window: Collection[CheckpointTuple], names: Names, interrupt_id: str) -> Any:
    """The answer stored for this interrupt in any of these checkpoints, or `NOTHING`."""
    located = False
    for task, places in _all_tasks(window, names):
        for place in places:
            for position in range(len(task.answers) + 1):
                if id_of(place, position) == interrupt_id:
                    located = True
                    if position < len(task.answers):
                        return task.answers[position]
    return NOTHING if located else _last_answer(window, interrupt_id)


def ended_with(window: Collection[CheckpointTuple], names: Names, interrupt_id: str) -> bool:
    """Whether a task has finished whose last question this was: then it was given an answer to it.

    Which one is not stored: savers keep the answers that a task had when it last asked, and pass over those
    that come with its output. The next checkpoint says more; killed before that was put, this is all.
    """
    return any(
        id_of(place, len(task.answers)) == interrupt_id
        for task, places in _all_tasks(window, names)
        if task.finished
        for place in places
    )


def _last_answer(window: Collection[CheckpointTuple], interrupt_id: str) -> Any:
    """For tasks whose name nobody knows (made as a function runs): the last answer of one that asked this."""
    for task, _ in _all_tasks(window):
        asked = any(interrupt.id == interrupt_id for interrupt in task.interrupts)
        if asked and task.answers and (task.failed or task.finished):
            return task.answers[-1]
    return NOTHING


def _all_tasks(
    window: Collection[CheckpointTuple], names: Names = NO_NAMES
) -> Iterator[tuple[Task, Iterator[str]]]:
    """All tasks of these checkpoints, each with the namespaces that it may have."""
    for found in window:
        known = tasks(found)
        starts = _starts(namespace_of(found), known, names)
        for task in known:
            yield task, _places(starts, task)


def _starts(namespace: str, known: Collection[Task], names: Names) -> list[_Start]:
    """What a task's namespace may begin with, and the names that it may have then: a step of its graph, the
    error handler of a step that failed beside it, or a task that a step called."""
    graph = f"{namespace}|" if namespace else ""
    handlers = [(f"{graph}{failed.handled}:{failed.id}|", names.steps) for failed in known if failed.handled]
    called = [
        (f"{graph}{name}:{step.id}|", names.tasks)
        for step in known
        for name in (names.steps | names.tasks if names.tasks and step.interrupts else ())
    ]
    return [(graph, names.steps), *handlers, *called]


def _places(starts: Collection[_Start], task: Task) -> Iterator[str]:
    """The namespaces that it may have."""
    return (f"{start}{name}:{task.id}" for start, names in starts for name in names)
