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


class Guard(Protocol):
    """Takes and gives back one numbered lock; `take` never waits."""

    async def take(self, number: int) -> bool: ...

    async def give(self, number: int) -> None: ...

    async def close(self) -> None: ...


class FileGuard:
    """Locks one byte of a file for this open file description; needs Linux, elsewhere it guards nothing."""

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
    """Session advisory locks, all on one connection that does nothing else."""

    def __init__(self, conninfo: str) -> None:
        self._conninfo = conninfo
        self._connection: Any = None
        self._held: set[int] = set()
        self._opening = asyncio.Lock()

    async def take(self, number: int) -> bool:
        taken = await self._ask("SELECT pg_try_advisory_lock(%s)", number)
        if taken:
            self._held.add(number)
        return taken

    async def give(self, number: int) -> None:
        if number in self._held:
            self._held.discard(number)
            await self._ask("SELECT pg_advisory_unlock(%s)", number)

    async def _ask(self, statement: str, number: int) -> bool:
        import psycopg

        try:
            cursor = await (await self._connected()).execute(statement, (number,))
            row = await cursor.fetchone()
        except psycopg.OperationalError as error:
            raise AgentUnavailable("PostgreSQL does not answer; the thread was not locked") from error
        return bool(row[0])

    async def _connected(self) -> Any:
        import psycopg

        async with self._opening:
            if self._connection is None or self._connection.closed:
                self._held.clear()  # they ended with the connection
                self._connection = await psycopg.AsyncConnection.connect(self._conninfo, autocommit=True)
        return self._connection

    async def close(self) -> None:
        if self._connection is not None:
            await self._connection.close()


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
            number = self._number(thread)
            if not await self._guard.take(number):
                raise AgentUnavailable("another worker is running this thread; try again later")
            try:
                yield
            finally:
                await self._guard.give(number)

    def _number(self, thread: str) -> int:
        """62 bits, positive: fits a bigint and a file offset."""
        name = f"answerback.langgraph\0{self._agent}\0{thread}"
        return int.from_bytes(hashlib.sha256(name.encode("utf-8", "surrogatepass")).digest()[:8]) >> 2

    async def close(self) -> None:
        await self._guard.close()
