"""LangGraph as the bench's worker has it."""

import time
from dataclasses import replace

from answerback.agent import Finished, State, Target
from answerback.model import Answer
from answerback_agents.langgraph import LangGraph
from tests.bench.agent import RESUMED_AT


class Timed(LangGraph):
    """The adapter as it is, in its worker; a result says when the last resume was called."""

    async def resume(self, thread: str, target: Target, answer: Answer, *, again: bool = False) -> State:
        at = time.monotonic_ns()
        state = await super().resume(thread, target, answer, again=again)
        if not isinstance(state, Finished):
            return state
        return replace(state, result={**dict(state.result), RESUMED_AT: at})
