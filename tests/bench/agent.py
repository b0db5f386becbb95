"""The agent that is measured, as `serve` runs it: LangGraph in a worker, and what the bench notes of it."""

import time
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path
from typing import Any

from answerback.agent import AgentContext, Finished, State, Target
from answerback.model import Answer
from answerback.settings import Plugin
from answerback.workers.agent import WorkerAgent
from answerback_agents.langgraph import LangGraph

RESUMED_AT = "resumed_at"  # in a result: monotonic nanoseconds, which all processes of a machine share
ROOT = Path(__file__).parents[2]


class Timed(LangGraph):
    """The adapter as it is, in its worker; a result says when the last resume was called."""

    async def resume(self, thread: str, target: Target, answer: Answer, *, again: bool = False) -> State:
        at = time.monotonic_ns()
        state = await super().resume(thread, target, answer, again=again)
        if not isinstance(state, Finished):
            return state
        return replace(state, result={**dict(state.result), RESUMED_AT: at})


class Observed(WorkerAgent):
    """The gateway's side of it. `results`: what each thread's run ended with."""

    def __init__(self, name: str, graph: str, context: AgentContext, on_resume: Callable[[str], Any]) -> None:
        options = {"graph": f"{graph}"}
        plugin = Plugin(name, f"{__name__}:{Timed.__name__}", options, base_dir=str(ROOT))
        super().__init__(plugin, context)
        self.results: dict[str, Any] = {}
        self._on_resume = on_resume

    async def resume(self, thread: str, target: Target, answer: Answer, *, again: bool = False) -> State:
        self._on_resume(thread)
        state = await super().resume(thread, target, answer, again=again)
        if isinstance(state, Finished):
            self.results[thread] = state.result
        return state
