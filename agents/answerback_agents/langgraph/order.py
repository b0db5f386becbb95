"""Checkpoints in their order: LangGraph takes the one with the greatest id for the last of its thread.

An id begins with the time of the machine that made it. Where that is behind (another machine's clock, one
that was put back, one that is wrong until the network has told it the time) a checkpoint comes to stand
before the one it follows, and nobody sees it: the answer that led to it is lost, and so is what it asks. So
whoever has read a thread goes on behind what they read, whatever their clock says.
"""

from langchain_core.runnables import RunnableConfig
from langgraph.checkpoint.base import Checkpoint, CheckpointTuple
from langgraph.checkpoint.base import id as ids

_LAST = "_last_v6_timestamp"
NEVER = 1 << 59  # the year 3409: such a thread is damaged, and damages none beside it


class Behind(Exception):
    """A checkpoint that would stand before the one it follows."""


def follow(found: CheckpointTuple | None) -> CheckpointTuple | None:
    """The same; what this process writes from now on stands behind it."""
    time = _time_of(found.config["configurable"]["checkpoint_id"]) if found is not None else None
    if time is not None and time < NEVER:
        # There is no public way. LangGraph counts on from here, as it does when its own clock goes back.
        counter = vars(ids)
        counter[_LAST] = max(time, counter.get(_LAST) or 0)
    return found


def check(config: RunnableConfig, checkpoint: Checkpoint) -> None:
    """Raises `Behind` for a checkpoint that nobody would see: it is better not written."""
    before = config["configurable"].get("checkpoint_id") or ""
    if checkpoint["id"] < before and _time_of(before) is not None:
        raise Behind(before)


def _time_of(checkpoint_id: str) -> int | None:
    """In units of 100 ns (RFC 9562, section 5.6); None for an id that has none, as of somebody's saver."""
    try:
        found = ids.UUID(checkpoint_id)
    except ValueError:
        return None
    return found.time if found.version == 6 else None
