"""One life of a gateway that is killed at a named point: it does what is left, as a restarted one would.

Everything that must outlive it is in files: the database, the phone (what was sent), the journal (what the
agent was told), and the acknowledgements that the far side has seen.
"""

import asyncio
import contextlib
import json
import os
import signal
from pathlib import Path
from typing import Any, TypedDict

from langgraph.graph import END, START, StateGraph
from langgraph.types import interrupt

from answerback import app as composition
from answerback.agent import AgentContext
from answerback.app import App
from answerback.ask import AskRequest
from answerback.errors import AlreadyAnswered
from answerback.faults import Faults
from answerback.model import Address, Contact, InteractionStatus, Question, RunStatus
from answerback.provider import Inbound, Message, Outcome, Provider, ProviderContext, Reply, Sent, Settings
from answerback.run import RunRequest
from answerback.settings import Route
from answerback.settings import Settings as Configuration
from answerback.testing import ManualClock
from answerback_agents.langgraph import LangGraph

QUESTIONS = ("First?", "Second?")
LIFE = 120.0  # seconds of the gateway's time between two lives: every lease of the dead has lapsed


class Killed(Faults):
    """SIGKILL at the nth passing of one point."""

    def __init__(self, point: str, nth: int) -> None:
        self._point, self._left = point, nth

    def reach(self, point: str) -> None:
        super().reach(point)
        if point == self._point:
            self._left -= 1
            if self._left == 0:
                os.kill(os.getpid(), signal.SIGKILL)


class FilePhone(Provider):
    """A provider whose far side is a file: what was sent survives the sender."""

    def __init__(self, folder: Path) -> None:
        super().__init__("phone", Settings(), ProviderContext())
        self._file = folder / "phone.jsonl"

    async def send(self, message: Message) -> Sent:
        shown = self.messages()
        id = f"m{len(shown) + 1}"
        append(self._file, {"id": id, "title": message.title, "buttons": [b.data for b in message.buttons]})
        return Sent((id,))

    async def update(self, to: Address, message_id: str, message: Message) -> None:
        append(self._file.with_name("edits.jsonl"), {"id": message_id, "title": message.title})

    async def verify(self, inbound: Inbound) -> None:
        """The test is trusted."""

    def parse(self, inbound: Inbound) -> list[Any]:
        return [Reply(**json.loads(inbound.body))]

    async def acknowledge(self, reply: Reply, outcome: Outcome, text: str) -> None:
        """Nothing to tell."""

    def messages(self) -> list[dict[str, Any]]:
        return lines(self._file)


class State(TypedDict, total=False):
    answers: list[Any]


def graph() -> Any:
    """Two questions in one node, which writes down what it was told."""
    folder = Path(os.environ["VICTIM"])

    def ask(state: State) -> State:
        answers = []
        for question in QUESTIONS:
            answer = interrupt({"question": question, "choices": ["Yes", "No"]})
            append(folder / "journal.jsonl", {"question": question, "answer": answer})
            answers.append(answer["choice"])
        return {"answers": answers}

    builder = StateGraph(State)
    builder.add_node("ask", ask)
    builder.add_edge(START, "ask")
    builder.add_edge("ask", END)
    return builder


def append(file: Path, row: Any) -> None:
    with file.open("a") as out:
        out.write(json.dumps(row) + "\n")


def lines(file: Path) -> list[Any]:
    return [json.loads(line) for line in file.read_text().splitlines()] if file.exists() else []


def build(folder: Path, database: str, faults: Faults, life: int) -> App:
    clock = ManualClock()
    clock.advance(life * LIFE)
    agent = LangGraph(
        "graph",
        LangGraph.Settings(graph="tests.faults.victim:graph"),
        AgentContext(str(folder), database, str(folder)),
    )
    alice = Contact("alice", "Alice", addresses=(Address("phone", "1001", "1001"),))
    settings = Configuration(
        data_dir=str(folder),
        database=database,
        contacts={"alice": alice},
        routes={"default": Route("default", ask=("alice",), providers=("phone",))},
    )
    providers: dict[str, Provider] = {"phone": FilePhone(folder)}
    return composition.build(
        settings, time=clock, faults=faults, providers=providers, agents={"graph": agent}
    )


