"""How much memory a served gateway takes: with many pending interactions over none."""

import asyncio
from collections.abc import AsyncIterator
from pathlib import Path

from tests.bench.filling import fill
from tests.bench.measure import Figure, alternate, figure
from tests.bench.options import Options
from tests.bench.processes import FarSide, far_side, resident_bytes, served

PENDING = 100_000
SETTLED = 2.0  # seconds after which the first sweep is over
CONFIG = """\
data_dir: {data_dir}
providers:
  loopback: {{use: "tests.bench.provider:Loopback", far: "{far}", secret: "{secret}"}}
contacts:
  p0: {{addresses: {{loopback: p0}}}}
"""


async def run(options: Options) -> AsyncIterator[Figure]:
    """Two data folders, served in turn by the command line."""
    with far_side() as far:
        many = await configured(options, far, PENDING)
        none = await configured(options, far, 0)
        pairs = await alternate(options.rounds, lambda: _memory(many), lambda: _memory(none))
    yield figure("growth.memory", pairs)


async def configured(options: Options, far: FarSide, count: int) -> Path:
    """A configuration whose data folder holds `count` pending interactions."""
    folder = options.fresh("served")
    data_dir = folder / "data"
    if count:
        await fill(data_dir, far, count, options.kept)
    file = folder / "answerback.yaml"
    file.write_text(CONFIG.format(data_dir=data_dir, far=far.url, secret=far.secret))
    return file


async def _memory(config: Path) -> float:
    with served(config) as pid:
        await asyncio.sleep(SETTLED)
        return float(resident_bytes(pid))
