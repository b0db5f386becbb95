"""Wake-ups between processes on one PostgreSQL, by LISTEN and NOTIFY. Hints only: nothing depends on them."""

import asyncio
import logging
from collections.abc import Awaitable, Callable
from typing import Any

from answerback.background import break_off
from answerback.signals import Signals

log = logging.getLogger("answerback.wakeups")
NAME = "answerback"  # what PostgreSQL calls a channel
AGAIN = 5.0  # seconds until a lost connection is tried again
TOGETHER = 0.01  # seconds in which hints wait for company: each costs as much as a statement
AT_ONCE = 100  # hints; PostgreSQL takes 8000 bytes
MOST = 1000  # hints kept while they cannot be sent; a lost one costs a waiter two seconds


class Wakeups:
    """Two connections: one hears, one tells. Outside of every transaction, so that no commit waits for it."""

    def __init__(
        self,
        url: str,
        owner: str,
        signals: Signals,
        write: Callable[[], Awaitable[None]],
        again: float = AGAIN,
    ) -> None:
        """`write` is awaited whenever a connection is made: whoever lost one has the store look where it

        writes, even if there is nothing to write. `again`: seconds until a lost one is made anew.
        """
        self._url, self._owner, self._signals = url, owner, signals
        self._write, self._again = write, again
        self._out: asyncio.Queue[str] = asyncio.Queue(MOST)
        self._tasks: list[asyncio.Task[None]] = []
        self.hearing = asyncio.Event()  # set once the first hint could be heard

    def start(self) -> None:
        """Begin to hear and to tell."""
        self._signals.elsewhere = self._tell
        self._tasks = [
            asyncio.create_task(self._always(self._hear)),
            asyncio.create_task(self._always(self._say)),
        ]

    async def close(self) -> None:
        """Stop."""
        await break_off(self._tasks)

    def _tell(self, interaction_id: str) -> None:
        if not self._out.full():
            self._out.put_nowait(interaction_id)

    async def _always(self, work: Any) -> None:
        while True:
            try:
                await work()
            except Exception as error:
                log.info("wake-ups from other processes pause: %s", type(error).__name__)
            await asyncio.sleep(self._again)

    async def _connect(self) -> Any:
        import psycopg

        return await psycopg.AsyncConnection.connect(self._url, autocommit=True)

    async def _hear(self) -> None:
        async with await self._connect() as connection:
            await connection.execute(f"LISTEN {NAME}")
            self.hearing.set()
            await self._write()
            async for heard in connection.notifies():
                owner, _, changed = heard.payload.partition(":")
                for interaction_id in changed.split(",") if owner != self._owner else ():
                    self._signals.woken(interaction_id)

    async def _say(self) -> None:
        async with await self._connect() as connection:
            while True:
                changed = [await self._out.get()]
                await asyncio.sleep(TOGETHER)
                while not self._out.empty() and len(changed) < AT_ONCE:
                    changed.append(self._out.get_nowait())
                payload = f"{self._owner}:{','.join(dict.fromkeys(changed))}"
                await connection.execute("SELECT pg_notify(%s, %s)", (NAME, payload))
