"""One resume a thread at a time: between workers too, because LangGraph's savers know no lock of their own.

On PostgreSQL a session advisory lock on a connection of its own, elsewhere a byte of a lock file; both end
with the process that holds them. The gateway's lease comes before this; this is what holds if it is lost.
"""

import asyncio
import contextlib
import fcntl
import hashlib
import os
import struct
import weakref
from collections.abc import AsyncIterator
from pathlib import Path
from typing import Any, Protocol

from answerback.errors import AgentUnavailable
from answerback.sessions import LASTING, begun


class Guard(Protocol):
    """Takes and gives back one numbered lock; `take` never waits."""

    @property
    def session(self) -> int | None: ...

    async def take(self, number: int) -> bool: ...

    async def give(self, number: int) -> None: ...

    async def close(self) -> None: ...


class FileGuard:
    """Locks one byte of a file for this open file description; needs Linux, elsewhere it guards nothing."""

    session = None

    def __init__(self, path: Path) -> None:
        path.parent.mkdir(mode=0o700, parents=True, exist_ok=True)
        self._file = os.open(path, os.O_RDWR | os.O_CREAT | os.O_CLOEXEC, 0o600)

    async def take(self, number: int) -> bool:
        try:
            self._set(fcntl.F_WRLCK, number)
        except OSError:
            return False
        return True

    async def give(self, number: int) -> None:
        self._set(fcntl.F_UNLCK, number)

    def _set(self, kind: int, number: int) -> None:
        if command := getattr(fcntl, "F_OFD_SETLK", 0):
            flock = struct.pack("hhqqi", kind, os.SEEK_SET, number, 1, 0)
            fcntl.fcntl(self._file, command, flock)

    async def close(self) -> None:
        os.close(self._file)


class PostgresGuard:
    """Session advisory locks, all on one connection that does nothing else.

    The server ends the session of a machine that has vanished, and with it the locks, but only some time
    after those on which that machine writes: who writes has the lock.

    What is wanted while a statement is under way goes out with the next one. Nobody waits for a lock to be
    given back: whoever wants it next hears of this thread only later, and would try again.
    """

    def __init__(self, conninfo: str, patience: float | None = None) -> None:
        """`patience`: seconds until a server that says nothing is given up, instead of the usual ones."""
        self._conninfo, self._patience = conninfo, patience
        self._connection: Any = None
        self._session: int | None = None  # PostgreSQL's process id of it
        self._held: set[int] = set()
        self._given: list[int] = []
        self._wanted: dict[int, asyncio.Future[bool]] = {}
        self._asking: asyncio.Task[None] | None = None

    @property
    def session(self) -> int | None:
        return None if self._connection is None or self._connection.closed else self._session

    async def take(self, number: int) -> bool:
        wanted: asyncio.Future[bool] = asyncio.get_running_loop().create_future()
        self._wanted[number] = wanted
        self._ask()
        try:
            return await wanted
        except asyncio.CancelledError:
            wanted.cancel()  # what is taken all the same is given back
            raise

    async def give(self, number: int) -> None:
        if number in self._held:
            self._held.discard(number)
            self._given.append(number)
            self._ask()

    def _ask(self) -> None:
        if self._asking is None or self._asking.done():
            self._asking = asyncio.create_task(self._answer())

    async def _answer(self) -> None:
        while self._given or self._wanted:
            given, self._given = self._given, []
            wanted, self._wanted = self._wanted, {}
            try:
                taken = await self._exchange(given, list(wanted))
            except Exception as error:
                for future in wanted.values():
                    _settle(future, error)
                continue
            for number, future in wanted.items():
                if number in taken:
                    self._held.add(number)
                if not _settle(future, number in taken):
                    await self.give(number)

    async def _exchange(self, given: list[int], wanted: list[int]) -> set[int]:
        """Gives locks back, then tries to take others; those that were taken."""
        import psycopg

        try:
            cursor = await (await self._connected()).execute(_EXCHANGE, (given, wanted))
            return {number for number, taken in await cursor.fetchall() if taken}
        except psycopg.Error as error:
            if self._connection is not None:  # nobody knows what it holds now: that ends with it
                await self._connection.close()
            raise AgentUnavailable("PostgreSQL does not answer; the thread was not locked") from error

    async def _connected(self) -> Any:
        from answerback_agents.langgraph.impatient import ImpatientAsync

        if self._connection is None or self._connection.closed:
            self._held.clear()  # they ended with the connection
            self._connection = made = await ImpatientAsync.connect(self._conninfo, autocommit=True)
            await made.execute(begun(made.info.get_parameters(), LASTING), prepare=False)
            # Asked, because a pooler makes up a number of its own when one connects.
            [self._session] = await (await made.execute("SELECT pg_backend_pid()")).fetchone() or (None,)
            self._connection.patience = self._patience or ImpatientAsync.patience
        return self._connection

    async def close(self) -> None:
        if self._asking is not None:
            await asyncio.wait({self._asking})
        if self._connection is not None:
            await self._connection.close()


# The parts of a UNION ALL run one after the other; no thread has the number 0.
_EXCHANGE = """
    SELECT 0, pg_advisory_unlock(n) FROM unnest(%s::bigint[]) AS n
    UNION ALL SELECT n, pg_try_advisory_lock(n) FROM unnest(%s::bigint[]) AS n
"""


def _settle(future: asyncio.Future[bool], found: bool | Exception) -> bool:
    """Whether somebody still waits for it."""
    if future.done():
        return False
    if isinstance(found, Exception):
        future.set_exception(found)
    else:
        future.set_result(found)
    return True


class ThreadLocks:
    """`hold(thread)`: in this process it waits for its turn, against other workers it refuses at once."""

    def __init__(self, agent: str, guard: Guard) -> None:
        self._agent, self._guard = agent, guard
        self._turns: weakref.WeakValueDictionary[str, asyncio.Lock] = weakref.WeakValueDictionary()

    @contextlib.asynccontextmanager
    async def hold(self, thread: str) -> AsyncIterator[None]:
        """Raises `AgentUnavailable` while another worker holds the thread."""
        turn = self._turns.setdefault(thread, asyncio.Lock())
        async with turn:
            number = self.number(thread)
            if not await self._guard.take(number):
                raise AgentUnavailable("another worker is running this thread; try again later")
            try:
                yield
            finally:
                await self._guard.give(number)

    def number(self, thread: str) -> int:
        """Of its lock: 62 bits, positive, so that it fits a bigint and a file offset."""
        name = f"answerback.langgraph\0{self._agent}\0{thread}"
        return int.from_bytes(hashlib.sha256(name.encode("utf-8", "surrogatepass")).digest()[:8]) >> 2

    @property
    def session(self) -> int | None:
        """PostgreSQL's process id of the session that holds those that are taken here; None without one."""
        return self._guard.session

    async def close(self) -> None:
        await self._guard.close()
