"""Whole loops beside bare LangGraph: rate, processor time, and what an answer waits for."""

import asyncio
import contextlib
import itertools
import time
from collections.abc import AsyncIterator, Awaitable, Callable
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from langgraph.types import Command

from answerback.agent import AgentContext
from answerback_agents.langgraph import savers
from tests.bench.gateway import Gateway, gateway
from tests.bench.graph import graph
from tests.bench.measure import Figure, alternate, figure, percentile
from tests.bench.options import Options
from tests.bench.processes import cpu_with_workers, far_side
from tests.bench.targets import AT_ONCE

LOOPS = {"c1": 40, "c50": 300}
_numbers = itertools.count()


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


Once = Callable[[int], Awaitable[float]]


async def burst(
    once: Once,
    loops: int,
    at_once: int,
    drained: Callable[[], Awaitable[None]],
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


@contextlib.asynccontextmanager
async def bare(folder: Path, database: str) -> AsyncIterator[Any]:
    """The same graph with the same saver, and nothing of ours around it."""
    async with contextlib.AsyncExitStack() as stack:
        saver = await savers.open_saver(AgentContext(str(folder), database), "bare", stack)
        yield graph().compile(checkpointer=saver)


async def bare_loop(compiled: Any) -> float:
    """Interrupt and resume, as LangGraph's documentation does it; seconds of the resume."""
    config = {"configurable": {"thread_id": f"bare-{next(_numbers)}"}}
    await compiled.ainvoke({"number": 1}, config)
    begun = time.perf_counter()
    await compiled.ainvoke(Command(resume={"content": "Yes", "choice": "Yes"}), config)
    return time.perf_counter() - begun


async def run(options: Options) -> AsyncIterator[Figure]:
    """All figures of both databases and both loads."""
    with far_side() as far:
        async for name, url, folder in options.databases():
            async with (
                gateway(folder, url, far, max(AT_ONCE.values())) as ours,
                bare(folder, url) as theirs,
            ):
                for load, at_once in AT_ONCE.items():
                    for found in await _compare(options, ours, theirs, f"{name}.{load}", at_once):
                        yield found


async def _compare(options: Options, ours: Gateway, theirs: Any, key: str, at_once: int) -> list[Figure]:
    loops = options.fewer(LOOPS[key.rpartition(".")[2]])

    async def nothing() -> None:
        return None

    async def our_burst() -> Burst:
        return await burst(
            lambda slot: ours.loop(f"p{slot}", f"thread-{next(_numbers)}"),
            loops,
            at_once,
            ours.app.idle,
            cpu_with_workers,
        )

    async def their_burst() -> Burst:
        return await burst(lambda _: bare_loop(theirs), loops, at_once, nothing)

    pairs = await alternate(options.rounds, our_burst, their_burst)
    return [
        figure(f"loop_vs_langgraph.{key}", [(a.rate, b.rate) for a, b in pairs]),
        figure(f"loop_cpu_vs_langgraph.{key}", [(a.cpu, b.cpu) for a, b in pairs]),
        *(
            figure(f"answer_overhead.{key}.{name}", [_overhead(a, b, share) for a, b in pairs])
            for name, share in (("p50", 0.50), ("p95", 0.95))
        ),
    ]


def _overhead(ours: Burst, theirs: Burst, share: float) -> tuple[float, float]:
    """What an answer waits for until the resume is called, and the p50 of one bare resume."""
    return percentile(ours.latencies, share), percentile(theirs.latencies, 0.50)
