"""Entered: what is done as a graph that a step calls begins to run, and as it pauses or ends.

It finds its own history (`called`), says where it runs (`calls`), and pauses with those beside it (`beside`).
"""

import contextlib
import functools
from collections.abc import Awaitable, Callable, Iterator
from typing import Any

from langchain_core.runnables import RunnableConfig
from langgraph.checkpoint.base import CheckpointTuple
from langgraph.errors import GraphInterrupt
from langgraph.pregel._loop import AsyncPregelLoop, SyncPregelLoop

from answerback_agents.langgraph import called, once, taking
from answerback_agents.langgraph.calls import soon, soon_in_thread
from answerback_agents.langgraph.taking import NAMESPACE, TASK

# The attributes of a graph that runs: which run of ours it belongs to, and what runs beside it.
RUN, BESIDE = "answerback_run", "answerback_beside"
BEFORE = 3.0  # seconds for which a try of a step waits for what the try before has left running


def install() -> None:
    """Have inner graphs in runs of ours find their own history. Once a process is enough."""
    for loop, name, around in (
        (SyncPregelLoop, "__enter__", _entering),
        (SyncPregelLoop, "__exit__", _leaving),
        (AsyncPregelLoop, "__aenter__", _entering_async),
        (AsyncPregelLoop, "__aexit__", _leaving_async),
    ):
        original = getattr(loop, name)
        if not hasattr(original, "__wrapped__"):
            setattr(loop, name, around(original))


def _entering(enter: Callable[[Any], Any]) -> Callable[[Any], Any]:
    @functools.wraps(enter)
    def entering(loop: Any) -> Any:
        with _beginning(loop):
            if (left := _left(loop)) is not None:
                soon_in_thread(lambda: not left(), BEFORE)
            search = called.begin(loop)
            wanted = next(search, None)
            while wanted is not None:
                wanted = _next(search, loop.checkpointer.get_tuple(wanted))
            _runs(loop)
            return enter(loop)

    return entering


def _leaving(leave: Callable[..., Any]) -> Callable[..., Any]:
    @functools.wraps(leave)
    def leaving(loop: Any, *raised: Any) -> Any:
        try:
            left = leave(loop, *raised)
            if (paused := _paused(loop, raised)) is not None:
                beside, step = vars(loop)[BESIDE]
                paused.args = (beside.pauses_in_thread(step, paused.args[0]),)
            return left
        finally:
            _ended(loop)

    return leaving


def _entering_async(enter: Callable[[Any], Awaitable[Any]]) -> Callable[[Any], Awaitable[Any]]:
    @functools.wraps(enter)
    async def entering(loop: Any) -> Any:
        with _beginning(loop):
            if (left := _left(loop)) is not None:
                await soon(lambda: not left(), BEFORE)
            search = called.begin(loop)
            wanted = next(search, None)
            while wanted is not None:
                wanted = _next(search, await loop.checkpointer.aget_tuple(wanted))
            _runs(loop)
            return await enter(loop)

    return entering


def _leaving_async(leave: Callable[..., Awaitable[Any]]) -> Callable[..., Awaitable[Any]]:
    @functools.wraps(leave)
    async def leaving(loop: Any, *raised: Any) -> Any:
        try:
            left = await leave(loop, *raised)
            if (paused := _paused(loop, raised)) is not None:
                beside, step = vars(loop)[BESIDE]
                paused.args = (await beside.pauses(step, paused.args[0]),)
            return left
        finally:
            _ended(loop)

    return leaving


def is_ours(loop: Any) -> bool:
    """Whether a graph runs in a run of ours. A thread in which one of its steps has ended does not know."""
    return taking.is_ours() or RUN in vars(loop)


@contextlib.contextmanager
def _beginning(loop: Any) -> Iterator[None]:
    """It begins to run, unless what is done here raises."""
    run = taking.current()
    if run is not None and loop.is_nested:
        # The id of a try is nobody else's as long as a graph runs in it.
        step = f"{loop.config['configurable'][TASK]}:{id(_try_of(loop))}"
        setattr(loop, BESIDE, (run.calls.beside, step))
        run.calls.beside.begins(step)
    try:
        yield
    except BaseException:
        _ended(loop)
        raise


def _left(loop: Any) -> Callable[[], bool] | None:
    """Whether an earlier try of the step has left a graph running, whose history this one may go on with."""
    run = taking.current()
    if run is None or not loop.is_nested:
        return None
    return functools.partial(run.calls.is_left, loop.config["configurable"][TASK], _try_of(loop))


def _try_of(loop: Any) -> object:
    return once.attempt(loop.config["configurable"])


def _runs(loop: Any) -> None:
    """From here on it runs, with the history that it has now."""
    run = taking.current()
    if run is not None and loop.is_nested:
        place = loop.config["configurable"][NAMESPACE]
        setattr(loop, RUN, (run.calls, place))
        run.calls.runs(place, 1)


def _paused(loop: Any, raised: tuple[Any, ...]) -> GraphInterrupt | None:
    """What it pauses by, if it does."""
    error = raised[1]
    return error if BESIDE in vars(loop) and isinstance(error, GraphInterrupt) else None


def _ended(loop: Any) -> None:
    if found := vars(loop).pop(RUN, None):
        calls, place = found
        calls.runs(place, -1)
    if found := vars(loop).pop(BESIDE, None):
        beside, step = found
        beside.ends(step)


def _next(search: called.Search, found: CheckpointTuple | None) -> RunnableConfig | None:
    try:
        return search.send(found)
    except StopIteration:
        return None
