"""Bare LangGraph in a process of its own: the same graph with LangGraph's saver, nothing of ours around it.

    python -m tests.bench.bare FOLDER DATABASE [ours]

"ours": with the saver that answerback gives to graphs which bring none, instead of LangGraph's own.
`[loops, at_once]` on standard input, and a `Burst` comes back. It ends when its input is closed.
"""

import asyncio
import contextlib
import itertools
import json
import os
import sys
import time
from collections.abc import AsyncIterator
from dataclasses import asdict
from pathlib import Path
from typing import Any

from tests.bench.bursts import Burst, Bursts, burst
from tests.bench.processes import ROOT

OURS = "ours"
MOST = 1 << 24  # bytes of a line


@contextlib.asynccontextmanager
async def bare(folder: Path, database: str, *saver: str) -> AsyncIterator[Bursts]:
    """Does `loops` loops, `at_once` at a time, as often as it is called. `saver`: OURS, or nothing."""
    process = await asyncio.create_subprocess_exec(
        sys.executable, "-m", "tests.bench.bare", str(folder), database, *saver,
        cwd=ROOT, stdin=asyncio.subprocess.PIPE, stdout=asyncio.subprocess.PIPE, limit=MOST,
    )  # fmt: skip
    assert process.stdin and process.stdout
    asked, told = process.stdin, process.stdout

    async def loops(number: int, at_once: int) -> Burst:
        asked.write(json.dumps([number, at_once]).encode() + b"\n")
        return Burst(**json.loads(await told.readline()))

    try:
        if await told.readline() != b"Ready\n":
            raise RuntimeError("bare LangGraph did not start")
        yield loops
    finally:
        asked.close()
        await process.wait()


async def main(folder: str, database: str, saver: str = "") -> None:
    """Take orders until there are no more."""
    # Whoever only gives them has no need of LangGraph.
    from tests.bench.graph import graph

    numbers = itertools.count()
    async with contextlib.AsyncExitStack() as stack:
        opened = await (_ours if saver == OURS else _langgraphs)(folder, database, stack)
        compiled = graph().compile(checkpointer=opened)
        sys.stdout.write("Ready\n")
        sys.stdout.flush()
        while line := await asyncio.to_thread(sys.stdin.readline):
            done = await burst(lambda _: _loop(compiled, f"bare-{next(numbers)}"), *json.loads(line))
            sys.stdout.write(json.dumps(asdict(done)) + "\n")
            sys.stdout.flush()


async def _ours(folder: str, database: str, stack: contextlib.AsyncExitStack) -> Any:
    from answerback.agent import AgentContext
    from answerback_agents.langgraph import savers

    return await savers.open_saver(AgentContext(folder, database), "bare", stack)


async def _langgraphs(folder: str, database: str, stack: contextlib.AsyncExitStack) -> Any:
    """LangGraph's own for async graphs, made as its documentation makes them."""
    if database == "sqlite":
        from langgraph.checkpoint.sqlite.aio import AsyncSqliteSaver

        file = str(Path(folder) / "bare.db")
        return await stack.enter_async_context(AsyncSqliteSaver.from_conn_string(file))
    from langgraph.checkpoint.postgres.aio import AsyncPostgresSaver

    saver = await stack.enter_async_context(AsyncPostgresSaver.from_conn_string(database))
    await saver.setup()
    return saver


async def _loop(compiled: Any, thread: str) -> tuple[float]:
    """Interrupt and resume, as LangGraph's documentation does it; seconds of the resume."""
    from langgraph.types import Command

    config = {"configurable": {"thread_id": thread}}
    await compiled.ainvoke({"number": 1}, config)
    begun = time.perf_counter()
    await compiled.ainvoke(Command(resume={"content": "Yes", "choice": "Yes"}), config)
    return (time.perf_counter() - begun,)


if __name__ == "__main__":
    import uvloop

    # As `serve` does, before anything imports LangGraph: it reads this once.
    os.environ.setdefault("LANGGRAPH_STRICT_MSGPACK", "true")
    with asyncio.Runner(loop_factory=uvloop.new_event_loop) as runner:
        runner.run(main(*sys.argv[1:]))
