"""Gates: how many messages go out at the same time, on a provider and to one place on it.

A few more wait behind those. What comes on top of them waits in its row, where it costs nothing and anybody
may send it: a service that hangs fills neither the memory nor the turns of what is sent elsewhere.
"""

import asyncio
import contextlib
import time
from collections.abc import AsyncGenerator, Callable, Mapping

AT_ONCE = 16  # messages under way on one provider
AT_ONCE_PLACE = 2  # and to one place on it
ROOM, ROOM_PLACE = 512, 32  # of those and what waits behind them
PATIENCE = 20.0  # seconds that a message waits here: a claim lasts three times as long
SHORTEST, LONGEST = 0.1, 60.0  # seconds until what found no room comes again
LEAST = 0.02  # seconds that a message takes, where nobody knows better
TELLING, OLD = 1.0, 8.0  # seconds: what ended in less says nothing of a service, and half of what did in more


class NoRoom(Exception):
    """Others were before it for as long as one waits here. In `seconds` there may be room."""

    def __init__(self, seconds: float) -> None:
        self.seconds = seconds
        super().__init__("others were before it")


class _Gate:
    """`inside` counts what is at work here and what waits for that."""

    def __init__(self, at_once: int, room: int) -> None:
        self.inside, self._at_once, self._room = 0, at_once, room
        self.turns = asyncio.Semaphore(at_once)
        self._since, self.ended = 0.0, 0.0  # how many have ended since
        self._free_at = 0.0

    def enter(self, now: float) -> None:
        if not self.inside:
            self._since, self.ended = now, 0.0
        self.inside += 1

    @property
    def is_full(self) -> bool:
        return self.inside >= self._room

    def again(self, now: float) -> float:
        """When to come again, one behind the other: as fast as others have ended of late."""
        self._free_at = min(max(self._free_at, now) + self._each(now), now + LONGEST)
        return max(SHORTEST, self._free_at - now)

    def _each(self, now: float) -> float:
        """Seconds from the end of one to the end of the next. In a burst our own turns are slow at first."""
        span = now - self._since
        if span < TELLING:
            return LEAST / self._at_once
        each = span / (self.ended + self._at_once)
        if span > OLD:
            self._since, self.ended = self._since + span / 2, self.ended / 2
        return each


class Gates:
    """Those of each provider and each place. `at_once`: of providers that are not like the others.

    `now`: seconds, of a steady clock.
    """

    def __init__(
        self,
        at_once: Mapping[str, int],
        patience: float = PATIENCE,
        now: Callable[[], float] = time.monotonic,
    ) -> None:
        self._patience, self._now = patience, now
        self._providers = {name: _Gate(number, ROOM) for name, number in at_once.items()}
        self._places: dict[tuple[str, str], _Gate] = {}

    def enter(self, provider: str, place: str) -> float:
        """0: there is room, and it has to `leave` again. Else the seconds until there may be."""
        gates, now = self._of(provider, place), self._now()
        for gate in gates:
            if gate.is_full:
                return gate.again(now)
        for gate in gates:
            gate.enter(now)
        return 0.0

    def leave(self, provider: str, place: str) -> None:
        for gate in self._of(provider, place):
            gate.inside -= 1
        if not self._places[provider, place].inside:
            del self._places[provider, place]

    @contextlib.asynccontextmanager
    async def turn(self, provider: str, place: str) -> AsyncGenerator[None]:
        """One message's, while the block runs: one person whose messages hang does not fill the provider.

        Raises `NoRoom` if none comes in time.
        """
        narrow, wide = self._of(provider, place)
        async with contextlib.AsyncExitStack() as stack:
            try:
                async with asyncio.timeout(self._patience):
                    for gate in (narrow, wide):
                        await stack.enter_async_context(gate.turns)
            except TimeoutError:
                raise NoRoom(narrow.again(self._now())) from None
            try:
                yield
            finally:
                for gate in (narrow, wide):
                    gate.ended += 1

    def _of(self, provider: str, place: str) -> tuple[_Gate, _Gate]:
        """That of the place, and that of all of the provider's."""
        if provider not in self._providers:
            self._providers[provider] = _Gate(AT_ONCE, ROOM)
        key = provider, place
        if key not in self._places:
            self._places[key] = _Gate(AT_ONCE_PLACE, ROOM_PLACE)
        return self._places[key], self._providers[provider]


MakeGates = Callable[[Mapping[str, int]], Gates]
