"""A worker process of its own, for tests that kill it: `child.py URL DATA_DIR GRAPH WHAT JSON`."""

import asyncio
import contextlib
import json
import sys
from pathlib import Path

from tests.flow.langgraph.harness import Harness, said, target


async def main(url: str, data_dir: str, graph: str, topic: str, answers: list[object]) -> None:
    async with contextlib.AsyncExitStack() as stack:
        harness = Harness(url, Path(data_dir), stack)
        mine = await harness.open(graph)
        if not await mine.pending("t"):
            await mine.start("t", harness.input(topic=topic))
        for answer in answers:
            (pending,) = await mine.pending("t")
            await mine.resume("t", target(pending), said(answer))


if __name__ == "__main__":
    url, data_dir, graph, topic, answers = sys.argv[1:]
    asyncio.run(main(url, data_dir, graph, topic, json.loads(answers)))
