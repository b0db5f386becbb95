"""Tasked: a task of the functional API gives what it was told to the same call alone (law 1).

A function runs again from its start once it is answered, and calls its tasks again. LangGraph gives those
that have ended their results back by the number of the call, whatever it is called with: so what was approved
for one amount is paid for another that was looked up since, or that came first this time. And a step with a
`retry_policy` that tries again calls all its tasks anew, also those that have ended or have asked.
"""

import contextvars
import functools
from collections.abc import Callable
from typing import Any

from langgraph.errors import GraphBubbleUp
from langgraph.func import _TaskFunction
from langgraph.pregel import _runner
from langgraph.pregel._loop import PregelLoop

from answerback.agent import digest
from answerback_agents.langgraph import once, taking, values
from answerback_agents.langgraph.taking import NAMESPACE
from answerback_agents.langgraph.tasks import Made

# Private names of LangGraph's.
_ACCEPT, _CALLS = "accept_push", ("_call", "_acall")
_names: set[str] = set()
_making: contextvars.ContextVar[Made | None] = contextvars.ContextVar("making", default=None)


def install() -> None:
    """Have runs of ours tell the calls of tasks apart by what they are called with, and make none again when
    a step tries again. Once a process is enough."""
    for module, name, around in (
        (PregelLoop, _ACCEPT, _numbered),
        *((_runner, name, _made_once) for name in _CALLS),
        (_TaskFunction, "__init__", _named),
    ):
        original = getattr(module, name)
        if not hasattr(original, "__wrapped__"):
            setattr(module, name, around(original))


def names() -> set[str]:
    """Those of the tasks that have been made since, also within functions."""
    return set(_names)


def _named(make: Callable[..., None]) -> Callable[..., None]:
    @functools.wraps(make)
    def making(function: Any, *given: Any, **how: Any) -> None:
        make(function, *given, **how)
        _names.add(getattr(function, "__name__", ""))

    return making


def _made_once(call: Callable[..., Any]) -> Callable[..., Any]:
    """A step calls a task: when it tries again it is given what it called before, unless that has failed."""

    @functools.wraps(call)
    def calling(step: Any, func: Any, given: Any, **how: Any) -> Any:
        run, task = taking.current(), step()
        if run is None or task is None or not task.retry_policy:
            return call(step, func, given, **how)
        called = digest([_name(func), values.plain(given)])
        made = run.tasks.make(task.id, once.attempt(taking.told()), called)
        if made.future is None or _has_failed(made.future):
            token = _making.set(made)
            try:
                made.future = call(step, func, given, **how)
            finally:
                _making.reset(token)
        return made.future

    return calling


def _has_failed(future: Any) -> bool:
    if not future.done():
        return False
    return future.cancelled() or not isinstance(future.exception(), GraphBubbleUp | None)


def _numbered(accept: Callable[..., Any]) -> Callable[..., Any]:
    @functools.wraps(accept)
    def accept_call(loop: Any, task: Any, number: int, call: Any = None) -> Any:
        run = taking.current()
        if run is None or call is None:
            return accept(loop, task, number, call)
        place = task.config["configurable"][NAMESPACE]
        made = _making.get()
        if made is None or made.step != task.id:  # what a task calls begins in the context of its own call
            made = Made(task.id)
        if made.number is None:
            called = _called(loop, call)
            made.number = run.tasks.number(task.id, place, number, called, loop, run.calls.asking)
        number = made.number
        pushed = accept(loop, task, number, call)
        if pushed is not None:
            run.tasks.runs(task.id, number, pushed.id)
        return pushed

    return accept_call


def _called(loop: Any, call: Any) -> str:
    """The digest of a call, as the saver gives back what it is called with."""
    return digest([_name(call.func), values.kept(call.input, loop.checkpointer)])


def _name(func: Any) -> str:
    return getattr(func, "__qualname__", "")
