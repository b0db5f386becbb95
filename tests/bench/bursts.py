"""Many of the same at once, and what that took."""

import asyncio
import math
import time
from collections.abc import Awaitable, Callable, Iterable
from dataclasses import dataclass

Once = Callable[[int], Awaitable[Iterable[float]]]


@dataclass(frozen=True, slots=True)
class Burst:
    """Some loops or jobs done: how long they took together, and what each answer waited; in seconds."""

    loops: int
    seconds: float
    latencies: list[float]
    cpu: float = math.nan  # processor time, where that is measured

    @property
    def rate(self) -> float:
        return self.loops / self.seconds


Bursts = Callable[[int, int], Awaitable[Burst]]  # so many, so many at once


async def nothing() -> None:
    """Nothing is left to be done."""


async def burst(
    once: Once,
    loops: int,
    at_once: int,
    drained: Callable[[], Awaitable[None]] = nothing,
    cpu: Callable[[], float] = time.process_time,
) -> Burst:
    """`loops` calls of `once(slot)`, `at_once` at a time, and whatever they leave to do.

    What each call returns is how long its answers waited.
    """
    left = iter(range(loops))
    latencies: list[float] = []

    async def work(slot: int) -> None:
        for _ in left:
            latencies.extend(await once(slot))

    begun, used = time.perf_counter(), cpu()
    await asyncio.gather(*(work(slot) for slot in range(at_once)))
    await drained()
    return Burst(loops, time.perf_counter() - begun, latencies, cpu() - used)
