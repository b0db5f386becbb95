"""Error handlers: one that has ended does not run again, with the answer it was given, beside what waits.

LangGraph keeps the output of a step that has ended while others of the same superstep wait. What a step's
`error_handler` gave it keeps as well, but runs it anew each time that something else is answered (1.2.20 to
1.2.24): whoever said "pay it by hand" once had it paid by hand twice. Where it adds the handlers of steps
that have failed, the ones that have ended get their output back here, as any other step does.
"""

import functools
from typing import Any

from langgraph.pregel._loop import PregelLoop

from answerback_agents.langgraph.taking import is_ours

_ADDS = "_resume_error_handlers_if_applicable"


def install() -> None:
    """Have runs of ours give handlers that have ended their output back. Once a process is enough."""
    add = getattr(PregelLoop, _ADDS, None)
    if add is None or hasattr(add, "__wrapped__"):
        return

    @functools.wraps(add)
    def add_and_give_back(loop: Any) -> None:
        steps = set(loop.tasks)
        add(loop)
        added = {key: task for key, task in loop.tasks.items() if key not in steps and not task.writes}
        if added and is_ours():
            loop._reapply_writes_to_succeeded_nodes(added)  # noqa: SLF001 (as it does for all others)

    setattr(PregelLoop, _ADDS, add_and_give_back)
