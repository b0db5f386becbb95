"""Our checkpoints in a PostgreSQL schema: one connection that writes, and one that only reads."""

import asyncio
import contextlib
import copy
import hashlib
import time
from collections.abc import Callable, Iterator, Sequence
from contextlib import AsyncExitStack
from typing import Any, cast

import psycopg
from langchain_core.runnables import RunnableConfig
from langgraph.checkpoint.postgres import PostgresSaver
from langgraph.checkpoint.postgres.aio import AsyncPostgresSaver
from psycopg.rows import DictRow, dict_row

from answerback.errors import AgentUnavailable, ConfigurationError
from answerback.sessions import begun
from answerback_agents.langgraph.committer import Committer
from answerback_agents.langgraph.faces import Saver
from answerback_agents.langgraph.grouped import Grouped
from answerback_agents.langgraph.impatient import Impatient
from answerback_agents.langgraph.locks import ThreadLocks

PATIENCE = 10  # seconds for a server that does not answer
At = tuple[str, str, str]  # thread, namespace, checkpoint
THERE = """
    SELECT 1 FROM checkpoints WHERE (thread_id, checkpoint_ns, checkpoint_id) = (%s, %s, %s)
"""
OTHERS = """
    SELECT 1 FROM checkpoints WHERE (thread_id, checkpoint_ns) = (%s, %s) AND checkpoint_id > %s
    AND NOT checkpoint_id = ANY(%s) LIMIT 1
"""
TAKEN = "SELECT pg_try_advisory_xact_lock(%s) AS taken"
# https://www.postgresql.org/docs/current/view-pg-locks.html: the halves of the number, and 1 for one number.
HOLDER = """
    SELECT pid FROM pg_locks WHERE locktype = 'advisory' AND granted AND objsubid = 1
    AND (classid::bigint << 32) | objid::bigint = %s
    AND database = (SELECT oid FROM pg_database WHERE datname = current_database())
"""
ELSEWHERE = "fork", "update"  # sources of checkpoints that need not follow the last one


class Run:
    """One run of a graph: when it began (monotonic seconds), and the checkpoints that it has written."""

    def __init__(self) -> None:
        self.began, self.own = time.monotonic(), list[str]()


class Postgres:
    """One connection, made anew when it is lost. What shares a transaction goes out without waiting.

    Whoever loses it may have lost the lock of their thread as well, and somebody else may have gone on with
    it since: a machine that was cut off from the network, or stood still, for a minute. So a run that began
    before the connection takes its thread's lock for each write, and writes behind what is last there.

    Another server may answer then, which lacks what was committed last. Whoever worked on such a thread still
    has it in mind, and what is written behind it would stand on nothing: values that did not change since are
    stored with the checkpoint that changed them. So from then on nothing is written behind what is not there.
    """

    def __init__(
        self,
        where: str,
        schema: str,
        *,
        locks: ThreadLocks | None = None,
        reads: bool = False,
        patience: float = Impatient.patience,
    ) -> None:
        """`locks`: those under which it is used. `reads`: nothing else, so that nothing is to be committed.

        `patience`: seconds for one answer.
        """
        self._where, self._schema, self._reads = where, schema, reads
        self._locks, self._patience = locks, patience
        self._connection: Impatient | None = None
        self._since = 0.0  # when it was made, as `Run.began`
        self._written: At | None = None  # last, in this transaction
        self._kept: At | None = None  # last of what was committed
        self._lacks = False  # once true, each write is looked at, which costs a little

    def ready(self) -> None:
        if self._connection is None:
            connection = Impatient.connect(
                self._where, autocommit=True, prepare_threshold=0, row_factory=dict_row,
                connect_timeout=PATIENCE,
            )  # fmt: skip
            connection.patience = self._patience
            with contextlib.ExitStack() as unless_it_is_lost:
                unless_it_is_lost.callback(connection.close)
                self._set_up(connection)
                if self._kept is not None and not self._has(connection, self._kept):
                    self._lacks = True
                unless_it_is_lost.pop_all()
            self._connection, self._since = connection, time.monotonic()

    def _set_up(self, connection: Impatient) -> None:
        """In one statement, which cannot be prepared."""
        only = "; SET default_transaction_read_only = on" if self._reads else ""
        alive = begun(connection.info.get_parameters())
        connection.execute(f"SET search_path = {self._schema}; {alive}{only}".encode(), prepare=False)

    def behind(self, at: At, run: Run | None) -> None:
        """Something is to be written behind this. Raises what says of a database that it cannot be used now,

        if it is gone, or if somebody else has written behind it: what was at work on it is done again then,
        from what there is.
        """
        assert self._connection is not None, "ready() comes first"
        if self._lacks and not self._has(self._connection, at):
            raise psycopg.OperationalError("what was committed before is gone")
        if run is not None and run.began < self._since and not self._is_last(self._connection, at, run):
            raise psycopg.OperationalError("somebody else goes on with this thread")

    def _is_last(self, connection: Impatient, at: At, run: Run) -> bool:
        """Whether nobody else has the thread, until the commit, and nobody has written behind this."""
        if self._locks is not None:
            number = self._locks.number(at[0])
            taken = connection.execute(TAKEN, (number,)).fetchone()
            if taken is None or not (taken["taken"] or self._is_ours(connection, number)):
                return False
        return connection.execute(OTHERS, (*at, run.own)).fetchone() is None

    def _is_ours(self, connection: Impatient, number: int) -> bool:
        """Whether it is this worker that has the lock: on the connection for locks, which was not lost."""
        assert self._locks is not None, "there is a lock"
        holder = connection.execute(HOLDER, (number,)).fetchone()
        return holder is not None and holder["pid"] == self._locks.session

    def wrote(self, at: At) -> None:
        """That was written, and is not committed yet."""
        self._written = at

    def _has(self, connection: Impatient, at: At) -> bool:
        return connection.execute(THERE, at).fetchone() is not None

    def cursor(self) -> "psycopg.Cursor[DictRow]":
        """For the saver; on a connection that is ready."""
        assert self._connection is not None, "ready() comes first"
        return self._connection.cursor(binary=True, row_factory=dict_row)

    def together(self, calls: Sequence[Callable[[], object]]) -> None:
        assert self._connection is not None, "ready() comes first"
        if self._reads:
            for call in calls:
                call()
            return
        with self._elsewhere(), self._connection.pipeline():
            self._connection.execute("BEGIN")
            for call in calls:
                call()
            self._connection.execute("COMMIT")
        self._kept, self._written = self._written or self._kept, None

    def alone(self, call: Callable[[], object]) -> None:
        with self._elsewhere():
            call()

    @contextlib.contextmanager
    def _elsewhere(self) -> Iterator[None]:
        """A server that lets nobody write has become a standby: the next connection may lead to another."""
        try:
            yield
        except psycopg.errors.ReadOnlySqlTransaction:
            self._hang_up()
            raise

    def undo(self) -> bool:
        self._written = None
        if self._connection is None:
            return False
        with contextlib.suppress(psycopg.Error):
            self._connection.rollback()
        if not self._connection.closed:
            return False
        self._connection = None
        return True

    def close(self) -> None:
        self._hang_up()
        self._connection = None

    def _hang_up(self) -> None:
        if self._connection is not None:
            self._connection.close()


