"""Tooled: each call that a `ToolNode` makes is a task of its own, as it is for an agent of LangChain's.

A model may call several tools in one turn, and a `ToolNode` runs them all in one step. LangGraph runs a step
again from its start each time that something in it is answered: what one call was told to pay is paid again
when the next one is answered, and a call that asks nothing does again what it did. It also knows the
questions of a step by their order alone, which is that of the quicker tools. As tasks, the calls ask side by
side, each gets its own answer, and what has ended does not run again.
"""

import asyncio
import concurrent.futures
import contextlib
import contextvars
import dataclasses
import functools
import math
import sys
from collections.abc import Callable, Iterator
from typing import Any

from langchain_core.runnables import RunnableConfig
from langgraph.config import get_config
from langgraph.errors import ParentCommand
from langgraph.func import task

from answerback.errors import ConfigurationError
from answerback_agents.langgraph import taking, values

NAME = "tool call"  # of the task that one call is
# Private names of LangGraph's and of `ToolNode`'s.
_SAVER, _CALLS, _IN_THREADS, _LOOP = "__pregel_checkpointer", "__pregel_call", "_call", "loop"
_MODULE, _READ = "langgraph.prebuilt.tool_node", "_parse_input"
_CALL, _POOL = "_arun_one", "get_executor_for_config"
_OURS = "answerback"  # the attribute of what replaces these
_RESULT, _RAISED = "result", "raised"  # what a call may give: the latter for a graph around
MOST_IN_THREADS = 4  # steps that wait: a pool of Python's has five threads at least
_task: Any = task(name=NAME)
_several: contextvars.ContextVar[bool] = contextvars.ContextVar("several", default=False)
_step: contextvars.ContextVar[str] = contextvars.ContextVar("step", default="")


def is_used() -> bool:
    """Whether something here has imported `ToolNode`."""
    return _MODULE in sys.modules


def install() -> None:
    """Have `ToolNode` do so in runs of ours, if it is used. More than once a process is harmless.

    Raises `ConfigurationError` for a version of LangGraph that is not known to do it.
    """
    if not is_used():
        return
    module = sys.modules[_MODULE]
    for place, name, around in (
        (module.ToolNode, _READ, _counting),
        (module.ToolNode, _CALL, _as_task),
        (module, _POOL, _as_tasks),
    ):
        original = getattr(place, name, None)
        if original is None:
            raise ConfigurationError(
                "with this version of langgraph-prebuilt, a tool could run again for the answer to another "
                "one; install langgraph in a version that answerback was tested with"
            )
        if not getattr(original, _OURS, False):
            replaced = around(original)
            setattr(replaced, _OURS, True)
            setattr(place, name, replaced)


def step() -> str:
    """The id of the step that is the `ToolNode` of what runs here."""
    return _step.get()


def _counting(read: Any) -> Any:
    @functools.wraps(read)
    def reading(node: Any, given: Any) -> Any:
        calls, kind = read(node, given)
        _several.set(len(calls) > 1)
        if taking.is_ours():
            _step.set(taking.told().get(taking.TASK, ""))
        return calls, kind

    return reading


def _as_task(run_one: Any) -> Any:
    @functools.wraps(run_one)
    async def running(node: Any, call: Any, kind: Any, runtime: Any) -> Any:
        made: dict[str, Any] = {}

        async def tool(called: Any) -> Any:
            with _leaves(made):
                made[_RESULT] = await run_one(node, called, kind, _here(runtime))
            return _kept(made)

        with _waits(math.inf if _is_at_home() else 0) as may_wait:
            given = (await _task(tool)(call) if may_wait else {}) or made
        return _taken(given) if given else await run_one(node, call, kind, runtime)

    return running


def _as_tasks(pool: Any) -> Any:
    """The same for `invoke`, of it or of a graph around it: of what `ToolNode` has its calls run in."""

    @functools.wraps(pool)
    @contextlib.contextmanager
    def opened(config: RunnableConfig) -> Iterator[Any]:
        kind = _turn()
        with _waits(kind.most if kind else 0) as may_wait:
            if kind and may_wait:
                yield kind()
                return
        with pool(config) as threads:
            yield threads

    return opened


