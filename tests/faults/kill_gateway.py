"""One gateway through all its lives: what a service manager, a clock and an operator do for it."""

import asyncio
import socket
from collections.abc import Awaitable, Callable, Coroutine
from dataclasses import dataclass
from typing import Any, TypeVar

from answerback_sandbox import Sandbox
from tests.faults.kill_life import PATIENCE, Life, Zygote
from tests.faults.victim import AWAY
from tests.support.databases import Database

T = TypeVar("T")
Begun = Callable[[Life], Awaitable[None]]  # told of each life before it starts
DOWN = 120.0  # seconds between two lives: every claim and lease of the dead has lapsed
TRIES = 40


class Stuck(AssertionError):
    """Something does not come about, however often it is tried and however much time passes."""


async def nobody(life: Life) -> None:
    """Nothing is to be done about a life."""


class Time:
    """Everybody's clock, moved by hand: microseconds since the Unix epoch."""

    def __init__(self) -> None:
        self.now = 1_790_000_000_000_000

    def __call__(self) -> int:
        return self.now

    def forward(self, seconds: float) -> None:
        self.now += round(seconds * 1_000_000)


@dataclass(slots=True)
class Place:
    """What stays when a gateway dies: its socket, its database, the far side, the time."""

    zygote: Zygote
    listener: socket.socket
    url: str
    database: Database
    box: Sandbox
    time: Time


class Gateway:
    """`life` is the process that serves now."""

    life: Life

    def __init__(self, place: Place, begun: Begun) -> None:
        self.place, self._begun = place, begun

    async def fork(self) -> Life:
        """One more process; it starts when it is told to, and takes orders once it has started."""
        place = self.place
        order = {
            "folder": str(place.database.data_dir),
            "database": place.database.url,
            "url": place.url,
            "telegram": place.box.url,
            "token": place.box.token,
            "now": place.time.now,
        }
        return await place.zygote.fork(order, place.listener)

    async def start(self) -> None:
        """A life, and another one as long as they are struck while they start."""
        while True:
            self.life = await self.fork()
            await self._begun(self.life)
            if await self.life.started():
                return
            await self.life.ended()
            if self.life.refusal:
                raise Stuck(f"it does not start: {self.life.refusal}")

    async def restart(self) -> None:
        """In good order."""
        await self.life.stop()
        self.place.time.forward(DOWN)
        await self.start()

    async def mend(self) -> None:
        """What whoever looks after it does when it hangs or is dead."""
        if self.life.hangs.is_set():
            await self._replace()
        if self.life.over.is_set():
            await self.life.ended()
            self.place.time.forward(DOWN)
            await self.start()

    async def _replace(self) -> None:
        """Of one that hangs. On SQLite it keeps every other away, until it is killed.

        On PostgreSQL a second process takes over when the leases lapse; then the first goes on, and what it
        still has to say must change nothing.
        """
        first = self.life
        self.place.time.forward(DOWN)
        second = await self.fork()
        if self.place.database.dialect == "sqlite":
            assert not await second.started()
            assert "Another answerback is using" in second.refusal
            await second.ended()
            await first.kill()
            return
        assert await second.started()
        self.life = second
        await second.order("sweep", now=self.place.time.now)
        await first.go_on()
        await first.order("sweep", now=self.place.time.now)
        await first.stop()

    async def settle(self, seconds: float = 5.0) -> None:
        """Time passes, and what falls due is done, whatever strikes meanwhile.

        A server that was struck recovers in its own time: until then nothing can be expected.
        """
        self.place.time.forward(seconds)
        async with asyncio.timeout(PATIENCE):
            while await self._swept() == AWAY:  # noqa: ASYNC110 - nobody says when it is back
                await asyncio.sleep(0.02)
        await self.mend()

    async def _swept(self) -> Any:
        return await self.life.meet(self.life.order("sweep", now=self.place.time.now))

    async def until(self, attempt: Callable[[], Coroutine[Any, Any, T]]) -> T:
        """The first truthy result: tried again after each fault, as a client does that heard nothing."""
        for _ in range(TRIES):
            result: T | None = await self.life.meet(attempt())
            await self.mend()
            if result:
                return result
            await self.settle(30.0)
        raise Stuck(f"{attempt} does not come about")

    async def ask(self, what: str, **values: Any) -> Any:
        """The result of an order, from a life that lives to give it, with a database."""

        async def attempt() -> tuple[Any, ...]:
            result = await self.life.order(what, **values)
            return () if result == AWAY else (result,)

        return (await self.until(attempt))[0]
