"""One writer thread that commits what is waiting as one group; readers with connections of their own."""

import asyncio
import contextlib
import logging
import queue
import threading
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from typing import Any, TypeVar

from answerback.errors import StoreUnavailable
from answerback.store.backend import Backend
from answerback.store.tx import Tx

log = logging.getLogger("answerback.store")
T = TypeVar("T")
GROUP = 128  # the most transactions that share a commit
READERS = 2
RETRIES = 5
SOON = 0.02  # seconds that a transaction for which nobody waits may wait for another to commit with


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
        self._jobs: queue.SimpleQueue[list[_Job] | None] = queue.SimpleQueue()
        self._thread: threading.Thread | None = None
        self._readers = ThreadPoolExecutor(READERS, thread_name_prefix="store-read")
        self._local = threading.local()
        self._open_readers: list[Any] = []
        self._committing = False
        self._soon: list[_Job] = []  # goes along with whatever is written next
        self._unsettled: set[asyncio.Future[Any]] = set()  # of these and those that go along right now

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
            self._put()
            self._jobs.put(None)
            self._thread.join()
            self._thread = None
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
        job = _Job(tx, asyncio.get_running_loop())
        self._put(job)
        return await job.future  # type: ignore[no-any-return]

    def write_soon(self, tx: Callable[[Tx], T], then: Callable[[T], object] | None = None) -> None:
        """Run `tx` in the next group commit, at most `SOON` later; then, in the loop, `then` gets its result.

        For what decides nothing and is repaired by itself (by a claim that lapses): a crash meanwhile loses
        it, an error is logged. What is given to `write` afterwards finds it done; a `read` may not.
        """
        loop = asyncio.get_running_loop()
        job = _Job(tx, loop)
        job.future.add_done_callback(lambda done: _report(done, then))
        self._unsettled.add(job.future)
        job.future.add_done_callback(self._unsettled.discard)
        self._soon.append(job)
        if len(self._soon) == 1:
            loop.call_later(SOON, self._put)

    @property
    def waits(self) -> bool:
        """Whether something that was given to `write_soon` is not committed yet."""
        return self.is_open and bool(self._unsettled)

    async def settled(self) -> None:
        """Once all that was given to `write_soon` so far is committed. Raises `StoreUnavailable`."""
        await self.write(lambda tx: None)

    async def read(self, tx: Callable[[Tx], T]) -> T:
        """Run `tx` on a reading connection."""
        return await asyncio.get_running_loop().run_in_executor(self._readers, self._read, tx)

    def _put(self, *jobs: _Job) -> None:
        """Hand to the writer what waits for company, and `jobs` behind it."""
        if together := [*self._soon, *jobs]:
            self._soon.clear()
            self._jobs.put(together)

    # -- the reading threads

    def _read(self, tx: Callable[[Tx], T]) -> T:
        for attempt in (1, 2):  # a read changes nothing: after a lost connection it is simply done again
            connection = self._reader()
            try:
                cursor = connection.cursor()
                try:
                    return tx(Tx(cursor, self.backend.dialect, self.backend.now(cursor)))
                finally:
                    cursor.close()
            except Exception as error:
                lost = self.backend.is_lost(connection, error)
                if lost:
                    self._local.connection = None
                    self._open_readers.remove(connection)
                    _close(connection)
                if not lost or attempt == 2:
                    raise self.backend.translate(error) from error
        raise AssertionError("unreachable")

    def _reader(self) -> Any:
        connection = getattr(self._local, "connection", None)
        if connection is None:
            connection = self._local.connection = self.backend.connect(writer=False)
            self._open_readers.append(connection)
        return connection

    # -- the writing thread

    def _work(self, connection: Any) -> None:
        while (jobs := self._jobs.get()) is not None:
            group, stop = self._waiting(jobs)
            connection = self._commit(connection, group)
            if stop:
                break
        if connection is not None:
            connection.close()

    def _waiting(self, group: list[_Job]) -> tuple[list[_Job], bool]:
        """With all that waits behind it; and whether it is the last."""
        while len(group) < GROUP:
            try:
                jobs = self._jobs.get_nowait()
            except queue.Empty:
                return group, False
            if jobs is None:
                return group, True
            group += jobs
        return group, False

    def _commit(self, connection: Any, group: list[_Job]) -> Any:
        connection, now, refused = self._begin(connection)
        if refused is not None:  # nobody's transaction is to blame: all are refused together, and at once
            for job in group:
                _fail(job, refused)
            return connection
        try:
            self._run(connection, now, group)
        except Exception as error:
            return self._replay(self._recover(connection, error), group, error)
        _answer(group)
        return connection

    def _begin(self, connection: Any) -> tuple[Any, int, Exception | None]:
        """A connection with an open transaction, and its time; or why there is none.

        A lost connection is made anew, once.
        """
        for attempt in (1, 2):
            try:
                connection = connection if connection is not None else self.backend.connect(writer=True)
                now = self.backend.begin(connection)
            except Exception as error:
                found = connection is not None
                connection = self._recover(connection, error)
                if attempt == 2 or not found or connection is not None:
                    return connection, 0, self.backend.translate(error)
            else:
                return connection, now, None
        raise AssertionError("unreachable")

    def _run(self, connection: Any, now: int, group: list[_Job]) -> None:
        self._committing = False
        cursor = connection.cursor()
        for job in group:
            tx = Tx(cursor, self.backend.dialect, now)
            job.result = job.tx(tx)
            tx.flush()
        self._committing = True
        cursor.execute("COMMIT")
        cursor.close()

    def _replay(self, connection: Any, group: list[_Job], error: Exception) -> Any:
        """One by one, so that one bad transaction does not spoil its neighbours."""
        if self._is_final(connection, group, error):
            for job in group:
                _fail(job, self.backend.translate(error))
            return connection
        for index, job in enumerate(group):
            for attempt in range(RETRIES):
                connection, now, refused = self._begin(connection)
                if refused is not None:
                    for left in group[index:]:
                        _fail(left, refused)
                    return connection
                try:
                    self._run(connection, now, [job])
                except Exception as again:
                    connection = self._recover(connection, again)
                    if attempt == RETRIES - 1 or not self.backend.retryable(again):
                        _fail(job, self.backend.translate(again))
                        break
                else:
                    _answer([job])
                    break
        return connection

    def _is_final(self, connection: Any, group: list[_Job], error: Exception) -> bool:
        """Whether another try would be wrong or of no use.

        A connection lost during COMMIT leaves open whether it was committed: nothing is done twice. A full
        disk or a locked table is nobody's fault in the group: one by one, each would wait for it again.
        """
        if connection is None:
            return self._committing
        if self.backend.retryable(error):
            return False
        return len(group) == 1 or isinstance(self.backend.translate(error), StoreUnavailable)

    def _recover(self, connection: Any, error: Exception) -> Any:
        """The connection, rolled back; None when it has to be made anew."""
        if connection is None:
            return None
        if not self.backend.is_lost(connection, error):
            with contextlib.suppress(Exception):  # there may be no transaction to roll back
                connection.execute("ROLLBACK")
            if not self.backend.is_lost(connection, error):
                return connection
        _close(connection)
        return None


def _close(connection: Any) -> None:
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


def _report(future: asyncio.Future[Any], then: Callable[[Any], object] | None) -> None:
    error = None if future.cancelled() else future.exception()
    if isinstance(error, StoreUnavailable):
        log.warning("what nobody waited for was not stored: %s", error)
    elif error is not None:
        log.error("what nobody waited for was not stored", exc_info=error)
    elif then is not None and not future.cancelled():
        then(future.result())


def _settle(results: list[tuple[asyncio.Future[Any], Any, Exception | None]]) -> None:
    for future, result, error in results:
        if future.done():
            continue
        if error is None:
            future.set_result(result)
        else:
            future.set_exception(error)
