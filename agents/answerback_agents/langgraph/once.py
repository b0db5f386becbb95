"""Once: what a run brings to a task answers one question of it, also where the task begins again in that run.

It does when its step tries again: then `tasked` and `called` have it go on with the answers that it had. Of
what the run has brought LangGraph gives it once more what goes by its first question's id, because older
versions gave that id to all of a task's questions (1.2.20 to 1.2.24). So the yes to "Pay?" would answer "A
receipt?" as well, which nobody was asked.
"""

import functools
from collections.abc import Mapping
from typing import Any

from langgraph.checkpoint.serde.types import RESUME
from langgraph.pregel import _algo

from answerback_agents.langgraph import taking
from answerback_agents.langgraph.asked import id_of

# Private names of LangGraph's.
_BEGINS, _RUNTIME = "_scratchpad", "__pregel_runtime"


def install() -> None:
    """Have runs of ours do so. Once a process is enough."""
    begins = getattr(_algo, _BEGINS)
    if hasattr(begins, "__wrapped__"):
        return

    @functools.wraps(begins)
    def begins_once(around: Any, writes: Any, task: str, place: str, brought: Any, *more: Any) -> Any:
        if brought and taking.is_ours():
            known: Any = next((value for by, channel, value in writes if (by, channel) == (task, RESUME)), [])
            answers = len(known) if isinstance(known, list) else 1
            if answers and id_of(place, answers) not in brought:
                brought = None
        return begins(around, writes, task, place, brought, *more)

    setattr(_algo, _BEGINS, begins_once)


def attempt(told: Mapping[str, Any]) -> object:
    """A try of a step, from what LangGraph tells it: the same object as long as that lasts."""
    return told.get(taking.SCRATCHPAD, told)


def tries_again(told: Mapping[str, Any]) -> bool:
    """Whether a step is in another try than its first, in the same run."""
    about = getattr(told.get(_RUNTIME), "execution_info", None)
    return about is not None and about.node_attempt > 1
