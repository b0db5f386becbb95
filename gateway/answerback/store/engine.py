"""The store: writes go to the one writing thread, reads have threads and connections of their own."""

import asyncio
import contextlib
import logging
import threading
from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor
from typing import Any, TypeVar

from answerback.errors import StoreUnavailable
from answerback.metrics import Metrics
from answerback.store import restored
from answerback.store.backend import Backend, hang_up
from answerback.store.tx import Tx
from answerback.store.writer import Job, Writer

log = logging.getLogger("answerback.store")
T = TypeVar("T")
READERS = 2
SOON = 0.02  # seconds that a transaction for which nobody waits may wait for another to commit with


class Store:
    """Runs transaction functions. A function may run twice (a group that failed is replayed singly),

    so it touches nothing but its cursor; its result is handed out only after the commit.
    """

    def __init__(self, backend: Backend, metrics: Metrics | None = None) -> None:
        self.backend = backend
        self._counts = (metrics or Metrics()).happened
        self._writer: Writer | None = None
        self._readers = ThreadPoolExecutor(READERS, thread_name_prefix="store-read")
        self._local = threading.local()
        self._open_readers: list[Any] = []
        self._soon: list[Job] = []  # goes along with whatever is written next
        self._timer: asyncio.TimerHandle | None = None  # for when nothing is
        self._unsettled: set[asyncio.Future[Any]] = set()  # of these and those that go along right now

    def open(self, prepare: Callable[[str], str | None] | None = None) -> None:
        """Take the lock, `prepare` the database's shape (given its URL), and start the writer.

        If `prepare` returns the shape's name, nothing is ever written where the database has another one.

        Raises `StoreUnavailable` or `ConfigurationError`.
        """
        self.backend.lock()
        try:
            if prepare is not None:
                self.backend.shape = prepare(self.backend.url)
            connection = self.backend.connect(writer=True)
        except Exception as error:
            self.backend.unlock()
            raise self.backend.translate(getattr(error, "orig", error)) from error
        self._writer = Writer(self.backend, connection, restored.look_back)

    @property
    def is_open(self) -> bool:
        """Whether it takes transactions."""
        return self._writer is not None

    def close(self) -> None:
        """Commit what is waiting, then stop."""
        if self._writer is not None:
            self._put()
            self._writer.close()
            self._writer = None
        self._readers.shutdown()
        for connection in self._open_readers:
            connection.close()
        self._open_readers.clear()
        self.backend.unlock()

    async def write(self, tx: Callable[[Tx], T]) -> T:
        """Run `tx` in a transaction; its result once it is durable. Raises what `tx` raises.

        Raises `StoreUnavailable` when the database cannot be used, or is not open.
        """
        if not self.is_open:
            raise StoreUnavailable("The database is closed: the gateway is not running.")
        job = Job(tx, asyncio.get_running_loop(), self._counts)
        self._put(job)
        return await job.future  # type: ignore[no-any-return]

    def write_soon(
        self,
        tx: Callable[[Tx], T],
        then: Callable[[T], object] | None = None,
        away: Callable[[StoreUnavailable], object] | None = None,
        within: float = SOON,
    ) -> None:
        """Run `tx` in the next group commit; then, in the loop, `then` gets its result.

        For what decides nothing and is repaired by itself (by a claim that lapses): a crash meanwhile loses
        it, an error is logged, or given to `away` where the database cannot be used. What is given to `write`
        afterwards finds it done; a `read` may not. `within`: seconds until it is committed by itself, longer
        than `SOON` only for what was given to `away` before.
        """
        loop = asyncio.get_running_loop()
        job = Job(tx, loop, self._counts)
        job.future.add_done_callback(lambda done: _report(done, then, away))
        if within <= SOON:
            self._unsettled.add(job.future)
            job.future.add_done_callback(self._unsettled.discard)
        self._soon.append(job)
        at = loop.time() + within
        if self._timer is None or at < self._timer.when():
            self._disarm()
            self._timer = loop.call_at(at, self._put)

    @property
    def waits(self) -> bool:
        """Whether something that was given to `write_soon` is not committed yet, and need not wait longer."""
        return self.is_open and bool(self._unsettled)

    async def settled(self) -> None:
        """Once all that was given to `write_soon` so far is committed. Raises `StoreUnavailable`."""
        await self.write(lambda tx: None)

    async def read(self, tx: Callable[[Tx], T]) -> T:
        """Run `tx` on a reading connection. Each of its statements sees what is committed when it begins."""
        return await asyncio.get_running_loop().run_in_executor(self._readers, self._read, tx)

    async def snapshot(self, tx: Callable[[Tx], T]) -> T:
        """Run `tx` on a reading connection; all of its statements see the database as of one moment."""
        return await asyncio.get_running_loop().run_in_executor(self._readers, self._read, tx, True)

    def _put(self, *jobs: Job) -> None:
        """Hand to the writer what waits for company, and `jobs` behind it."""
        self._disarm()
        if self._writer is not None and (together := [*self._soon, *jobs]):
            self._soon.clear()
            self._writer.put(together)

    def _disarm(self) -> None:
        if self._timer is not None:
            self._timer.cancel()
            self._timer = None

    # -- the reading threads

    def _read(self, tx: Callable[[Tx], T], at_once: bool = False) -> T:
        for attempt in (1, 2):  # a read changes nothing: after a lost connection it is simply done again
            connection = self._reader()
            try:
                with self._cursor(connection, at_once) as cursor:
                    as_of = self.backend.timer()
                    return tx(Tx(cursor, self.backend.dialect, self.backend.now(cursor), as_of))
            except Exception as error:
                lost = self.backend.is_lost(connection, error)
                if lost:
                    self._local.connection = None
                    self._open_readers.remove(connection)
                    hang_up(connection)
                if not lost or attempt == 2:
                    raise self.backend.translate(error) from error
        raise AssertionError("unreachable")

    @contextlib.contextmanager
    def _cursor(self, connection: Any, at_once: bool) -> Iterator[Any]:
        with contextlib.closing(connection.cursor()) as cursor:
            if not at_once:
                yield cursor
                return
            cursor.execute(self.backend.snapshot)
            try:
                yield cursor
            finally:
                cursor.execute("ROLLBACK")  # it has only read

    def _reader(self) -> Any:
        connection = getattr(self._local, "connection", None)
        if connection is None:
            connection = self._local.connection = self.backend.connect(writer=False)
            self._open_readers.append(connection)
        return connection


def _report(
    future: asyncio.Future[Any],
    then: Callable[[Any], object] | None,
    away: Callable[[StoreUnavailable], object] | None,
) -> None:
    error = None if future.cancelled() else future.exception()
    if isinstance(error, StoreUnavailable) and away is not None:
        away(error)
    elif isinstance(error, StoreUnavailable):
        log.warning("what nobody waited for was not stored: %s", error)
    elif error is not None:
        log.error("what nobody waited for was not stored", exc_info=error)
    elif then is not None and not future.cancelled():
        then(future.result())
