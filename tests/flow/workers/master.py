"""A process that has a worker, for tests that kill it: `python -m tests.flow.workers.master FOLDER WORD`."""

import asyncio
import sys
from pathlib import Path

from tests.flow.workers.support import plain


async def main(folder: Path, word: str) -> None:
    agent = plain(folder)
    await agent.open()
    await agent.start("t", [word, 1000])


if __name__ == "__main__":
    asyncio.run(main(Path(sys.argv[1]), sys.argv[2]))
