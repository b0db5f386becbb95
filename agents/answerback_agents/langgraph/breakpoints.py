"""Static breakpoints (`interrupt_before`, `interrupt_after`): found in a thread's state, asked as yes or no.

A breakpoint leaves no interrupt behind, only a checkpoint with a next step: exactly what a crash between two
steps leaves. So a held step is never run unless somebody said yes to this very checkpoint.
"""

from collections.abc import Iterable
from dataclasses import dataclass
from typing import Any

from langgraph.pregel import Pregel
from langgraph.types import PregelTask, StateSnapshot

from answerback.agent import Pending, digest
from answerback.model import Question, QuestionKind

PREFIX = "breakpoint:"
QUESTION_ID = "q1"
STUCK = (
    "A breakpoint (interrupt_before, interrupt_after) in a graph that a step calls holds this run, and no "
    "yes lets it go on. Make that graph itself the step, or take the breakpoint out."
)
Graph = Pregel[Any, Any, Any, Any]


@dataclass(frozen=True, slots=True)
class Hold:
    """Steps that a breakpoint holds back, () where nobody knows their names; `after`: the steps whose end it
    waits behind.
    """

    checkpoint: str
    steps: tuple[str, ...]
    after: tuple[str, ...] = ()


def has_breakpoints(graph: Graph) -> bool:
    """Whether the graph or one inside it has a static breakpoint at all."""
    graphs: list[Any] = [graph, *(inner for _, inner in graph.get_subgraphs(recurse=True))]
    return any(found.interrupt_before_nodes or found.interrupt_after_nodes for found in graphs)


async def holds(graph: Graph, config: Any) -> list[Hold]:
    """What breakpoints hold back on the thread now, in the graph and in those inside it."""
    snapshot = await graph.aget_state(config, subgraphs=True)
    return await _holds(graph, graph, snapshot)


async def _holds(root: Graph, graph: Any, snapshot: StateSnapshot) -> list[Hold]:
    """At the end of a graph in a step, which goes on behind it, there is no next step either."""
    if snapshot.metadata is None or (graph is root and not snapshot.next):
        return []
    found: list[Hold] = []
    if not _passed(snapshot):
        before = _named(snapshot.next, graph.interrupt_before_nodes)
        after = await _ran_before(root, graph, snapshot)
        if before or after:
            checkpoint = snapshot.config["configurable"]["checkpoint_id"]
            found.append(Hold(checkpoint, before or snapshot.next, () if before else after))
    inner = dict(graph.get_subgraphs())
    for task in snapshot.tasks:
        if task.name in inner and task.result is None and (state := _state_of(snapshot, task)):
            found += await _holds(root, inner[task.name], state)
    return found


def _passed(snapshot: StateSnapshot) -> bool:
    """Whether the step has been begun: one of its tasks asked, failed, ended, or has a state of its own."""
    begun = any(task.error or task.interrupts or _state_of(snapshot, task) for task in snapshot.tasks)
    return begun or len(snapshot.next) < len(snapshot.tasks)


def _state_of(snapshot: StateSnapshot, task: PregelTask) -> StateSnapshot | None:
    """The state of a step's own graph, if the graph has begun in this step.

    One that is compiled with `checkpointer=True` has a single history for its thread: until it begins, what
    is there is of an earlier step, or of an earlier run. A checkpoint names those around it as its parents.
    """
    if not isinstance(task.state, StateSnapshot) or task.state.metadata is None:
        return None
    around = snapshot.config["configurable"]
    parents = task.state.metadata.get("parents", {})
    is_of_now = parents.get(around.get("checkpoint_ns", "")) == around["checkpoint_id"]
    return task.state if is_of_now else None


def _named(names: Iterable[str], nodes: Any) -> tuple[str, ...]:
    return tuple(dict.fromkeys(name for name in names if nodes == "*" or name in nodes))


async def _ran_before(root: Graph, graph: Any, snapshot: StateSnapshot) -> tuple[str, ...]:
    """The steps with a breakpoint after them that led to this checkpoint."""
    made_by_steps = snapshot.metadata is not None and snapshot.metadata.get("source") == "loop"
    if not (graph.interrupt_after_nodes and made_by_steps and snapshot.parent_config):
        return ()
    earlier = await root.aget_state(snapshot.parent_config)
    names = (task.name for task in earlier.tasks if not task.name.startswith("__"))
    return _named(names, graph.interrupt_after_nodes)


def ask(held: list[Hold], checkpoint: str) -> Pending:
    """The confirmation that lets the held steps run: bound to the newest checkpoint that holds them."""
    newest = max(hold.checkpoint for hold in held)
    steps = _spoken(dict.fromkeys(step for hold in held for step in hold.steps))
    after = _spoken(dict.fromkeys(step for hold in held for step in hold.after))
    if after:
        text = f"{after} is done. Go on with {steps}?" if steps else f"{after} is done. Go on?"
    else:
        text = f"The next step is {steps}. Go on?" if steps else "Go on with the next step?"
    bound = [[hold.checkpoint, list(hold.steps), list(hold.after)] for hold in held]
    question = Question(QUESTION_ID, text, QuestionKind.CONFIRM, files=False)
    return Pending(PREFIX + newest, digest({"breakpoint": bound}), (question,), checkpoint=checkpoint)


def _spoken(names: Iterable[str]) -> str:
    return " and ".join(f"“{name}”" for name in names)


def steps(held: list[Hold]) -> str:
    """The names of the steps that are held back, or what to call them."""
    return _spoken(dict.fromkeys(step for hold in held for step in hold.steps)) or "the next step"
