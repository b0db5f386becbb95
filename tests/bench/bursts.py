"""Many of the same at once, and what that took."""

import asyncio
import time
from collections.abc import Awaitable, Callable
from dataclasses import dataclass

Once = Callable[[int], Awaitable[float]]


@dataclass(frozen=True, slots=True)
class Burst:
    """Some loops done: how long they took, processor time, and a latency a loop; in seconds."""

    loops: int
    seconds: float
    cpu: float
    latencies: list[float]

    @property
    def rate(self) -> float:
        return self.loops / self.seconds


async def nothing() -> None:
    """Nothing is left to be done."""


async def burst(
    once: Once,
    loops: int,
    at_once: int,
    drained: Callable[[], Awaitable[None]] = nothing,
    cpu: Callable[[], float] = time.process_time,
) -> Burst:
    """`loops` calls of `once(slot)`, `at_once` at a time, and whatever they leave to do."""
    left = iter(range(loops))
    latencies: list[float] = []

    async def work(slot: int) -> None:
        for _ in left:
            latencies.append(await once(slot))  # noqa: PERF401 - many append in turn

    begun, used = time.perf_counter(), cpu()
    await asyncio.gather(*(work(slot) for slot in range(at_once)))
    await drained()
    return Burst(loops, time.perf_counter() - begun, cpu() - used, latencies)
