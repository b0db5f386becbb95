"""Short words for the tests of workers."""

import asyncio
from collections.abc import Callable
from pathlib import Path
from typing import Any

from answerback.agent import AgentContext
from answerback.model import RunStatus
from answerback.run import Run
from answerback.settings import Plugin
from answerback.workers import Patience, WorkerAgent
from tests.support.databases import Database
from tests.support.gateway import Gateway

HERE = Path(__file__).parent
SECONDS = 50.0  # to give up after; nothing takes that long


def graph(name: str, database: Database, source: str = "graphs.py", **more: Any) -> WorkerAgent:
    """A graph of graphs.py, or of another file beside it, in a worker, which starts again at once."""
    plugin = Plugin(name, "langgraph", {"graph": f"{source}:{name}"}, base_dir=str(HERE), **more)
    context = AgentContext(str(database.data_dir / "var"), database.url, str(HERE))
    return WorkerAgent(plugin, context, pause=lambda _: 0)


def plain(folder: Path, patience: Patience = Patience(), kind: str = "Plain", **options: str) -> WorkerAgent:
    """One of plain.py's agents in a worker, which starts again at once."""
    given = {"folder": str(folder), **options}
    hidden = frozenset({options["secret"]} if "secret" in options else ())
    plugin = Plugin("plain", f"tests.flow.workers.plain:{kind}", given, file="a.yaml", line=3, hidden=hidden)
    return WorkerAgent(plugin, AgentContext(str(folder)), patience=patience, pause=lambda _: 0)


def journal(database: Database) -> list[str]:
    """What the graph's steps have written."""
    file = database.data_dir / "journal"
    return file.read_text().split("\n")[:-1] if file.exists() else []


async def until(happened: Callable[[], bool]) -> None:
    """Wait for something that another process does."""
    async with asyncio.timeout(SECONDS):
        while not happened():  # noqa: ASYNC110 - it is seen in a file
            await asyncio.sleep(0.005)


async def has(g: Gateway, run_id: str, status: RunStatus) -> Run:
    """The run, as soon as it has this status, whatever else is under way."""
    async with asyncio.timeout(SECONDS):
        while (run := await g.app.runner.get(run_id)).status is not status:  # noqa: ASYNC110 - another process works on it
            await asyncio.sleep(0.005)
    return run


async def brought_to_an_end(g: Gateway, run_id: str) -> Run:
    """The run after as many tries as it takes, each when its time has come."""
    async with asyncio.timeout(SECONDS):
        while (run := await g.settled(run_id)).status in (RunStatus.RUNNING, RunStatus.WAITING):
            await asyncio.sleep(0.05)
            await g.later(20)
    return run


def gone(pid: int) -> bool:
    """Whether a process has ended; one that nobody has reaped yet has."""
    try:
        state = Path(f"/proc/{pid}/stat").read_text()
    except (FileNotFoundError, ProcessLookupError):
        return True
    return state.rpartition(")")[2].split()[0] == "Z"
