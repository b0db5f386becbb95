"""Background work: tasks under way in this process, waited for by tests and ended at the stop."""

import asyncio
import logging
from collections.abc import Coroutine

from answerback.errors import StoreUnavailable

log = logging.getLogger("answerback.background")


class Background:
    """Base of what works in the background. What is cut short is due again when its lease lapses."""

    def __init__(self) -> None:
        self._tasks: set[asyncio.Task[None]] = set()

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
    def busy(self) -> bool:
        """Whether something is under way."""
        return bool(self._tasks)

    async def idle(self) -> None:
        """Until nothing is under way."""
        while self._tasks:
            await asyncio.wait(set(self._tasks))

    async def close(self) -> None:
        """Stop what is under way."""
        for task in self._tasks:
            task.cancel()
        await asyncio.gather(*self._tasks, return_exceptions=True)
