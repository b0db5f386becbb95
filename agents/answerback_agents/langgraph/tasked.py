"""Tasked: a task of the functional API gives what it was told to the same call alone (law 1).

A function runs again from its start once it is answered, and calls its tasks again. LangGraph gives those
that have ended their results back by the number of the call, whatever it is called with: so what was approved
for one amount is paid for another that was looked up since, or that came first this time.
"""

import functools
from typing import Any

from langgraph.pregel._loop import PregelLoop

from answerback.agent import digest
from answerback_agents.langgraph import taking, values
from answerback_agents.langgraph.called import NAMESPACE

_ACCEPT = "accept_push"


def install() -> None:
    """Have runs of ours number the calls of tasks by what they are called with. Once a process is enough."""
    accept = getattr(PregelLoop, _ACCEPT)
    if hasattr(accept, "__wrapped__"):
        return

    @functools.wraps(accept)
    def accept_call(loop: Any, task: Any, number: int, call: Any = None) -> Any:
        run = taking.current()
        if run is None or call is None:
            return accept(loop, task, number, call)
        place = task.config["configurable"][NAMESPACE]
        number = run.tasks.number(task.id, place, number, _called(loop, call))
        pushed = accept(loop, task, number, call)
        if pushed is not None:
            run.tasks.runs(task.id, number, pushed.id)
        return pushed

    setattr(PregelLoop, _ACCEPT, accept_call)


def _called(loop: Any, call: Any) -> str:
    """The digest of a call, as the saver gives back what it is called with."""
    return digest([getattr(call.func, "__qualname__", ""), values.kept(call.input, loop.checkpointer)])
