"""The writing thread: what is waiting shares a commit; what spoils it is told from its neighbours."""

import asyncio
import contextlib
import logging
import queue
import threading
from collections.abc import Callable
from typing import Any

from answerback.errors import StoreUnavailable
from answerback.metrics import Happened
from answerback.store.backend import Backend, hang_up
from answerback.store.tx import Entry, Tx

log = logging.getLogger("answerback.store")
GROUP = 128  # the most transactions that share a commit
RETRIES = 5


class Job:
    """One transaction function, and who waits for it; `counts` is told what has happened in it."""

    __slots__ = ("afterwards", "counts", "future", "happened", "loop", "result", "tx")

    def __init__(
        self,
        tx: Callable[[Tx], Any],
        loop: asyncio.AbstractEventLoop,
        counts: Callable[[list[Happened]], None],
    ) -> None:
        self.tx, self.loop, self.counts = tx, loop, counts
        self.future: asyncio.Future[Any] = loop.create_future()
        self.result: Any = None
        self.happened: list[Happened] = []
        self.afterwards: list[Callable[[], None]] = []


class Writer:
    """One thread with one connection. Whoever waits for a job is answered after its commit.

    A new connection may lead to another server: `look_back` gets the last entry that was committed, in the
    first transaction there.
    """

    def __init__(self, backend: Backend, connection: Any, look_back: Callable[[Tx, Entry], None]) -> None:
        self._backend, self._look_back = backend, look_back
        self._last: Entry | None = None
        self._is_new = False
        self._moved_at = 0
        self._as_of = 0  # when the transaction under way began, by this process's timer
        self._jobs: queue.SimpleQueue[list[Job] | None] = queue.SimpleQueue()
        self._committing = False
        self._thread = threading.Thread(
            target=self._work, args=(connection,), name="store-write", daemon=True
        )
        self._thread.start()

    def put(self, jobs: list[Job]) -> None:
        """To be committed together, with whatever else waits."""
        self._jobs.put(jobs)

    def close(self) -> None:
        """Commit what is waiting, then end."""
        self._jobs.put(None)
        self._thread.join()

    def _work(self, connection: Any) -> None:
        while (jobs := self._jobs.get()) is not None:
            group, stop = self._waiting(jobs)
            try:
                connection = self._commit(connection, group)
            except Exception as error:  # ours: without this thread, all who write would wait for ever
                log.exception("transactions came to no end")
                hang_up(connection)
                connection = None
                for job in group:
                    _fail(job, error)
            if stop:
                break
        if connection is not None:
            connection.close()

    def _waiting(self, group: list[Job]) -> tuple[list[Job], bool]:
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

    def _commit(self, connection: Any, group: list[Job]) -> Any:
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
                connection = connection if connection is not None else self._connect()
                self._as_of = self._backend.timer()
                now = self._backend.begin(connection)
            except Exception as error:
                found = connection is not None
                connection = self._recover(connection, error)
                if attempt == 2 or not found or connection is not None:
                    return connection, 0, self._backend.translate(error)
            else:
                return connection, now, None
        raise AssertionError("unreachable")

    def _connect(self) -> Any:
        connection = self._backend.connect(writer=True)
        self._is_new = True
        return connection

    def _run(self, connection: Any, now: int, group: list[Job]) -> None:
        self._committing = False
        cursor = connection.cursor()
        looked, last = self._looked(cursor, now) if self._is_new else [], self._last
        for job in group:
            tx = Tx(cursor, self._backend.dialect, now, self._as_of, self._moved_at)
            job.result, job.happened, job.afterwards = _called(job.tx, tx), tx.happened, tx.afterwards
            tx.flush()
            last = tx.entry or last
        self._committing = True
        cursor.execute("COMMIT")
        cursor.close()
        self._last, self._is_new = last, False
        group[0].afterwards += looked

    def _looked(self, cursor: Any, now: int) -> list[Callable[[], None]]:
        """In the first transaction on a new connection; what is to be called after its commit."""
        self._moved_at = now
        tx = Tx(cursor, self._backend.dialect, now, self._as_of)
        if self._last is not None:
            self._look_back(tx, self._last)
            tx.flush()
        return tx.afterwards

    def _replay(self, connection: Any, group: list[Job], error: Exception) -> Any:
        """One by one, so that one bad transaction does not spoil its neighbours."""
        if self._is_final(connection, group, error):
            for job in group:
                _fail(job, self._backend.translate(error))
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
                    if attempt == RETRIES - 1 or not self._backend.retryable(again):
                        _fail(job, self._backend.translate(again))
                        break
                else:
                    _answer([job])
                    break
        return connection

    def _is_final(self, connection: Any, group: list[Job], error: Exception) -> bool:
        """Whether another try would be wrong or of no use.

        A connection lost during COMMIT leaves open whether it was committed: nothing is done twice. A full
        disk or a locked table is nobody's fault in the group: one by one, each would wait for it again.
        """
        if connection is None:
            return self._committing
        if self._backend.retryable(error):
            return False
        return len(group) == 1 or isinstance(self._backend.translate(error), StoreUnavailable)

    def _recover(self, connection: Any, error: Exception) -> Any:
        """The connection, rolled back; None when it has to be made anew."""
        if connection is None:
            return None
        if not self._backend.is_lost(connection, error):
            with contextlib.suppress(Exception):  # there may be no transaction to roll back
                connection.execute("ROLLBACK")
            if not self._backend.is_lost(connection, error):
                return connection
        hang_up(connection)
        return None


def _called(function: Callable[[Tx], Any], tx: Tx) -> Any:
    try:
        return function(tx)
    except Exception:
        raise
    except BaseException as error:  # SystemExit of somebody's code would end this thread
        raise RuntimeError(f"a transaction raised {type(error).__name__}") from error


def _answer(group: list[Job]) -> None:
    loops = {job.loop for job in group}
    for loop in loops:
        _call(loop, _settle, [job for job in group if job.loop is loop])


def _fail(job: Job, error: Exception) -> None:
    _call(job.loop, _refuse, (job.future, error))


def _call(loop: asyncio.AbstractEventLoop, function: Callable[..., None], argument: Any) -> None:
    try:
        loop.call_soon_threadsafe(function, argument)
    except RuntimeError:  # the loop is closed: nobody waits any more
        return


def _settle(group: list[Job]) -> None:
    for job in group:  # first of all: nobody waits for what is only counted and logged
        if not job.future.done():
            job.future.set_result(job.result)
    for job in group:
        if job.happened:
            job.counts(job.happened)
        for call in job.afterwards:
            call()


def _refuse(refused: tuple[asyncio.Future[Any], Exception]) -> None:
    future, error = refused
    if not future.done():
        future.set_exception(error)