class _Turn:
    """The calls of one turn: all have begun before one of them may end the step."""

    most: float = MOST_IN_THREADS  # steps that may wait at a time

    def map(self, run_one: Any, *columns: Any) -> list[Any]:
        begun = [self._begin(run_one, *each) for each in zip(*columns, strict=True)]
        return [end() for end in begun]

    def _begin(self, run_one: Any, call: Any, kind: Any, runtime: Any) -> Callable[[], Any]:
        made: dict[str, Any] = {}

        def tool(called: Any) -> Any:
            with _leaves(made):
                made[_RESULT] = run_one(called, kind, _here(runtime))
            return _kept(made)

        future = _task(self._run(tool))(call)

        def end() -> Any:
            given = future.result() or made
            return _taken(given) if given else run_one(call, kind, runtime)

        return end

    def _run(self, tool: Callable[[Any], Any]) -> Callable[[Any], Any]:
        return tool


class _TurnOfAStep(_Turn):
    """The same in the thread of a step, of a graph that runs in an event loop.

    Its tasks would have the threads that its steps have, all of which may wait. So a call has one of its own.
    """

    most = math.inf

    def _run(self, tool: Callable[[Any], Any]) -> Callable[[Any], Any]:
        async def tool_in_thread(called: Any) -> Any:
            thread = concurrent.futures.ThreadPoolExecutor(1, NAME)
            try:
                run = contextvars.copy_context().run
                return await asyncio.get_running_loop().run_in_executor(thread, run, tool, called)
            finally:
                thread.shutdown(wait=False)  # a run that is stopped does not wait for it

        return tool_in_thread


@contextlib.contextmanager
def _leaves(made: dict[str, Any]) -> Iterator[None]:
    """A graph in a tool may end the call by what it says to the graph around: that of the `ToolNode`."""
    try:
        yield
    except ParentCommand as raised:
        command = raised.args[0]
        is_next = command.graph == taking.told()[taking.NAMESPACE]  # our task, which is no graph
        made[_RAISED] = dataclasses.replace(command, graph=None) if is_next else command


@contextlib.contextmanager
def _waits(most: float) -> Iterator[bool]:
    """Whether this call is one of several in a run of ours, and its step may wait for its task.

    A step that waits holds a place, and its task needs one too. So of a graph's steps one less may wait than
    there are places, and no more than `most`; what comes beyond that runs as LangGraph has it.
    """
    run = taking.current()
    if run is None or not _several.get() or not {_CALLS, taking.TASK} <= taking.told().keys():
        yield False
        return
    most = min(most, (get_config().get("max_concurrency") or math.inf) - 1)
    graph = taking.told()[taking.NAMESPACE].rpartition("|")[0]  # each has a pool of its own
    with run.tasks.waits(graph, taking.told()[taking.TASK], most) as may_wait:
        yield may_wait


def _is_at_home() -> bool:
    """Whether the event loop here is that of the run, not one which a step runs by itself."""
    calls = taking.told().get(_CALLS)
    return getattr(calls, "keywords", {}).get(_LOOP) is asyncio.get_running_loop()


def _turn() -> type[_Turn] | None:
    """How the calls of this turn run, if they can: a step that holds up its event loop cannot wait."""
    calls = taking.told().get(_CALLS)
    if getattr(getattr(calls, "func", None), "__name__", "") == _IN_THREADS:
        return _Turn
    try:
        asyncio.get_running_loop()
    except RuntimeError:
        return _TurnOfAStep
    return None


def _here(runtime: Any) -> Any:
    """What a tool is told about where it runs: in its task."""
    return dataclasses.replace(runtime, config=get_config())


def _kept(made: dict[str, Any]) -> dict[str, Any]:
    """What a call gave, if the graph's saver can keep it; otherwise the call runs again with its step."""
    try:
        again = values.given_back(made, taking.told()[_SAVER])
        is_same = all(type(again[key]) is type(value) for key, value in made.items())
    except Exception:
        return {}
    return made if is_same else {}


def _taken(given: dict[str, Any]) -> Any:
    if _RESULT in given:
        return given[_RESULT]
    command = given[_RAISED]
    raise ParentCommand(dataclasses.replace(command, graph=command.graph or taking.told()[taking.NAMESPACE]))
