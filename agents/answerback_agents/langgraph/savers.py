"""Savers: ours on SQLite or PostgreSQL for graphs without a durable one, and an async face for sync ones.

Each agent has a file (or a PostgreSQL schema) of its own: two agents may use the same thread id, and
SQLite wants a single writing process a file.
"""

import asyncio
import contextlib
import copy
import hashlib
import os
import re
import sqlite3
import urllib.parse
from collections.abc import AsyncIterator, Awaitable, Callable, Collection, Sequence
from pathlib import Path
from typing import Any

from langchain_core.runnables import RunnableConfig
from langgraph.checkpoint.base import BaseCheckpointSaver, CheckpointTuple
from langgraph.pregel import Pregel

from answerback.agent import AgentContext
from answerback.errors import AgentUnavailable, ConfigurationError
from answerback_agents.langgraph.locks import FileGuard, PostgresGuard, ThreadLocks

Saver = BaseCheckpointSaver[Any]
Look = Callable[[RunnableConfig], Awaitable[CheckpointTuple | None]]
CONNECTIONS, READERS = 4, 2  # to PostgreSQL in all, and of these for reading what a run left
_PROBE: RunnableConfig = {"configurable": {"thread_id": "", "checkpoint_ns": ""}}


def on_postgres(context: AgentContext) -> bool:
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
    if on_postgres(context):
        locks = ThreadLocks(agent, PostgresGuard(conninfo(context)))
    else:
        locks = ThreadLocks(agent, FileGuard(checkpoint_file(context, agent).with_suffix(".lock")))
    stack.push_async_callback(locks.close)
    return locks


async def open_saver(context: AgentContext, agent: str, stack: contextlib.AsyncExitStack) -> Saver:
    """Our saver, ready to use; raises `AgentUnavailable` when PostgreSQL does not answer."""
    if on_postgres(context):
        return await _postgres(context, agent, stack)
    return await _sqlite(checkpoint_file(context, agent), stack)


async def _sqlite(path: Path, stack: contextlib.AsyncExitStack) -> Saver:
    import aiosqlite
    from langgraph.checkpoint.sqlite.aio import AsyncSqliteSaver

    _make_file(path)
    connection = await stack.enter_async_context(aiosqlite.connect(path, timeout=30))
    await connection.execute("PRAGMA journal_mode=WAL")
    await connection.execute("PRAGMA synchronous=FULL")
    saver = AsyncSqliteSaver(connection)
    await saver.setup()
    return saver


def _make_file(path: Path) -> None:
    """An empty file that only its owner reads; SQLite gives the -wal and -shm files the same mode."""
    path.parent.mkdir(mode=0o700, parents=True, exist_ok=True)
    os.close(os.open(path, os.O_RDWR | os.O_CREAT, 0o600))
    path.chmod(0o600)


async def _postgres(context: AgentContext, agent: str, stack: contextlib.AsyncExitStack) -> Saver:
    try:
        import psycopg
        import psycopg_pool
        from langgraph.checkpoint.postgres.aio import AsyncPostgresSaver
        from psycopg.rows import dict_row
    except ImportError as error:
        raise ConfigurationError(
            "checkpoints on PostgreSQL need langgraph-checkpoint-postgres; install answerback[all]"
        ) from error
    options = {"autocommit": True, "prepare_threshold": 0, "row_factory": dict_row}
    schema = checkpoint_schema(agent)
    pool: Any = psycopg_pool.AsyncConnectionPool(
        conninfo(context),
        min_size=1,
        max_size=CONNECTIONS,
        kwargs={**options, "options": f"-c search_path={schema}"},
        open=False,
    )
    try:
        await _make_schema(conninfo(context), schema, AsyncPostgresSaver)
        stack.push_async_callback(pool.close)
        await pool.open(wait=True, timeout=10)
    except psycopg.errors.InsufficientPrivilege as error:
        message = f"PostgreSQL does not let this user create the schema {schema}; "
        raise ConfigurationError(message + "grant CREATE on the database") from error
    except (psycopg.OperationalError, psycopg_pool.PoolTimeout) as error:
        raise AgentUnavailable("PostgreSQL does not answer; checkpoints cannot be kept") from error
    return AsyncPostgresSaver(pool)


