"""Changes: everything that happens in the sandbox counts here, and whoever waits is woken."""

import asyncio
from collections.abc import Callable
from typing import TypeVar

T = TypeVar("T")


class Changes:
    """A counter that can be waited on. All of it happens in one event loop, without polling."""

    def __init__(self) -> None:
        self.version = 0
        self.closed = False
        self._waiters: set[asyncio.Future[None]] = set()

    def touch(self) -> None:
        """Something changed: wake everyone who waits."""
        self.version += 1
        for waiter in self._waiters:
            if not waiter.done():
                waiter.set_result(None)

    def close(self) -> None:
        """The sandbox stops: long polls, event streams and slowed answers end now."""
        self.closed = True
        self.touch()

    async def wait_for(self, predicate: Callable[[], T], timeout: float | None) -> T:
        """The first truthy result of `predicate`, asked again after each change.

        `timeout` is in seconds, None waits forever. Raises TimeoutError.
        """
        async with asyncio.timeout(timeout):
            while not (result := predicate()):
                await self._next()
        return result

    async def after(self, version: int) -> None:
        """Return as soon as there was a change after that version, or the sandbox closes."""
        await self.wait_for(lambda: self.closed or self.version > version, None)

    async def _next(self) -> None:
        waiter: asyncio.Future[None] = asyncio.get_running_loop().create_future()
        self._waiters.add(waiter)
        try:
            await waiter
        finally:
            self._waiters.discard(waiter)
