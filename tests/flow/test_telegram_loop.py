"""The loop over Telegram: our intake, the real client, the sandbox's Bot API, a real LangGraph graph."""

import contextlib
import socket
import time
from collections.abc import AsyncIterator
from dataclasses import dataclass
from textwrap import dedent

import aiohttp
import pytest

from answerback import app as composition
from answerback.app import App
from answerback.ask import AskRequest
from answerback.model import Action, Address, Contact, Question, QuestionKind, RunStatus
from answerback.run import Run, RunRequest
from answerback.settings import Plugin, Route, Settings
from answerback_sandbox import FaultKind, Sandbox
from tests.support.databases import Database
from tests.support.serving import served

pytestmark = [pytest.mark.needs_extra("telegram", "langgraph"), pytest.mark.either_database]
GRAPH = dedent(
    """
    from typing import TypedDict
    from langgraph.graph import END, START, StateGraph
    from langgraph.types import interrupt

    class State(TypedDict, total=False):
        term: str
        ok: bool

    def propose(state: State) -> State:
        answer = interrupt({"question": "Search for which term?", "choices": ["coding", "costing"],
                            "context": "I found 0 documents with costing."})
        return {"term": answer["choice"] or answer["content"]}

    def confirm(state: State) -> State:
        action = {"type": "confirm_action", "action": "Publish the report", "details": state["term"]}
        answer = interrupt(action)
        return {"ok": answer["confirmed"]}

    builder = StateGraph(State)
    builder.add_node(propose)
    builder.add_node(confirm)
    builder.add_edge(START, "propose")
    builder.add_edge("propose", "confirm")
    builder.add_edge("confirm", END)
    graph = builder.compile()
    """
)

PATIENCE = 60.0  # seconds until a test gives up; nothing waits that long


@dataclass(slots=True)
class Loop:
    box: Sandbox
    app: App
    clock: "Reading"

    async def run(self) -> Run:
        return await self.app.runner.start(RunRequest("mine", {}))

    async def ended(self, id: str) -> Run:
        await self.see("📄")
        await self.app.idle()
        return await self.app.runner.get(id)

    def texts(self) -> list[str]:
        return [message.text for message in self.box.received(1001)]

    async def types(self, text: str) -> None:
        """Alice writes when she has read what stands there: a faster text is asked about."""
        await self.app.idle()
        self.clock.read()
        self.box.type(1001, text)

    async def see(self, part: str) -> None:
        await self.box.wait_for(lambda: any(part in text for text in self.texts()), PATIENCE)


class Reading:
    """The service's time, microseconds: people read for two seconds before they write."""

    def __init__(self) -> None:
        self.ahead = 0

    def __call__(self) -> int:
        return time.time_ns() // 1000 + self.ahead

    def read(self) -> None:
        self.ahead += 2_000_000


@contextlib.asynccontextmanager
async def looping(
    database: Database,
    listener: socket.socket | None = None,
    public_url: str = "http://127.0.0.1:8700",
    **telegram: object,
) -> AsyncIterator[Loop]:
    (database.data_dir / "graph.py").write_text(GRAPH)
    reading = Reading()
    async with Sandbox.start(clock=reading) as box:
        options = {"token": box.token, "api_base": box.url, **telegram}
        settings = Settings(
            base_dir=str(database.data_dir),
            data_dir=str(database.data_dir / "var"),
            database=database.url,
            public_url=public_url,
            agents={"mine": Plugin("mine", "langgraph", {"graph": "graph.py:graph"})},
            providers={"telegram": Plugin("telegram", "telegram", options)},
            contacts={
                "ana": Contact("ana", "Ana", addresses=(Address("telegram", "1001", "1001"),)),
                "ben": Contact("ben", "Ben"),
            },
            routes={"default": Route("default", ask=("ana",), providers=("telegram",))},
        )
        database.prepare(database.data_dir / "var")
        app = composition.build(settings)
        assert app.problems == []
        async with served(app, listener) if listener else contextlib.nullcontext():
            await app.start()
            try:
                yield Loop(box, app, reading)
            finally:
                await app.stop()


@contextlib.asynccontextmanager
async def hooked(database: Database) -> AsyncIterator[Loop]:
    """The same loop with a webhook instead of long polling."""
    with socket.create_server(("127.0.0.1", 0)) as listener:
        address = f"127.0.0.1:{listener.getsockname()[1]}"
        options = {"mode": "webhook", "webhook_secret": "a-secret-of-the-webhook"}
        async with looping(database, listener, public_url=f"http://{address}", **options) as loop:
            yield loop