class _Grouped(Grouped):
    """With one connection that is made anew when it is lost."""

    def of_one_run(self) -> Grouped:
        once = super().of_one_run()
        once.saver = saver = copy.copy(cast(_Saver, self.saver))
        saver.run = Run()
        return once


class _Saver(PostgresSaver):
    """LangGraph's, on whatever connection is ready; what is one transaction, the committer decides."""

    run: Run | None = None  # by which this one is used, if it is by one

    def __init__(self, database: Postgres, serde: Any = None) -> None:
        super().__init__(database, serde=serde)  # type: ignore[arg-type]
        self._database = database

    def put(self, config: Any, checkpoint: Any, metadata: Any, new_versions: Any) -> RunnableConfig:
        wanted = config["configurable"]
        place = wanted["thread_id"], wanted.get("checkpoint_ns", "")
        if behind := wanted.get("checkpoint_id"):
            run = None if metadata.get("source") in ELSEWHERE else self.run
            self._database.behind((*place, behind), run)
        if self.run is not None:
            self.run.own.append(checkpoint["id"])
        found = super().put(config, checkpoint, metadata, new_versions)
        self._database.wrote((*place, checkpoint["id"]))
        return found

    @contextlib.contextmanager
    def _cursor(self, *, pipeline: bool = False) -> Iterator["psycopg.Cursor[DictRow]"]:
        with self._database.cursor() as cursor:
            yield cursor


async def open_saver(where: str, schema: str, locks: ThreadLocks | None, stack: AsyncExitStack) -> Grouped:
    """Our saver, ready to use. Raises `AgentUnavailable` when the server does not answer, and
    `ConfigurationError` when it does not let us make the schema.
    """
    with _explained(schema):
        await _make_schema(where, schema)
        return await _opened(Postgres(where, schema, locks=locks), stack)


async def open_reader(saver: Saver, where: str, schema: str, stack: AsyncExitStack) -> Grouped:
    """The same for reading beside it: what is read need not wait for what is written."""
    with _explained(schema):
        return await _opened(Postgres(where, schema, reads=True), stack, saver.serde)


@contextlib.contextmanager
def _explained(schema: str) -> Iterator[None]:
    try:
        yield
    except psycopg.errors.InsufficientPrivilege as error:
        message = f"PostgreSQL does not let this user create the schema {schema}; "
        raise ConfigurationError(message + "grant CREATE on the database") from error
    except psycopg.errors.ReadOnlySqlTransaction as error:
        raise AgentUnavailable("PostgreSQL lets nobody write; checkpoints cannot be kept") from error
    except psycopg.OperationalError as error:
        raise AgentUnavailable("PostgreSQL does not answer; checkpoints cannot be kept") from error


async def _opened(database: Postgres, stack: AsyncExitStack, serde: Any = None) -> Grouped:
    committer = Committer(database)
    stack.push_async_callback(committer.close)
    await committer.do(lambda: None)  # it connects
    return _Grouped(_Saver(database, serde), committer)


async def _make_schema(where: str, schema: str) -> None:
    """Create or migrate the tables, one process at a time.

    The lock is tried, not waited for: a waiting statement would hold a snapshot that the migrations'
    CREATE INDEX CONCURRENTLY waits for in turn.
    """
    connect: Any = psycopg.AsyncConnection.connect
    async with await connect(where, autocommit=True, prepare_threshold=0, row_factory=dict_row) as connection:
        await connection.execute(begun(connection.info.get_parameters()), prepare=False)
        number = int.from_bytes(hashlib.sha256(schema.encode()).digest()[:8]) >> 2
        while not await _tried(connection, number):  # noqa: ASYNC110 (the other one is another process)
            await asyncio.sleep(0.1)
        await connection.execute(f"CREATE SCHEMA IF NOT EXISTS {schema}")
        await connection.execute(f"SET search_path = {schema}")
        await AsyncPostgresSaver(connection).setup()


async def _tried(connection: Any, number: int) -> bool:
    cursor = await connection.execute("SELECT pg_try_advisory_lock(%s) AS taken", (number,))
    return bool((await cursor.fetchone())["taken"])
