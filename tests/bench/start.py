"""How fast the command line starts, beside the library that it is made with."""

import asyncio
import sys
import time
from collections.abc import AsyncIterator

from tests.bench.measure import Figure, alternate, figure
from tests.bench.options import Options
from tests.bench.processes import PROGRAM


async def run(options: Options) -> AsyncIterator[Figure]:
    """`answerback --help` over `python -c "import click"`."""
    pairs = await alternate(
        max(options.rounds, 10),
        lambda: _seconds(str(PROGRAM), "--help"),
        lambda: _seconds(sys.executable, "-c", "import click"),
    )
    yield figure("cli_start", pairs)


async def _seconds(*command: str) -> float:
    begun = time.perf_counter()
    process = await asyncio.create_subprocess_exec(*command, stdout=asyncio.subprocess.DEVNULL)
    if await process.wait():
        raise RuntimeError(f"{command[0]} failed")
    return time.perf_counter() - begun
