"""The process that a peer runs in: takes orders as JSON lines, and does jobs.

    python -m tests.bench.hosts.host MODULE:CLASS FOLDER PHONES

`{"jobs", "at_once"}` on standard input; `{"seconds", "heard"}` comes back. It ends when its input is closed.
"""

import asyncio
import importlib
import itertools
import json
import os
import sys
import time
from pathlib import Path
from typing import Any, Protocol

from tests.bench.jobs import Heard


class System(Protocol):
    """One peer, set up as its documents say."""

    heard: Heard

    async def open(self, folder: Path, phones: str) -> None:
        """Start in an empty folder; `phones` is the URL of those who answer."""

    async def job(self, slot: int, job: str) -> None:
        """Run one job for one person, from its start until its run has ended."""

    async def close(self) -> None: ...


async def main(name: str, folder: str, phones: str) -> None:
    module, _, kind = name.partition(":")
    system: System = getattr(importlib.import_module(module), kind)()
    answers = os.fdopen(os.dup(1), "w", buffering=1)
    os.dup2(2, 1)  # whatever the peer prints goes to the log
    numbers = itertools.count()
    try:
        await system.open(Path(folder), phones)
        answers.write("Ready\n")
        while line := await asyncio.to_thread(sys.stdin.readline):
            answers.write(json.dumps(await _burst(system, numbers, **json.loads(line))) + "\n")
    finally:
        await system.close()


async def _burst(system: System, numbers: "itertools.count[int]", jobs: int, at_once: int) -> Any:
    left = iter(range(jobs))

    async def work(slot: int) -> None:
        for _ in left:
            await system.job(slot, f"job-{next(numbers)}")

    system.heard.clear()
    begun = time.perf_counter()
    await asyncio.gather(*(work(slot) for slot in range(at_once)))
    return {"seconds": time.perf_counter() - begun, "heard": system.heard}


if __name__ == "__main__":
    asyncio.run(main(*sys.argv[1:]))
