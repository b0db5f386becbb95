"""One writer thread that commits what is waiting as one group; readers with connections of their own."""

import asyncio
import contextlib
import queue
import threading
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from typing import Any, TypeVar

from answerback.errors import StoreUnavailable
from answerback.store.backend import Backend
from answerback.store.tx import Tx

T = TypeVar("T")
GROUP = 128  # the most transactions that share a commit
READERS = 2
RETRIES = 5


class _Job:
    __slots__ = ("future", "loop", "result", "tx")

    def __init__(self, tx: Callable[[Tx], Any], loop: asyncio.AbstractEventLoop) -> None:
        self.tx, self.loop = tx, loop
        self.future: asyncio.Future[Any] = loop.create_future()
        self.result: Any = None


class Store:
    """Runs transaction functions. A function may run twice (a group that failed is replayed singly),

    so it touches nothing but its cursor; its result is handed out only after the commit.
    """

    def __init__(self, backend: Backend) -> None:
        self.backend = backend
        self._jobs: queue.SimpleQueue[_Job | None] = queue.SimpleQueue()
        self._thread: threading.Thread | None = None
        self._readers = ThreadPoolExecutor(READERS, thread_name_prefix="store-read")
        self._local = threading.local()
        self._open_readers: list[Any] = []

    def open(self, prepare: Callable[[str], None] | None = None) -> None:
        """Take the lock, `prepare` the database's shape (given its URL), and start the writer.

        Raises `StoreUnavailable` or `ConfigurationError`.
        """
        self.backend.lock()
        try:
            if prepare is not None:
                prepare(self.backend.url)
            connection = self.backend.connect(writer=True)
        except Exception as error:
            self.backend.unlock()
            raise self.backend.translate(getattr(error, "orig", error)) from error
        self._thread = threading.Thread(
            target=self._work, args=(connection,), name="store-write", daemon=True
        )
        self._thread.start()

    @property
    def is_open(self) -> bool:
        """Whether it takes transactions."""
        return self._thread is not None

    def close(self) -> None:
        """Commit what is waiting, then stop."""
        if self._thread is not None:
            self._jobs.put(None)
            self._thread.join()
            self._thread = None
        self._readers.shutdown()
        for connection in self._open_readers:
            connection.close()
        self._open_readers.clear()
        self.backend.unlock()

    async def write(self, tx: Callable[[Tx], T]) -> T:
        """Run `tx` in a transaction; its result once it is durable. Raises what `tx` raises."""
        job = _Job(tx, asyncio.get_running_loop())
        self._jobs.put(job)
        return await job.future  # type: ignore[no-any-return]

    async def read(self, tx: Callable[[Tx], T]) -> T:
        """Run `tx` on a reading connection."""
        return await asyncio.get_running_loop().run_in_executor(self._readers, self._read, tx)

    # -- the reading threads

    def _read(self, tx: Callable[[Tx], T]) -> T:
        connection = getattr(self._local, "connection", None)
        if connection is None:
            connection = self._local.connection = self.backend.connect(writer=False)
            self._open_readers.append(connection)
        try:
            cursor = connection.cursor()
            try:
                return tx(Tx(cursor, self.backend.dialect, self.backend.now(cursor)))
            finally:
                cursor.close()
        except Exception as error:
            if self.backend.is_lost(error):
                self._local.connection = None
            raise self.backend.translate(error) from error

    # -- the writing thread

    def _work(self, connection: Any) -> None:
        while (job := self._jobs.get()) is not None:
            group, stop = self._waiting(job)
            connection = self._commit(connection, group)
            if stop:
                break
        if connection is not None:
            connection.close()

    def _waiting(self, first: _Job) -> tuple[list[_Job], bool]:
        group = [first]
        while len(group) < GROUP:
            try:
                job = self._jobs.get_nowait()
            except queue.Empty:
                return group, False
            if job is None:
                return group, True
            group.append(job)
        return group, False

    def _commit(self, connection: Any, group: list[_Job]) -> Any:
        try:
            connection = self._together(connection, group)
        except Exception as error:
            connection = self._recover(connection, error)
            if len(group) == 1 and not self.backend.retryable(error) and not self.backend.is_lost(error):
                _fail(group[0], self.backend.translate(error))
            else:
                for job in group:  # one bad transaction must not spoil its neighbours
                    connection = self._alone(connection, job)
            return connection
        _answer(group)
        return connection

    def _together(self, connection: Any, group: list[_Job]) -> Any:
        connection = connection or self.backend.connect(writer=True)
        cursor = connection.cursor()
        self.backend.begin(cursor)
        now = self.backend.now(cursor)
        for job in group:
            job.result = job.tx(Tx(cursor, self.backend.dialect, now))
        cursor.execute("COMMIT")
        cursor.close()
        return connection

    def _alone(self, connection: Any, job: _Job) -> Any:
        for attempt in range(RETRIES):
            try:
                connection = self._together(connection, [job])
            except Exception as error:
                connection = self._recover(connection, error)
                last = attempt == RETRIES - 1
                if last or not self.backend.retryable(error):
                    _fail(job, self.backend.translate(error))
                    break
            else:
                _answer([job])
                break
        return connection

    def _recover(self, connection: Any, error: Exception) -> Any:
        """The connection, rolled back; None when it has to be made anew."""
        if connection is None or self.backend.is_lost(error):
            return _closed(connection)
        try:
            connection.execute("ROLLBACK")
        except Exception as rollback:
            if self.backend.is_lost(rollback) or isinstance(
                self.backend.translate(rollback), StoreUnavailable
            ):
                return connection if "no transaction" in str(rollback) else _closed(connection)
            return _closed(connection)
        return connection


def _closed(connection: Any) -> None:
    if connection is not None:
        with contextlib.suppress(Exception):
            connection.close()


def _answer(group: list[_Job]) -> None:
    loops = {job.loop for job in group}
    for loop in loops:
        _call(loop, _settle, [(job.future, job.result, None) for job in group if job.loop is loop])


def _fail(job: _Job, error: Exception) -> None:
    _call(job.loop, _settle, [(job.future, None, error)])


def _call(loop: asyncio.AbstractEventLoop, function: Callable[..., None], argument: Any) -> None:
    try:
        loop.call_soon_threadsafe(function, argument)
    except RuntimeError:  # the loop is closed: nobody waits any more
        return


def _settle(results: list[tuple[asyncio.Future[Any], Any, Exception | None]]) -> None:
    for future, result, error in results:
        if future.done():
            continue
        if error is None:
            future.set_result(result)
        else:
            future.set_exception(error)
