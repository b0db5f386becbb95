"""Short words for the tests of the LangGraph adapter."""

import asyncio
import contextlib
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from answerback.agent import AgentContext, Paused, Pending, State, Target
from answerback.model import Answer
from answerback_agents.langgraph import LangGraph

HERE = Path(__file__).parent


@dataclass(slots=True)
class Harness:
    """Opens adapters for the graphs in graphs.py, all on one database."""

    url: str
    data_dir: Path
    stack: contextlib.AsyncExitStack

    def context(self) -> AgentContext:
        return AgentContext(str(self.data_dir / "var"), self.url, str(HERE))

    async def open(self, graph: str, name: str = "mine", **settings: Any) -> LangGraph:
        path = graph if ":" in graph else f"graphs.py:{graph}"
        agent = LangGraph(name, LangGraph.Settings(graph=path, **settings), self.context())
        await agent.open()
        self.stack.push_async_callback(agent.close)
        return agent

    def input(self, **more: Any) -> dict[str, Any]:
        return {"log": str(self.data_dir / "log"), **more}


def said(value: Any) -> Answer:
    return Answer({"q1": value}, text=value if isinstance(value, str) else "")


def target(pending: Pending) -> Target:
    return Target(pending.interrupt_id, pending.digest, pending.checkpoint)


def waiting(state: State) -> tuple[Pending, ...]:
    assert isinstance(state, Paused), state
    return state.pending


async def until(happened: Callable[[], bool]) -> None:
    """Wait for something that another thread or process does."""
    async with asyncio.timeout(30):
        while not happened():  # noqa: ASYNC110 (it is seen in a file)
            await asyncio.sleep(0.001)


async def end_connections(url: str) -> None:
    """As a server that is started again does, or somebody who looks after it; once they have ended."""
    import psycopg

    async with await psycopg.AsyncConnection.connect(url, autocommit=True) as admin:
        await admin.execute(
            "SELECT pg_terminate_backend(pid, 10000) FROM pg_stat_activity "
            "WHERE datname = current_database() AND pid <> pg_backend_pid()"
        )


def only(state: State) -> Pending:
    (pending,) = waiting(state)
    return pending


def texts(state: State) -> list[str]:
    return [pending.questions[0].text for pending in waiting(state)]


def ids(state: State) -> set[str]:
    """Of what waits; none for a run that has ended."""
    return {pending.interrupt_id for pending in state.pending} if isinstance(state, Paused) else set()
