"""Kills at random: after some time or at some point, whichever comes first, many times in one journey."""

import asyncio
import contextlib
import os
import random
import signal

from answerback.faults import POINTS
from tests.faults.kill_life import Life

PASSED = [point for point in POINTS if not point.startswith("erase.")]  # on a journey
LONGEST = 1.5  # seconds that a life has at most: as long as it would take to start and to end the journey
A_JOURNEY = 6  # kills at most, so that journeys come to their end


class Reaper:
    """Gives each life of a journey its death, `A_JOURNEY` times; a journey that ends sooner survives."""

    def __init__(self, chance: random.Random) -> None:
        self._chance = chance
        self._left = A_JOURNEY
        self._doomed: list[Life] = []
        self._timer: asyncio.TimerHandle | None = None

    @property
    def kills(self) -> int:
        """How many lives it has ended."""
        return sum(life.over.is_set() for life in self._doomed)

    async def begun(self, life: Life) -> None:
        """A life is about to start; it may well die over that."""
        self.rest()
        if self._left == 0:
            return
        self._left -= 1
        self._doomed.append(life)
        life.aim = (self._chance.choice(PASSED), "kill", self._chance.randint(1, 9))
        seconds = self._chance.uniform(0, LONGEST)
        self._timer = asyncio.get_running_loop().call_later(seconds, _kill, life.pid)

    def rest(self) -> None:
        """No more kills by time."""
        if self._timer is not None:
            self._timer.cancel()


def _kill(pid: int) -> None:
    with contextlib.suppress(ProcessLookupError):  # at its point it was quicker
        os.kill(pid, signal.SIGKILL)
