"""The driver of agent-wait, used as its README says: `@wait`, `publish_interrupts`, and its "one if"."""

# It is installed in an environment of its own, never in ours.
# mypy: disable-error-code="import-not-found, misc"

import contextlib
import json
from importlib.metadata import version
from pathlib import Path
from typing import Any, ClassVar

from agent_wait import BaseAnnounce, WaitPolicy
from agent_wait.langgraph import publish_interrupts, wait
from langgraph.checkpoint.sqlite.aio import AsyncSqliteSaver
from langgraph.types import Command

from tests.conformance import graphs
from tests.conformance.driver import AUTHORS_SAVER, Asked, Driver, Event, NotApplicable


class ToFile(BaseAnnounce):
    """An announcer of one's own, as the README shows one: the envelopes as lines of a file."""

    name = "file"

    def __init__(self, file: Path) -> None:
        super().__init__()
        self._file = file

    def deliver(self, envelope: Any, transition: Any) -> None:
        with self._file.open("a") as out:
            out.write(envelope.to_json() + "\n")


async def asks(question: str, choices: tuple[str, ...]) -> str:
    """A waiting function that always runs and receives the answer, verbatim."""

    @wait(WaitPolicy(allowed_actions=choices) if choices else WaitPolicy())
    def ask(question: str, decision: Any = None) -> Any:
        return decision

    answer = ask(question)
    return str(answer["action"])


class AgentWait(Driver):
    """Answers come as its messages do, from a queue that delivers at least once."""

    name, version = "agent-wait", version("agent-wait")
    # "One interrupt() per node on langgraph 1.2.x" (README, "Two things to know").
    limit = 1
    only_own = "It publishes any interrupt, and leaves to the host what an answer to it must look like."
    left_out: ClassVar[dict[str, str]] = AUTHORS_SAVER

    async def open(self, folder: Path, database: str, graph: str, *, again: bool) -> None:
        self._questions, self._stack = folder / "questions.jsonl", contextlib.AsyncExitStack()
        saver = await self._stack.enter_async_context(
            AsyncSqliteSaver.from_conn_string(str(folder / "checkpoints.db"))
        )
        self._graph = graphs.compiled(graph, folder, asks, saver)

    async def close(self) -> None:
        if hasattr(self, "_stack"):
            await self._stack.aclose()

    async def start(self, thread: str, **how: Any) -> None:
        self.only_plain(how)
        await self._invoke(thread, graphs.given("anew" in how))

    async def pending(self) -> list[Asked]:
        return [
            Asked(f"{sent['thread_id']}/{sent['question_id']}", sent["question"]["args"]["question"])
            for sent in self._sent()
        ]

    async def deliver(self, event: Event) -> None:
        if event.who != "alice":
            raise NotApplicable(
                "An answer has no sender: who may answer is left to the host, and it says so."
            )
        if event.answer == "Maybe":
            raise NotApplicable("It checks no answers: that is left to the host, and it says so.")
        await self._answer(event.asked, {"action": event.answer})

    async def respond(self, asked: str, response: Any) -> None:
        raise NotApplicable("It checks no answers: that is left to the host, and it says so.")

    async def forge(self) -> None:
        sent = self._sent()[0]
        await self._answer(f"{sent['thread_id']}/{'0' * 32}", {"action": "two"})

    async def elsewhere(self, answer: str) -> None:
        sent = self._sent()[0]
        config: Any = {"configurable": {"thread_id": sent["thread_id"]}}
        await self._graph.ainvoke(Command(resume={"action": answer}), config)

    async def _answer(self, asked: str, answer: Any) -> None:
        thread, _, question = asked.partition("/")
        await self._invoke(thread, Command(resume={question: answer}))

    async def _invoke(self, thread: str, value: Any) -> None:
        result = await self._graph.ainvoke(value, {"configurable": {"thread_id": thread}})
        publish_interrupts(result, thread, announce=[ToFile(self._questions)])

    def _sent(self) -> list[Any]:
        if not self._questions.exists():
            return []
        return [json.loads(line) for line in self._questions.read_text().splitlines()]
