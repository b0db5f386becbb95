"""Unkept: inner graphs compiled with `checkpointer=False` run beside those whose checkpoints are waited for.

Our runs go on only when a step's checkpoint is written (`durability="sync"`). LangGraph hands that down, and
a graph that keeps none fails there for want of something to wait for (1.2.20 to 1.2.24).
"""

from collections.abc import Iterator

from langgraph.pregel._loop import AsyncPregelLoop, SyncPregelLoop

_WRITTEN = "_put_checkpoint_fut"


class _Nothing:
    """Awaited, or asked for its result, it is there."""

    def __await__(self) -> Iterator[None]:
        return iter(())

    def result(self) -> None:
        return None


def install() -> None:
    """Have a graph that has written no checkpoint wait for none. More than once a process is harmless."""
    for loop in (SyncPregelLoop, AsyncPregelLoop):
        if not hasattr(loop, _WRITTEN):
            setattr(loop, _WRITTEN, _Nothing())
