"""Failing: what a step had given when it failed is not taken for all that it had to give.

A step ends by saying what comes next. If that fails, as a function of `add_conditional_edges` can, or is cut
off because another step has failed, LangGraph keeps what the step itself gave, beside the error (1.2.20 to
1.2.24). Tried again, the step then counts as one that has ended, nothing comes next, and the run ends as if
it had done everything. In runs of ours nothing is kept of such a step but its error and its answers.
"""

import functools
from collections.abc import Sequence
from typing import Any

from langgraph.checkpoint.serde.types import ERROR
from langgraph.pregel._loop import PregelLoop

from answerback_agents.langgraph.entered import is_ours
from answerback_agents.langgraph.evidence import CONTROL, HANDLED

Writes = Sequence[tuple[str, Any]]


def install() -> None:
    """Have runs of ours keep nothing else of a step that failed. Once a process is enough."""
    put = PregelLoop.put_writes
    if hasattr(put, "__wrapped__"):
        return

    @functools.wraps(put)
    def put_what_counts(loop: Any, task_id: str, writes: Writes, **more: Any) -> None:
        put(loop, task_id, what_counts(writes) if is_ours(loop) else writes, **more)

    setattr(PregelLoop, put.__name__, put_what_counts)


def what_counts(writes: Writes) -> Writes:
    """What a step that failed leaves behind. With an error handler LangGraph goes on from all of it."""
    channels = {channel for channel, _ in writes}
    if ERROR not in channels or HANDLED in channels:
        return writes
    return [write for write in writes if write[0] in CONTROL]
