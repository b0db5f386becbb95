"""Savers: ours on SQLite or PostgreSQL for graphs without a durable one, and an async face for sync ones.

Each agent has a file (or a PostgreSQL schema) of its own: two agents may use the same thread id, and
SQLite wants a single writing process a file.
"""

import contextlib
import copy
import hashlib
import re
import urllib.parse
from collections.abc import Awaitable, Callable
from pathlib import Path
from typing import Any

from langchain_core.runnables import RunnableConfig
from langgraph.checkpoint.base import Checkpoint, CheckpointTuple
from langgraph.pregel import Pregel

from answerback.agent import AgentContext
from answerback.errors import ConfigurationError
from answerback_agents.langgraph import on_sqlite, order
from answerback_agents.langgraph.faces import InThreads, Saver
from answerback_agents.langgraph.grouped import Grouped
from answerback_agents.langgraph.locks import FileGuard, PostgresGuard, ThreadLocks

Look = Callable[[RunnableConfig], Awaitable[CheckpointTuple | None]]
_PROBE: RunnableConfig = {"configurable": {"thread_id": "", "checkpoint_ns": ""}}


def _is_on_postgres(context: AgentContext) -> bool:
    return context.database.startswith(("postgresql", "postgres:"))


def conninfo(context: AgentContext) -> str:
    """The configured database as libpq reads it: without SQLAlchemy's `+driver`."""
    return re.sub(r"^postgres(ql)?(\+\w+)?://", "postgresql://", context.database)


def checkpoint_file(context: AgentContext, agent: str) -> Path:
    """`data_dir/checkpoints-AGENT.db`."""
    return Path(context.data_dir) / f"checkpoints-{urllib.parse.quote(agent, safe='')}.db"


def checkpoint_schema(agent: str) -> str:
    """The agent's PostgreSQL schema; unique even where the readable part is cut or altered."""
    readable = re.sub(r"[^a-z0-9]+", "_", agent.lower())[:32]
    return f"langgraph_{readable}_{hashlib.sha256(agent.encode()).hexdigest()[:8]}"


async def open_locks(context: AgentContext, agent: str, stack: contextlib.AsyncExitStack) -> ThreadLocks:
    if _is_on_postgres(context):
        locks = ThreadLocks(agent, PostgresGuard(conninfo(context)))
    else:
        locks = ThreadLocks(agent, FileGuard(checkpoint_file(context, agent).with_suffix(".lock")))
    stack.push_async_callback(locks.close)
    return locks


async def open_saver(
    context: AgentContext,
    agent: str,
    stack: contextlib.AsyncExitStack,
    locks: ThreadLocks | None = None,
) -> Grouped:
    """Our saver, ready to use; raises `AgentUnavailable` when PostgreSQL does not answer.

    `locks`: those under which it is used. Without them whoever uses it is alone.
    """
    if _is_on_postgres(context):
        where, schema = conninfo(context), checkpoint_schema(agent)
        ours: Grouped = await _postgres().open_saver(where, schema, locks, stack)
        return ours
    return on_sqlite.open_saver(checkpoint_file(context, agent), stack)


async def open_look(
    saver: Saver, context: AgentContext, agent: str, stack: contextlib.AsyncExitStack
) -> Look:
    """How to read a thread's newest checkpoint past what our saver has to write: with a connection that
    only reads. Raises `AgentUnavailable` when PostgreSQL does not answer.
    """
    if _is_on_postgres(context):
        where, schema = conninfo(context), checkpoint_schema(agent)
        reader: Grouped = await _postgres().open_reader(saver, where, schema, stack)
        return reader.aget_tuple
    return on_sqlite.Direct(saver, checkpoint_file(context, agent), stack).look


def _postgres() -> Any:
    try:
        from answerback_agents.langgraph import on_postgres
    except ImportError as error:
        raise ConfigurationError(
            "checkpoints on PostgreSQL need langgraph-checkpoint-postgres; install answerback[all]"
        ) from error
    return on_postgres


def is_same_place(saver: Saver, ours: Saver) -> bool:
    """Whether a saver is ours, or a copy of it that reads and writes by the same connection."""
    return isinstance(saver, Grouped) and isinstance(ours, Grouped) and saver.committer is ours.committer


def for_one_run(saver: Saver, look: Look, kept: list[str]) -> Saver:
    """The saver for one run under its thread's lock, which looks for the last checkpoint by `look` at first.

    Everything after that, and whatever else is asked for, goes to the saver. The ids of the thread's own
    checkpoints (not those of inner graphs) that the run wants kept are added to `kept`.
    """
    once = saver.of_one_run() if isinstance(saver, Grouped) else copy.copy(saver)
    others, keep, at_first, in_threads = saver.aget_tuple, once.aput, [look], once.get_tuple

    async def aget_tuple(config: RunnableConfig) -> CheckpointTuple | None:
        wanted = config["configurable"]
        last = not (wanted.get("checkpoint_id") or wanted.get("checkpoint_ns"))
        return order.follow(await (at_first.pop() if at_first and last else others)(config))

    def get_tuple(config: RunnableConfig) -> CheckpointTuple | None:  # for a graph that a sync step calls
        return order.follow(in_threads(config))

    async def aput(config: RunnableConfig, checkpoint: Checkpoint, *more: Any) -> RunnableConfig:
        order.check(config, checkpoint)
        if not config["configurable"].get("checkpoint_ns"):
            kept.append(checkpoint["id"])
        return await keep(config, checkpoint, *more)

    vars(once).update(aget_tuple=aget_tuple, get_tuple=get_tuple, aput=aput)
    return once


async def nothing(config: RunnableConfig) -> CheckpointTuple | None:
    """The look at a thread that has just been seen, under its lock, to have no checkpoint."""
    return None


def as_used(graph: Pregel[Any, Any, Any, Any], saver: Saver) -> Saver:
    """The saver as the graph itself uses it: allowed to read the types that its state's schema names."""
    return graph._apply_checkpointer_allowlist(saver) or saver  # noqa: SLF001 (there is no public way)


async def usable(saver: Saver) -> Saver:
    """The graph's own saver, behind threads if it is a sync one; proven to answer."""
    try:
        try:
            await saver.aget_tuple(_PROBE)
        except NotImplementedError:
            saver = InThreads(saver)
            await saver.aget_tuple(_PROBE)
    except Exception as error:
        raise ConfigurationError(
            f"the graph's own saver ({type(saver).__name__}) does not work: {type(error).__name__}: {error}; "
            "keep its connection open and usable from other threads, or compile the graph without a saver"
        ) from error
    return saver
