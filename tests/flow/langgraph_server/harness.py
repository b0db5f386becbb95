"""Short words for the tests of the adapter for LangGraph servers."""

import contextlib
import uuid
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from langgraph_sdk.client import LangGraphClient

from answerback.agent import AgentContext, Paused, Pending, State, Target
from answerback.model import Answer
from answerback_agents.langgraph_server import LangGraphServer, Settings
from tests.flow.langgraph_server.development import Proxy


@dataclass
class Harness:
    """Opens adapters for the graphs in graphs.py."""

    front: Proxy
    place: Path
    stack: contextlib.AsyncExitStack

    def make(self, assistant: str, name: str = "remote", **settings: Any) -> LangGraphServer:
        given = {"url": self.front.url, "assistant": assistant, **settings}
        return LangGraphServer(name, Settings(**given), AgentContext(str(self.place)))

    async def open(self, assistant: str, name: str = "remote", **settings: Any) -> LangGraphServer:
        agent = self.make(assistant, name, **settings)
        await agent.open()
        self.stack.push_async_callback(agent.close)
        return agent

    def input(self, **more: Any) -> dict[str, Any]:
        return {"log": str(self.place / "log"), "gate": str(self.place / "gate"), **more}

    @property
    def log(self) -> list[str]:
        """What the graphs did."""
        file = self.place / "log"
        return file.read_text().splitlines() if file.exists() else []


@dataclass
class Elsewhere:
    """What somebody else does on the server, with the plain SDK."""

    client: LangGraphClient
    place: Path
    metadata: dict[str, str] = field(default_factory=lambda: {"team": uuid.uuid4().hex})

    async def start(self, assistant: str) -> str:
        """A thread of theirs, run until it waits."""
        thread = await self.client.threads.create(metadata=self.metadata)
        id = thread["thread_id"]
        given = {"log": str(self.place / "log"), "gate": str(self.place / "gate")}
        await self.client.runs.wait(id, assistant, input=given)
        return id

    async def copy(self, thread: str, assistant: str) -> str:
        """A copy of a thread, run until it waits."""
        copied = await self.client.http.post(f"/threads/{thread}/copy", json=None)
        await self.client.runs.wait(copied["thread_id"], assistant, input=None)
        return str(copied["thread_id"])

    async def interrupts(self, thread: str) -> list[Any]:
        state = await self.client.threads.get_state(thread)
        return [each for task in state["tasks"] for each in task["interrupts"]]

    async def answer(self, thread: str, assistant: str, value: Any, which: int = 0) -> None:
        interrupt = (await self.interrupts(thread))[which]
        await self.client.runs.wait(thread, assistant, command={"resume": {interrupt["id"]: value}})


def said(value: Any) -> Answer:
    return Answer({"q1": value}, text=value if isinstance(value, str) else "", by="alice", at=1)


def target(pending: Pending) -> Target:
    return Target(pending.interrupt_id, pending.digest, pending.checkpoint)


def only(state: State) -> Pending:
    assert isinstance(state, Paused), state
    (pending,) = state.pending
    return pending


def text(state: State) -> str:
    return only(state).questions[0].text
