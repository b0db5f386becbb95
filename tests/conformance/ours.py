"""The driver of answerback: a whole gateway with a real LangGraph adapter, and phones that are files."""

import contextlib
import json
import os
import signal
import uuid
from pathlib import Path
from typing import Any

from langgraph.types import Command, interrupt

from answerback import __version__
from answerback import app as composition
from answerback.agent import AgentContext
from answerback.app import App
from answerback.errors import AnswerbackError, ConfigurationError, Conflict, StoreUnavailable
from answerback.faults import Faults
from answerback.model import Address, Contact, InteractionStatus
from answerback.provider import Inbound, Message, MessageKind, Outcome, Provider, ProviderContext, Reply, Sent
from answerback.provider import Settings as NoSettings
from answerback.run import RunRequest
from answerback.settings import Route, Settings
from answerback_agents.langgraph import LangGraph
from tests.conformance import graphs
from tests.conformance.driver import MOMENTS, Asked, Driver, Event, Refused

HOUR = 3600.0
LAPSED = 120.0  # seconds: every lease of a dead process is over
ACCOUNTS = {
    "alice": {"first": "1001", "second": "a1"},
    "ben": {"first": "2002"},
    "mallory": {"first": "9009"},
}
EPOCH = 1_764_590_400_000_000


class FileClock:
    """Microseconds, the same for every process on a folder; moved on by hand."""

    def __init__(self, folder: Path) -> None:
        self._file = folder / "clock"

    def __call__(self) -> int:
        return int(self._file.read_text()) if self._file.exists() else EPOCH

    def advance(self, seconds: float) -> None:
        new = self._file.with_suffix(".new")
        new.write_text(str(self() + round(seconds * 1e6)))
        new.replace(self._file)


class Killing(Faults):
    """SIGKILL at one point, once it has been named."""

    point = ""

    def reach(self, point: str) -> None:
        super().reach(point)
        if point == self.point:
            os.kill(os.getpid(), signal.SIGKILL)


class Phone(Provider):
    """A provider whose far side is a file that all processes share."""

    def __init__(self, name: str, folder: Path) -> None:
        super().__init__(name, NoSettings(), ProviderContext())
        self._file = folder / "phone.jsonl"

    async def send(self, message: Message) -> Sent:
        id = uuid.uuid4().hex
        if message.kind in (MessageKind.QUESTION, MessageKind.REMINDER):
            row = {
                "id": id,
                "via": self.name,
                "text": message.title,
                "who": message.to.contact,
                "place": message.to.place,
                "buttons": {button.label: button.data for button in message.buttons},
                "interaction": message.interaction_id,
            }
            with self._file.open("a") as file:
                file.write(json.dumps(row) + "\n")
        return Sent((id,))

    async def update(self, to: Address, message_id: str, message: Message) -> None:
        """What was seen may still be tapped: old copies stay in the file."""

    async def verify(self, inbound: Inbound) -> None:
        """The hazards' strangers are strangers by their account, not by a bad signature."""

    def parse(self, inbound: Inbound) -> list[Any]:
        fields = json.loads(inbound.body)
        return [Reply(**{**fields, "references": tuple(fields["references"])})]

    async def acknowledge(self, reply: Reply, outcome: Outcome, text: str) -> None:
        """Nobody looks."""


async def asks(question: str, choices: tuple[str, ...]) -> str:
    """A plain interrupt, as any graph would have it."""
    if choices == graphs.YES_NO:
        answer = interrupt({"type": "confirm_action", "action": "it", "question": question})
        told = "Yes" if answer["confirmed"] else "No"
    else:
        # A tuple stays one here on purpose: storage makes a list of it.
        answer = interrupt({"question": question, **({"choices": choices} if choices else {})})
        told = answer["content"]
    return graphs.NOBODY if answer.get("timed_out") else told


def graph() -> Any:
    """What the adapter loads, by what `open` put into the environment."""
    builder, options = graphs.make(
        os.environ["CONFORMANCE_GRAPH"], Path(os.environ["CONFORMANCE_FOLDER"]), asks
    )
    return builder if options is None else builder.compile(**options)


