"""A driver that resumes as a first attempt does, `Command(resume=answer)`: the suite must find it out."""

import contextlib
import json
from pathlib import Path
from typing import Any

from langgraph.checkpoint.sqlite.aio import AsyncSqliteSaver
from langgraph.types import Command, interrupt

from tests.conformance import graphs
from tests.conformance.driver import Asked, Driver, Event


async def asks(question: str, choices: tuple[str, ...]) -> str:
    return str(interrupt(question))


class Naive(Driver):
    """One thread, no record of what was asked or answered."""

    name = "plain resume"

    async def open(self, folder: Path, database: str, graph: str, *, again: bool) -> None:
        self._file, self._stack = folder / "asked.jsonl", contextlib.AsyncExitStack()
        saver = await self._stack.enter_async_context(
            AsyncSqliteSaver.from_conn_string(str(folder / "checkpoints.db"))
        )
        self._graph = graphs.compiled(graph, folder, asks, saver)

    async def close(self) -> None:
        if hasattr(self, "_stack"):
            await self._stack.aclose()

    async def start(self, thread: str, **how: Any) -> None:
        await self._invoke(thread, graphs.given("anew" in how))

    async def pending(self) -> list[Asked]:
        rows = self._file.read_text().splitlines() if self._file.exists() else []
        return [
            Asked(f"{number}/{thread}", text) for number, (thread, text) in enumerate(map(json.loads, rows))
        ]

    async def deliver(self, event: Event) -> None:
        await self._invoke(event.asked.partition("/")[2], Command(resume=event.answer))

    async def _invoke(self, thread: str, value: Any) -> None:
        result = await self._graph.ainvoke(value, {"configurable": {"thread_id": thread}})
        for asked in result.get("__interrupt__", ()):
            with self._file.open("a") as file:
                file.write(json.dumps([thread, asked.value]) + "\n")
