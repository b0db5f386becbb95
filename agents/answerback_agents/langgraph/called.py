"""Called: a graph that a step calls goes on where it paused only for the call that it paused in (law 1).

A step runs again from its start once it is answered, and calls its inner graphs again. LangGraph tells their
histories apart by the order of the calls, and those of graphs compiled with `checkpointer=True`, which have
one for a whole thread, by the names of the steps around. What a graph is called with it does not look at
then. So when two calls come in another order, what was approved for one is the result of the other; the
amount that was looked up anew is paid by the approval of the old one; and a step that failed before it called
its graph, and is tried again, is given what that said to an earlier step.

Here each history says which call it is of: the task, and what the graph was given. A call that comes in
another order finds its own. One with something else starts anew, and asks.
"""

import functools
import itertools
from collections.abc import Callable, Generator, Iterator
from typing import Any

from langchain_core.runnables import RunnableConfig
from langgraph.channels import UntrackedValue
from langgraph.channels.base import BaseChannel
from langgraph.checkpoint.base import CheckpointTuple
from langgraph.checkpoint.serde.types import INTERRUPT, TASKS
from langgraph.types import Command

from answerback.agent import digest
from answerback_agents.langgraph import once, taking, tooled, values
from answerback_agents.langgraph.taking import NAMESPACE, TASK

CALL = "answerback_call"  # in the metadata of an inner graph's checkpoints
# Private names of LangGraph's; the canary proves that they still do what they did.
RESUMING, AROUND, REPLAY = "__pregel_resuming", "checkpoint_map", "__pregel_replay_state"
GAPS = 2  # places in a row without a history, behind which there is none
# What is looked for, as a saver takes it, and what it finds.
Search = Generator[RunnableConfig, CheckpointTuple | None, None]
_Take = Callable[[str, str], bool]  # `Calls.take`, in this try of the step


def begin(loop: Any) -> Search:
    """A graph begins to run. Before LangGraph reads its history, this says which that is."""
    run = taking.current()
    if run is None or not loop.is_nested:
        return
    configurable = loop.config["configurable"]
    if not loop.checkpointer:
        run.calls.begin_unkept(configurable[NAMESPACE])
        return
    attempt = once.attempt(configurable)
    take = functools.partial(run.calls.take, attempt=attempt)
    tries_again = once.tries_again(configurable)
    looks = configurable.get(RESUMING) and (run.compares or tries_again) and not _is_addressed(loop)
    task = _as_of_its_step(take, loop, looks) or configurable[TASK]
    call = f"{task}:{_given(loop)}"
    if looks:
        own: str = loop.config["configurable"][NAMESPACE]
        if tries_again and f":{task}" in own:  # LangGraph goes on counting where the try before has ended
            own = next(itertools.islice(_all_places(_first(own)), run.calls.count(task, attempt), None))
        run.calls.anew |= yield from _find(take, loop, call, own)
    place = loop.config["configurable"][NAMESPACE]
    run.calls.begin(place, task, configurable.get(AROUND, {}), attempt)
    metadata = {**loop.checkpoint_config.get("metadata", {}), CALL: call}
    loop.checkpoint_config = {**loop.checkpoint_config, "metadata": metadata}


def _as_of_its_step(take: _Take, loop: Any, looks: bool) -> str:
    """The id of the `ToolNode`'s step, for a graph with one history for a thread that a tool of it calls.

    That history is the same whether the tool is a task or not. If it is not looked for, each call has the
    next one in its step, as LangGraph has it.
    """
    around, _, last = _first(loop.config["configurable"][NAMESPACE]).rpartition("|")
    if last != tooled.NAME:
        return ""
    step = tooled.step()
    _move(loop, around if looks else next(place for place in _all_places(around) if take(step, place)))
    return step


def _is_addressed(loop: Any) -> bool:
    """Whether LangGraph, or the step itself, says which history it goes on with."""
    configurable = loop.checkpoint_config["configurable"]
    told = loop.input is None or isinstance(loop.input, Command)
    return bool(told or configurable.get("checkpoint_id") or configurable.get(REPLAY))