class Ours(Driver):
    """Answerback, by its own parts: what comes in is a provider's event."""

    name, version = "answerback", __version__
    only_own = ""
    _app: App
    _clock: FileClock
    _agent: LangGraph
    _faults: Killing
    _folder: Path
    _thread = ""

    async def open(self, folder: Path, database: str, graph: str, *, again: bool) -> None:
        os.environ.update(CONFORMANCE_FOLDER=str(folder), CONFORMANCE_GRAPH=graph)
        self._folder, self._clock, self._faults = folder, FileClock(folder), Killing()
        if again:
            self._clock.advance(LAPSED)
        (folder / "secret").write_text("the same for every process")
        self._agent = LangGraph(
            "graph",
            LangGraph.Settings(graph="tests.conformance.ours:graph"),
            AgentContext(str(folder), database, str(folder)),
        )
        self._app = composition.build(
            _settings(folder, database),
            time=self._clock,
            faults=self._faults,
            providers={name: Phone(name, folder) for name in ("first", "second")},
            agents={"graph": self._agent},
        )
        try:
            await self._app.start(clock=False)
        except (ConfigurationError, StoreUnavailable) as error:
            raise Refused(str(error)) from error
        await self.settle()

    async def close(self) -> None:
        if hasattr(self, "_app"):
            await self._app.stop()

    async def start(self, thread: str, **how: Any) -> None:
        route = "-".join(["default", *sorted(how.keys() - {"anew"})])
        given = graphs.given("anew" in how)
        with contextlib.suppress(Conflict):  # the thread waits: it was started before, and takes no new input
            await self._app.runner.start(RunRequest("graph", given, thread, route=route))
        await self._app.idle()

    async def pending(self) -> list[Asked]:
        page = await self._app.reader.interactions(str(InteractionStatus.PENDING))
        waiting = {item.id for item in page.items}
        return [
            Asked(row["id"], row["text"], row["who"], row["via"])
            for row in self._messages()
            if row["interaction"] in waiting
        ]

    async def deliver(self, event: Event) -> None:
        row = self._message(event.asked)
        reply = {
            "event_id": event.key,
            "sender": ACCOUNTS[event.who][row["via"]],
            "place": row["place"],
            "private": event.who == row["who"],
            "references": [row["id"]],
        }
        tap = row["buttons"].get(event.answer)
        reply |= {"data": tap} if tap else {"text": event.answer}
        await self._receive(row["via"], reply)

    async def say(self, text: str, who: str) -> None:
        account = ACCOUNTS[who]["first"]
        reply = {"event_id": uuid.uuid4().hex, "sender": account, "place": account, "text": text}
        await self._receive("first", {**reply, "references": []})

    async def forge(self) -> None:
        reply = {"event_id": uuid.uuid4().hex, "sender": "1001", "place": "1001", "references": ["unknown"]}
        await self._receive("first", {**reply, "data": "AAAAAAAAAAAAAAAAAAAAAA:two"})

    async def respond(self, asked: str, response: Any) -> None:
        with contextlib.suppress(AnswerbackError):
            await self._app.receiver.respond(
                self._message(asked)["interaction"], response, by="alice", via="api"
            )
        await self._app.idle()

    async def decide(self, asked: str, decisions: list[dict[str, Any]]) -> None:
        values = {f"q{place}": decision for place, decision in enumerate(decisions, start=1)}
        await self.respond(asked, values)

    async def settle(self) -> None:
        app = self._app
        await app.idle()
        for worker in (app.elapser, app.deliverer, app.resumer, app.runner):
            await worker.pump()
            await app.idle()

    async def expire(self) -> None:
        self._clock.advance(HOUR + 1)
        await self._app.elapser.pump()
        await self._app.idle()

    async def cancel(self) -> None:
        with contextlib.suppress(Conflict):  # it has ended
            await self._app.runner.cancel(await self._run())
        await self._app.idle()

    async def retry(self) -> None:
        await self._app.runner.retry(await self._run())

    async def reask(self) -> None:
        await self._app.runner.reask(await self._run())

    async def elsewhere(self, answer: str) -> None:
        thread = (await self._app.runner.list()).items[-1].thread_id
        config: Any = {"configurable": {"thread_id": thread}}
        await self._agent._graph.ainvoke(Command(resume={"content": answer}), config, durability="sync")

    async def crash(self, moment: str) -> None:
        self._faults.point = MOMENTS[moment]

    async def _run(self) -> str:
        return (await self._app.runner.list()).items[-1].id

    async def _receive(self, provider: str, reply: dict[str, Any]) -> None:
        await self._app.receiver.webhook(provider, Inbound(json.dumps(reply).encode()))
        await self._app.idle()

    def _messages(self) -> list[dict[str, Any]]:
        file = self._folder / "phone.jsonl"
        return [json.loads(line) for line in file.read_text().splitlines()] if file.exists() else []

    def _message(self, id: str) -> dict[str, Any]:
        return next(row for row in self._messages() if row["id"] == id)


def _settings(folder: Path, database: str) -> Settings:
    contacts = {
        name: Contact(
            name,
            name.capitalize(),
            addresses=tuple(Address(provider, account, account) for provider, account in accounts.items()),
        )
        for name, accounts in ACCOUNTS.items()
        if name != "mallory"
    }
    routes = {
        "default": Route("default", ask=("alice",), providers=("first",)),
        "default-people": Route("default-people", ask=("alice", "ben"), providers=("first",)),
        "default-providers": Route(
            "default-providers", ask=("alice",), providers=("first", "second"), at_once=True
        ),
        "default-deadline": Route("default-deadline", ask=("alice",), providers=("first",), expires_in=HOUR),
    }
    return Settings(data_dir=str(folder), database=database, contacts=contacts, routes=routes)