async def _make_schema(where: str, schema: str, saver: Any) -> None:
    """Create or migrate the tables, one process at a time.

    The lock is tried, not waited for: a waiting statement would hold a snapshot that the migrations'
    CREATE INDEX CONCURRENTLY waits for in turn.
    """
    import psycopg
    from psycopg.rows import dict_row

    connect: Any = psycopg.AsyncConnection.connect
    async with await connect(where, autocommit=True, prepare_threshold=0, row_factory=dict_row) as connection:
        number = int.from_bytes(hashlib.sha256(schema.encode()).digest()[:8]) >> 2
        while not await _tried(connection, number):  # noqa: ASYNC110 (the other one is another process)
            await asyncio.sleep(0.1)
        await connection.execute(f"CREATE SCHEMA IF NOT EXISTS {schema}")
        await connection.execute(f"SET search_path = {schema}")
        await saver(connection).setup()


async def _tried(connection: Any, number: int) -> bool:
    cursor = await connection.execute("SELECT pg_try_advisory_lock(%s) AS taken", (number,))
    return bool((await cursor.fetchone())["taken"])


def direct(saver: Saver, path: Path, stack: contextlib.AsyncExitStack) -> Look:
    """How to read the newest checkpoint of our own SQLite file: with a connection that only reads.

    Such a read takes a fraction of the time that handing it to the saver's thread, four to six times, does.
    """
    from langgraph.checkpoint.sqlite import SqliteSaver

    connection = sqlite3.connect(path, timeout=1)
    stack.callback(connection.close)
    connection.execute("PRAGMA query_only=ON")
    reader = SqliteSaver(connection, serde=saver.serde)
    reader.is_setup = True  # by the saver that writes

    async def look(config: RunnableConfig) -> CheckpointTuple | None:
        return reader.get_tuple(config)

    return look


def beside(saver: Saver) -> Look:
    """How to read on PostgreSQL without waiting for what the saver writes: it does one thing at a time."""
    reader = copy.copy(saver)
    reader.lock = asyncio.Semaphore(READERS)  # type: ignore[attr-defined]
    return reader.aget_tuple


def is_same_place(saver: Saver, ours: Saver) -> bool:
    """Whether a saver is ours, or a copy of it that reads and writes by the same connection."""
    return type(saver) is type(ours) and saver.conn is ours.conn  # type: ignore[attr-defined]


def looking_first(saver: Saver, look: Look) -> Saver:
    """The saver for one run under its thread's lock, which looks for the last checkpoint by `look` at first.

    Everything after that, and whatever else is asked for, goes to the saver.
    """
    once, others = copy.copy(saver), saver.aget_tuple

    async def aget_tuple(config: RunnableConfig) -> CheckpointTuple | None:
        wanted = config["configurable"]
        if "aget_tuple" not in vars(once) or wanted.get("checkpoint_id") or wanted.get("checkpoint_ns"):
            return await others(config)
        del vars(once)["aget_tuple"]
        return await look(config)

    vars(once)["aget_tuple"] = aget_tuple
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


class InThreads(BaseCheckpointSaver[Any]):
    """An async face for a saver that only has sync methods, so that it does not block the loop."""

    def __init__(self, saver: Saver) -> None:
        super().__init__(serde=saver.serde)
        self.saver = saver

    @property
    def config_specs(self) -> list[Any]:
        return list(self.saver.config_specs)

    def with_allowlist(self, extra_allowlist: Collection[tuple[str, ...]]) -> "InThreads":
        clone = copy.copy(self)
        clone.saver = self.saver.with_allowlist(extra_allowlist)
        clone.serde = clone.saver.serde
        return clone

    def get_next_version(self, current: Any, channel: None) -> Any:
        return self.saver.get_next_version(current, channel)

    async def aget_tuple(self, config: RunnableConfig) -> CheckpointTuple | None:
        return await asyncio.to_thread(self.saver.get_tuple, config)

    async def alist(self, config: RunnableConfig | None, **options: Any) -> AsyncIterator[CheckpointTuple]:
        for found in await asyncio.to_thread(lambda: list(self.saver.list(config, **options))):
            yield found

    async def aput(self, config: Any, checkpoint: Any, metadata: Any, new_versions: Any) -> RunnableConfig:
        return await asyncio.to_thread(self.saver.put, config, checkpoint, metadata, new_versions)

    async def aput_writes(
        self, config: Any, writes: Sequence[tuple[str, Any]], task_id: str, task_path: str = ""
    ) -> None:
        await asyncio.to_thread(self.saver.put_writes, config, writes, task_id, task_path)

    async def adelete_thread(self, thread_id: str) -> None:
        await asyncio.to_thread(self.saver.delete_thread, thread_id)
