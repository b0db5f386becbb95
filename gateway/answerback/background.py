"""Background work: tasks under way in this process, waited for by tests and ended at the stop."""

import asyncio
import contextlib
import logging
from collections.abc import Coroutine, Iterable, Iterator
from typing import Any

from answerback.errors import StoreUnavailable

log = logging.getLogger("answerback.background")
GIVES_BACK = 2.0  # seconds for what has not begun to be given back
CANCELS = 2.0  # seconds until what was cancelled is cancelled once more


async def break_off(tasks: Iterable[asyncio.Task[Any]], again: float = CANCELS) -> None:
    """Cancel `tasks` until all have ended, however often that takes, `again` seconds apart.

    A cancellation may be lost: up to Python 3.11 `asyncio.wait_for` drops one when what it waits for comes at
    that moment (https://github.com/python/cpython/issues/86296), and libraries wait by it.
    """
    left = set(tasks)
    while left:
        for task in left:
            task.cancel()
        ended, left = await asyncio.wait(left, timeout=again)
        await asyncio.gather(*ended, return_exceptions=True)  # what they raised is known, and of no interest


class Leaving(Exception):
    """The gateway stops: what has not begun is for whoever comes next."""


class Background:
    """Base of what works in the background. What is cut short is due again when its lease lapses."""

    def __init__(self) -> None:
        self._tasks: set[asyncio.Task[None]] = set()
        self._waiting: set[asyncio.Task[None]] = set()  # for their turns
        self._leaving = False

    def _spawn(self, work: Coroutine[object, object, None]) -> asyncio.Task[None]:
        task = asyncio.create_task(work)
        self._tasks.add(task)
        task.add_done_callback(self._ended)
        return task

    def _ended(self, task: asyncio.Task[None]) -> None:
        """What could not even be postponed is due when its lease lapses; somebody should know why."""
        self._tasks.discard(task)
        error = None if task.cancelled() else task.exception()
        if isinstance(error, StoreUnavailable):
            log.warning("what was under way has to wait: %s", error)
        elif error is not None:
            log.error("what was under way failed", exc_info=error)

    @property
    def leaving(self) -> bool:
        """Whether nothing begins any more."""
        return self._leaving

    @property
    def busy(self) -> bool:
        """Whether something is under way."""
        return bool(self._tasks)

    async def idle(self) -> None:
        """Until nothing is under way."""
        while self._tasks:
            await asyncio.wait(set(self._tasks))

    @contextlib.contextmanager
    def _in_line(self) -> Iterator[None]:
        """While a task waits for its turn. Raises `Leaving` at the stop, instead of being broken off."""
        task = asyncio.current_task()
        assert task is not None
        if self._leaving:
            raise Leaving
        self._waiting.add(task)
        try:
            yield
        except asyncio.CancelledError:
            if not self._leaving:
                raise
            task.uncancel()
            raise Leaving from None
        finally:
            self._waiting.discard(task)

    async def close(self, over: asyncio.Event | None = None) -> None:
        """Have given back what waits for its turn; break off what has begun, but not before `over` is set."""
        self._leaving = True
        given_back = set(self._waiting)
        for task in given_back:
            task.cancel()
        if over is not None:
            await self._until(over)
        for task in self._tasks - given_back:
            task.cancel()
        if self._tasks:
            await asyncio.wait(set(self._tasks), timeout=GIVES_BACK)
        await break_off(self._tasks)

    async def _until(self, over: asyncio.Event) -> None:
        """What has begun has ended, or `over` is set."""
        is_over = asyncio.create_task(over.wait())
        try:
            while self._tasks and not is_over.done():
                await asyncio.wait({is_over, *self._tasks}, return_when=asyncio.FIRST_COMPLETED)
        finally:
            is_over.cancel()
