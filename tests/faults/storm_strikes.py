"""What a storm strikes with: each breaks something for a moment, and is over when its context ends."""

import asyncio
import contextlib
import os
import random
import signal
from collections.abc import AsyncIterator, Callable, Iterator, Sequence
from contextlib import AbstractAsyncContextManager
from pathlib import Path

import psycopg

from answerback.errors import StoreUnavailable
from tests.faults.ailments import Ailment
from tests.faults.sessions import sessions, title
from tests.faults.storm_town import Town
from tests.support.postgres import PostgresServer

PAUSE = 0.6  # seconds between two strikes at most
LASTS = 0.8  # seconds at most for which something is broken
Strike = Callable[[Town, random.Random], AbstractAsyncContextManager[None]]


def of(ailment: Ailment) -> Strike:
    """What can befall a database, as a strike."""
    return lambda town, chance: ailment(chance.choice(town.gateways), town.database)


@contextlib.asynccontextmanager
async def worker_killed(town: Town, chance: random.Random) -> AsyncIterator[None]:
    _signal(_workers(), signal.SIGKILL, chance)
    yield


@contextlib.asynccontextmanager
async def worker_frozen(town: Town, chance: random.Random) -> AsyncIterator[None]:
    with _frozen(_workers(), chance):
        yield


class Sessions:
    """Strikes at single sessions of a server."""

    def __init__(self, server: PostgresServer, database: str) -> None:
        self._server, self._database = server, database

    @contextlib.asynccontextmanager
    async def ended(self, town: Town, chance: random.Random) -> AsyncIterator[None]:
        """One is told to end, as by an administrator."""
        _signal(self._found(), signal.SIGTERM, chance)
        yield

    @contextlib.asynccontextmanager
    async def killed(self, town: Town, chance: random.Random) -> AsyncIterator[None]:
        """One is killed. The server ends all others and recovers what was committed."""
        _signal(self._found(), signal.SIGKILL, chance)
        yield

    @contextlib.asynccontextmanager
    async def frozen(self, town: Town, chance: random.Random) -> AsyncIterator[None]:
        """One says nothing for a while, and then goes on."""
        with _frozen(self._found(), chance):
            yield

    def _found(self) -> list[int]:
        return sessions(self._server, self._database)


def _workers() -> list[int]:
    """The workers of this process."""
    threads = Path("/proc/self/task").iterdir()
    children = [pid for thread in threads for pid in (thread / "children").read_text().split()]
    return [int(pid) for pid in children if "answerback.workers" in title(pid)]


def _signal(pids: Sequence[int], number: int, chance: random.Random) -> int:
    """To one of them; which. 0 if there is none."""
    if not pids:
        return 0
    pid = chance.choice(pids)
    with contextlib.suppress(ProcessLookupError):
        os.kill(pid, number)
    return pid


@contextlib.contextmanager
def _frozen(pids: Sequence[int], chance: random.Random) -> Iterator[None]:
    pid = _signal(pids, signal.SIGSTOP, chance)
    try:
        yield
    finally:
        if pid:
            _signal([pid], signal.SIGCONT, chance)


async def strike_all(town: Town, strikes: Sequence[Strike], count: int, chance: random.Random) -> None:
    """So many of them, one after the other."""
    for _ in range(count):
        await asyncio.sleep(chance.uniform(0, PAUSE))
        async with contextlib.AsyncExitStack() as stack:
            # What the strike before has brought down may still be down: then it is this one, too.
            with contextlib.suppress(psycopg.OperationalError, StoreUnavailable):
                await stack.enter_async_context(chance.choice(strikes)(town, chance))
            await asyncio.sleep(chance.uniform(0, LASTS))