async def live(scenario: str, folder: Path, database: str, point: str, nth: int, life: int) -> None:
    """One scenario to its end: whatever was not acknowledged is done again."""
    app = build(folder, database, Killed(point, nth), life)
    await app.start(clock=False)
    work = {"run": answer_a_run, "expire": ask_and_let_expire, "form": answer_the_form}[scenario]
    try:
        await work(app, folder)
    finally:
        await app.stop()


async def answer_a_run(app: App, folder: Path) -> None:
    """Taps whatever is on the phone until the run has ended."""
    phone = FilePhone(folder)
    started = await app.runner.list()
    if not started.items:
        await app.runner.start(RunRequest("graph", {"answers": []}))
    for _ in range(20):
        await sweep(app)
        (run,) = (await app.runner.list()).items
        await tap_all(app, folder, phone)
        if run.status is RunStatus.COMPLETED:
            append(folder / "result.jsonl", run.result)
            return
    raise RuntimeError("stuck: the run does not end")


async def ask_and_let_expire(app: App, folder: Path) -> None:
    """A caller of the API asks until it has heard that it was asked; then nobody answers in time."""
    if not lines(folder / "asked.jsonl"):
        question = Question("q1", "First?")
        asked = await app.asker.ask(AskRequest((question,), expires_in=300.0, idempotency_key="the caller's"))
        append(folder / "asked.jsonl", {"id": asked.interaction.id})
    id = lines(folder / "asked.jsonl")[0]["id"]
    clock: Any = app.context.store.backend
    for _ in range(20):
        await sweep(app)
        if (await app.reader.interaction(id)).status is not InteractionStatus.PENDING:
            break
        clock._clock.advance(61)
    await sweep(app)
    found = (await app.reader.interactions()).items
    append(folder / "result.jsonl", [[record.id == id, str(record.status)] for record in found])


async def answer_the_form(app: App, folder: Path) -> None:
    """A caller asks, and somebody sends the form until the page says that it was taken."""
    question = Question("q1", "First?")
    asked = await app.asker.ask(AskRequest((question,), idempotency_key="the caller's"))
    token = asked.form_url.rpartition("/")[2]
    if not lines(folder / "acknowledged.jsonl"):
        with contextlib.suppress(AlreadyAnswered):  # it was taken before we died: the page says so
            await app.forms.submit(token, {"q1": "by form"}, text="by form")
        append(folder / "acknowledged.jsonl", {"id": asked.interaction.id})
    await sweep(app)
    view = await app.forms.view(token)
    append(folder / "result.jsonl", view.interaction.answer.text if view.interaction.answer else None)


async def sweep(app: App) -> None:
    await app.idle()
    for worker in (app.elapser, app.deliverer, app.resumer, app.runner):
        await worker.pump()
        await app.idle()


async def tap_all(app: App, folder: Path, phone: FilePhone) -> None:
    """The first question is answered yes, the second no: swapped answers would show."""
    acknowledged = {row["id"] for row in lines(folder / "acknowledged.jsonl")}
    for shown in phone.messages():
        if shown["id"] in acknowledged or shown["title"] not in QUESTIONS:
            continue
        button = shown["buttons"][QUESTIONS.index(shown["title"])]
        reply = {"event_id": f"tap-{shown['id']}", "sender": "1001", "place": "1001", "data": button}
        await app.receiver.webhook("phone", Inbound(json.dumps(reply).encode()))
        append(folder / "acknowledged.jsonl", {"id": shown["id"], "title": shown["title"]})
        await app.idle()


def main(order: dict[str, Any]) -> None:
    """One life, by the order of a test."""
    folder = Path(order["folder"])
    os.environ["VICTIM"] = order["folder"]
    asyncio.run(
        live(order["scenario"], folder, order["database"], order["point"], order["nth"], order["life"])
    )
