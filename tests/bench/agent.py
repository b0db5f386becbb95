"""The agent that is measured, as `serve` runs it: in a worker, and what the bench notes of it."""

from collections.abc import Callable
from pathlib import Path
from typing import Any

from answerback.agent import AgentContext, Finished, State, Target
from answerback.model import Answer
from answerback.settings import Plugin
from answerback.workers.agent import WorkerAgent

RESUMED_AT = "resumed_at"  # in a result: monotonic nanoseconds, which all processes of a machine share
ROOT = Path(__file__).parents[2]


class Observed(WorkerAgent):
    """The gateway's side of it. `results`: what each thread's run ended with."""

    def __init__(self, name: str, graph: str, context: AgentContext, on_resume: Callable[[str], Any]) -> None:
        options = {"graph": f"{graph}"}
        plugin = Plugin(name, "tests.bench.timed:Timed", options, base_dir=str(ROOT))
        super().__init__(plugin, context)
        self.results: dict[str, Any] = {}
        self._on_resume = on_resume

    async def resume(self, thread: str, target: Target, answer: Answer, *, again: bool = False) -> State:
        self._on_resume(thread)
        state = await super().resume(thread, target, answer, again=again)
        if isinstance(state, Finished):
            self.results[thread] = state.result
        return state
