"""Turns: so many threads of an agent go on at the same time; those of another agent never wait for them."""

import asyncio
import contextlib
from collections.abc import AsyncIterator

AT_ONCE = 64  # threads of one agent, in this process
PATIENCE = 20.0  # seconds: a lease that nobody renews lasts half as long again


class NoTurn(Exception):
    """All turns of the agent were taken for as long as one waits here: some other process may have one."""


class Turns:
    """Those of each agent, by its name."""

    def __init__(self, at_once: int = AT_ONCE, patience: float = PATIENCE) -> None:
        self._at_once, self._patience = at_once, patience
        self._gates: dict[str, asyncio.Semaphore] = {}

    @contextlib.asynccontextmanager
    async def of(self, agent: str) -> AsyncIterator[bool]:
        """One of the agent's, while the block runs; whether it was waited for, so that things have changed.

        Raises `NoTurn` if none gets free in time.
        """
        gate = self._gates.setdefault(agent, asyncio.Semaphore(self._at_once))
        waits = gate.locked()
        try:
            async with asyncio.timeout(self._patience if waits else None):
                await gate.acquire()
        except TimeoutError:
            raise NoTurn from None
        try:
            yield waits
        finally:
            gate.release()