def _find(
    take: _Take, loop: Any, call: str, own: str
) -> Generator[RunnableConfig, CheckpointTuple | None, bool]:
    """Have the graph go on with this call's history, or start anew; whether another call's was there.

    `own`: where this call has its history if it comes in its turn.
    """
    found = yield _at(loop, own)
    was = str(found.metadata.get(CALL, call)) if found else ""  # one of an older version does not say
    task = call.partition(":")[0]
    if was == call and take(task, own):
        _move(loop, own)
        return False
    free, gaps, others = list[str](), 0, own != _first(own)
    places = _all_places(_first(own))
    while gaps < GAPS:
        place = next(places)
        other = found if place == own else (yield _at(loop, place))
        if place != own and other and other.metadata.get(CALL) == call and take(task, place):
            _move(loop, place)
            return False
        if other:
            gaps, others = 0, others or place != own
        else:
            gaps, free = gaps + 1, [*free, place]
    # Where nothing was asked no answer is at stake: what has ended, or is half done, does not start again.
    stays = found and was.partition(":")[0] == task and (_is_finished(loop, found) or not others)
    if stays and not (yield from _has_asked(found, was)) and take(task, own):
        _move(loop, own)
        return False
    if found and f":{task}" not in own and take(task, own):
        _start(loop)  # on what it remembers, also of a step before
    else:
        # The first that nobody has: behind gaps a history is not found.
        _move(loop, next(place for place in itertools.chain(free, places) if take(task, place)))
    return bool(found)


def _has_asked(found: CheckpointTuple | None, call: str) -> Generator[RunnableConfig, Any, bool]:
    """Whether something was asked in this call's history."""
    while found and found.metadata.get(CALL) == call:
        if any(channel == INTERRUPT for _, channel, _ in found.pending_writes or ()):
            return True
        found = (yield found.parent_config) if found.parent_config else None
    return False


def _is_finished(loop: Any, found: CheckpointTuple) -> bool:
    """Whether no step is to run: none has a trigger that it has not seen, and nothing was sent."""
    versions, values = found.checkpoint["channel_versions"], found.checkpoint["channel_values"]
    seen = found.checkpoint["versions_seen"]
    due = (
        trigger in values and versions[trigger] != seen.get(name, {}).get(trigger)
        for name, node in loop.nodes.items()
        for trigger in node.triggers
    )
    return not values.get(TASKS) and not any(due)


def _at(loop: Any, place: str) -> RunnableConfig:
    return _in(loop.checkpoint_config, place)


def _in(config: RunnableConfig, place: str) -> RunnableConfig:
    """The same config for another history."""
    moved = config.copy()
    moved["configurable"] = {**config["configurable"], NAMESPACE: place}
    return moved


def _first(own: str) -> str:
    """Where the first call of a task has its history, of any one's."""
    before, _, last = own.rpartition("|")
    return before if last.isdigit() else own


def _all_places(first: str) -> Iterator[str]:
    return itertools.chain([first], (f"{first}|{number}" for number in itertools.count(1)))


def _move(loop: Any, place: str) -> None:
    loop.config, loop.checkpoint_config = _in(loop.config, place), _in(loop.checkpoint_config, place)
    loop.checkpoint_ns = tuple(place.split("|"))


def _start(loop: Any) -> None:
    configurable = {key: value for key, value in loop.config["configurable"].items() if key != RESUMING}
    loop.config = {**loop.config, "configurable": configurable}


def _given(loop: Any) -> str:
    """The digest of what a graph is called with, as its saver gives it back, as far as the graph takes it.

    What no checkpoint keeps is not there when the step runs again: how many steps remain, for example.
    """
    if loop.input is None or isinstance(loop.input, Command):
        return ""
    said = values.kept(loop.input, loop.checkpointer)
    if isinstance(said, dict) and loop.specs.keys() & said.keys():  # a state, not what a function takes
        said = {key: value for key, value in said.items() if _is_kept(loop.specs.get(key))}
    return digest(said)


def _is_kept(channel: Any) -> bool:
    return isinstance(channel, BaseChannel) and not isinstance(channel, UntrackedValue)