async def test_two_taps_carry_a_graph_to_its_end(database: Database) -> None:
    async with looping(database) as loop:
        run = await loop.run()
        await loop.see("Search for which term?")
        loop.box.tap(1001, loop.box.received(1001)[-1].id, "coding")
        await loop.see("You chose “coding”")
        await loop.see("Publish the report")
        loop.box.tap(1001, loop.box.received(1001)[-1].id, "Yes")
        run = await loop.ended(run.id)
        assert (run.status, run.result) == (RunStatus.COMPLETED, {"term": "coding", "ok": True})


async def test_several_questions_are_tapped_through_one_by_one(database: Database) -> None:
    calls = [
        Question(f"q{place}", "", QuestionKind.REVIEW, action=Action(name, {"id": place}))
        for place, name in enumerate(("refund", "wipe", "post"), start=1)
    ]
    async with looping(database) as loop:
        asked = await loop.app.asker.ask(AskRequest(tuple(calls)))
        for place, label in enumerate(("Approve", "Reject", "Approve"), start=1):
            await loop.see(f"{place} of 3\n{calls[place - 1].action.name}")
            loop.box.tap(1001, loop.box.received(1001)[-1].id, label)
        await loop.see("You answered")
        record = await loop.app.reader.interaction(asked.interaction.id)
        assert [value["decision"] for value in record.answer.values.values()] == [
            "approve",
            "reject",
            "approve",
        ]
        await loop.see("☑️ You rejected this")
        told = [text.split(" · ")[0] for text in loop.texts()]
        assert told == ["☑️ You approved this", "☑️ You rejected this", "✅ You answered"]


async def test_a_typed_answer_counts_when_one_question_is_open(database: Database) -> None:
    async with looping(database) as loop:
        run = await loop.run()
        await loop.see("Search for which term?")
        await loop.types("encoding, please")
        await loop.see("You wrote “encoding, please”")
        await loop.see("Publish the report")
        await loop.types("yes but later")
        await loop.see("I need a clear yes or no")
        await loop.types("no")
        run = await loop.ended(run.id)
        assert run.result == {"term": "encoding, please", "ok": False}


async def test_telegram_down_at_the_start_is_said_and_made_up_for(database: Database) -> None:
    async with looping(database) as loop:
        loop.box.fail(FaultKind.DOWN, calls=2, method="sendMessage")
        run = await loop.run()
        await loop.box.wait_for(lambda: bool(loop.texts()), PATIENCE)
        assert loop.texts()[0].startswith("🟦 Mine")
        assert (await loop.app.runner.get(run.id)).status is RunStatus.WAITING


async def test_a_webhook_brings_the_taps_too_and_redelivers_what_was_not_taken(database: Database) -> None:
    async with hooked(database) as loop:
        run = await loop.run()
        await loop.see("Search for which term?")
        loop.box.tap(1001, loop.box.received(1001)[-1].id, "coding")
        await loop.see("Publish the report")
        loop.box.tap(1001, loop.box.received(1001)[-1].id, "Yes")
        assert (await loop.ended(run.id)).result == {"term": "coding", "ok": True}


async def test_a_webhook_without_the_secret_is_refused_before_its_body_is_read(database: Database) -> None:
    async with hooked(database) as loop, aiohttp.ClientSession() as client:
        run = await loop.run()
        await loop.see("Search for which term?")
        url = f"{loop.app.settings.public_url}/in/telegram"
        for headers in ({}, {"X-Telegram-Bot-Api-Secret-Token": "guessed"}):
            async with client.post(url, data=b"{" * 100, headers=headers) as response:
                assert response.status == 403
        assert (await loop.app.runner.get(run.id)).status is RunStatus.WAITING


async def test_start_with_a_code_links_the_chat_of_a_new_person(database: Database) -> None:
    async with looping(database) as loop:
        loop.box.add_person(2002, "Ben")
        link = await loop.app.linker.create("ben", "telegram")
        loop.box.press_start(2002, link.code)
        await loop.box.wait_for(lambda: bool(loop.box.received(2002)), PATIENCE)
        assert "This chat is now linked to Ben." in loop.box.received(2002)[-1].text


async def test_everything_doubled_still_answers_each_question_once(database: Database) -> None:
    async with looping(database) as loop:
        loop.box.fail(FaultKind.DUPLICATE, calls=None)
        run = await loop.run()
        await loop.see("Search for which term?")
        loop.box.tap(1001, loop.box.received(1001)[-1].id, "costing")
        await loop.see("Publish the report")
        await loop.app.idle()
        assert (await loop.app.runner.get(run.id)).status is RunStatus.WAITING
