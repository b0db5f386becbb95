"""What a gateway costs when nothing is due: processor seconds a minute, with many pending interactions."""

import asyncio
from collections.abc import AsyncIterator

from tests.bench.measure import Figure
from tests.bench.memory import PENDING, SETTLED, configured
from tests.bench.options import Options
from tests.bench.processes import cpu_seconds, far_side, served

SECONDS = 60


async def run(options: Options) -> AsyncIterator[Figure]:
    """One minute (with `--quick` a quarter of one), after the start is over."""
    seconds = options.fewer(SECONDS)
    with far_side() as far, served(await configured(options, far, PENDING)) as pid:
        await asyncio.sleep(SETTLED)
        before = cpu_seconds(pid)
        await asyncio.sleep(seconds)
        used = cpu_seconds(pid) - before
    yield Figure("idle_cpu", (used * 60 / seconds,))
