"""The tutor's graph by itself, on a saver in memory: what it asks, and what it says."""

from typing import Any

from langchain_core.runnables import RunnableConfig
from langgraph.checkpoint.memory import InMemorySaver
from langgraph.types import Command

from answerback_agents.tutor import _build
from answerback_agents.tutor.plan import Plan
from answerback_agents.tutor.talk import Message

START: Any = {"goal": "learn Python", "weeks": 6}
THREAD: RunnableConfig = {"configurable": {"thread_id": "t1"}}
SILENCE = {"content": "No response", "choice": None, "timed_out": True}
APPROVE = {"content": "Approve", "choice": "approve"}


def wrote(text: str) -> dict[str, Any]:
    return {"content": text, "choice": None}


class Talk:
    """A run of the graph, and what it asks."""

    def __init__(self, **start: Any) -> None:
        self.graph = _build().compile(checkpointer=InMemorySaver())
        self.asked: list[dict[str, Any]] = []
        self.result: dict[str, Any] = {}
        self.start(start or START)

    def start(self, given: Any) -> None:
        self._went(self.graph.invoke(given, THREAD, durability="sync"))

    def _went(self, result: dict[str, Any]) -> None:
        self.waiting = result.get("__interrupt__", [])
        self.asked += [self.waiting[0].value] if self.waiting else []
        self.result = {} if self.waiting else result

    def answer(self, *answers: Any) -> "Talk":
        for answer in answers:
            [interrupt] = self.waiting
            self.start(Command(resume={interrupt.id: answer}))
        return self

    @property
    def plan(self) -> Plan:
        return self.graph.get_state(THREAD).values["plan"]

    @property
    def messages(self) -> list[Message]:
        return self.graph.get_state(THREAD).values["messages"]

    @property
    def taken(self) -> str:
        """What the last answer was taken as."""
        return [each for each in self.messages if each["role"] == "user"][-1]["taken_as"]

    @property
    def said(self) -> str:
        """What stands above what is asked about, or "" if only that does."""
        above, _, _ = self.asked[-1]["context"].rpartition("\n")
        return above

    @property
    def courses(self) -> list[str]:
        return [course["name"] for course in self.graph.get_state(THREAD).values["courses"]]
