"""A messenger in all weathers: what its service does to a send is set by a schedule in virtual time."""

import asyncio
from collections import Counter
from collections.abc import Awaitable, Callable
from typing import Any

from answerback.clock import AT_MOST, next_due
from answerback.provider import Address, Message, Sent, TryLater, Undeliverable
from answerback.testing import ManualClock
from tests.faults.phone import Phone
from tests.support.gateway import Gateway

MINUTE = 60_000_000  # microseconds
Call = Callable[[], Awaitable[Any]]  # what the service would do in fine weather
Schedule = Callable[[float], str]  # minutes since the start → the weather


class Service(Phone):
    """Its weathers are the methods below; `attempts` has (time, delivery id, weather) of every send."""

    def __init__(self, clock: ManualClock, schedule: Schedule, name: str = "memory") -> None:
        super().__init__(name)
        self._clock, self._schedule, self._start = clock, schedule, clock.now
        self.attempts: list[tuple[int, str, str]] = []

    @property
    def weather(self) -> str:
        return self._schedule((self._clock.now - self._start) / MINUTE)

    async def send(self, message: Message) -> Sent:
        return await self._meet(message, lambda: Phone.send(self, message))

    async def update(self, to: Address, message_id: str, message: Message) -> None:
        await self._meet(message, lambda: Phone.update(self, to, message_id, message))

    async def _meet(self, message: Message, do: Call) -> Any:
        self.attempts.append((self._clock.now, message.delivery_id, self.weather))
        return await getattr(self, self.weather)(do)

    async def fine(self, do: Call) -> Any:
        return await do()

    async def slow(self, do: Call) -> Any:
        for _ in range(100):  # everybody else has many turns meanwhile
            await asyncio.sleep(0)
        return await do()

    async def error_500(self, do: Call) -> None:
        raise TryLater(1, "internal server error")

    async def error_429(self, do: Call) -> None:
        raise TryLater(120, "too many requests")

    async def hanging(self, do: Call) -> None:
        raise TimeoutError  # what the core's own limit makes of a service that never answers

    async def reset(self, do: Call) -> None:
        raise ConnectionResetError("connection reset by peer")

    async def garbage(self, do: Call) -> None:
        raise ValueError("not JSON")

    async def silence_after_sending(self, do: Call) -> None:
        await do()
        raise TryLater(1, "the connection closed before the answer", maybe_sent=True)

    async def refusal(self, do: Call) -> None:
        raise Undeliverable("the person blocked us", address_dead=True)

    def per_minute(self) -> Counter[int]:
        """How many sends there were in each minute."""
        return Counter((at - self._start) // MINUTE for at, _, _ in self.attempts)


async def pass_time(g: Gateway, minutes: float) -> None:
    """Virtual time goes by as the clock lets it: from one moment that something falls due to the next."""
    end = g.clock.now + round(minutes * MINUTE)
    while g.clock.now < end:
        now, due = await g.app.context.store.read(next_due)
        g.clock.now = min(max(due, now + 1), end)
        if due < now + AT_MOST:  # otherwise nothing is due: the clock would look once a minute all the same
            await g.sweep()
