"""Whole loops beside bare LangGraph: rate, processor time, and what an answer waits for.

Bare LangGraph has its own saver, which is what there is without us. Beside that, for comparison, it has ours.
"""

import itertools
from collections.abc import AsyncIterator

from tests.bench.bare import OURS, bare
from tests.bench.bursts import Burst, Bursts, burst
from tests.bench.gateway import Gateway, gateway
from tests.bench.measure import Figure, alternate, figure, percentile
from tests.bench.options import Options
from tests.bench.processes import cpu_with_workers, far_side
from tests.bench.targets import AT_ONCE

LOOPS = {"c1": 100, "c50": 300}
_numbers = itertools.count()


async def run(options: Options) -> AsyncIterator[Figure]:
    """All figures of both databases and both loads."""
    with far_side() as far:
        async for name, url, folder in options.databases():
            async with (
                gateway(folder, url, far, max(AT_ONCE.values())) as ours,
                bare(folder, url) as theirs,
                bare(folder, url, OURS) as with_ours,
            ):
                for load, at_once in AT_ONCE.items():
                    for found in await _compare(
                        options, ours, (theirs, with_ours), f"{name}.{load}", at_once
                    ):
                        yield found


async def _compare(
    options: Options, ours: Gateway, bares: tuple[Bursts, Bursts], key: str, at_once: int
) -> list[Figure]:
    """`bares`: with LangGraph's saver, and with ours."""
    loops = options.fewer(LOOPS[key.rpartition(".")[2]])

    async def our_burst() -> Burst:
        return await burst(
            lambda slot: ours.loop(f"p{slot}", f"thread-{next(_numbers)}"),
            loops,
            at_once,
            ours.app.idle,
            cpu_with_workers,
        )

    async def their_bursts() -> list[Burst]:
        return [await theirs(loops, at_once) for theirs in bares]

    found = await alternate(options.rounds, our_burst, their_bursts)
    pairs, with_ours = ([(a, b[number]) for a, b in found] for number in range(2))
    return [
        figure(f"loop_vs_langgraph.{key}", [(a.rate, b.rate) for a, b in pairs]),
        figure(f"loop_cpu_vs_langgraph.{key}", [(a.cpu, b.cpu) for a, b in pairs]),
        *(
            figure(f"answer_overhead.{key}.{name}", [_overhead(a, b, share) for a, b in pairs])
            for name, share in (("p50", 0.50), ("p95", 0.95))
        ),
        figure(f"loop_vs_langgraph_with_our_saver.{key}", [(a.rate, b.rate) for a, b in with_ours]),
        figure(f"loop_cpu_vs_langgraph_with_our_saver.{key}", [(a.cpu, b.cpu) for a, b in with_ours]),
    ]


def _overhead(ours: Burst, theirs: Burst, share: float) -> tuple[float, float]:
    """What an answer waits for until the resume is called, and the p50 of one bare resume."""
    return percentile(ours.latencies, share), percentile(theirs.latencies, 0.50)
