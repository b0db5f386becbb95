"""One life of a gateway that may be struck: the whole product on a socket, and a wire to the test.

What is real: the store, the HTTP interface, the form, python-telegram-bot, a LangGraph graph with its saver.
Only time is the test's. Over the wire come orders as JSON lines; back go their results, and where a fault
struck, written before it does.
"""

import asyncio
import json
import logging
import os
import signal
import socket
import threading
from collections.abc import Awaitable, Callable
from dataclasses import dataclass
from pathlib import Path
from typing import Any, TypedDict

import uvicorn
from langchain_core.runnables import RunnableConfig
from langgraph.graph import END, START, StateGraph
from langgraph.types import interrupt
from pydantic import SecretStr
from sqlalchemy import select

from answerback import app as composition
from answerback.agent import AgentContext
from answerback.app import App
from answerback.cli.site import site
from answerback.errors import AgentUnavailable, StoreUnavailable
from answerback.faults import Faults
from answerback.model import Address, Contact
from answerback.settings import ApiKey, Plugin, Route, Settings
from answerback.store import Tx, audit
from answerback.store.query import Query
from answerback.tables import metadata
from answerback.testing import ManualClock
from answerback_agents.langgraph import LangGraph

# Each question has answers of its own: one that reached another question would show.
QUESTIONS = {"Zero?": ("nil", "null"), "First?": ("one", "uno"), "Second?": ("two", "due")}
IN_GRAPH = ("First?", "Second?")
KEY = "the-key-of-the-client"
HOOK_SECRET = "the-secret-of-the-webhook"
EXPIRES = 24 * 3600.0  # seconds: far more than all restarts of a scenario take together
AWAY = {"database": "away"}  # the result of an order that may be given again
TABLES = ("interaction", "delivery", "run", "thread_lease", "reply", "audit")


class Broken(Exception):
    """What a fault point raises."""


class Armed(Faults):
    """Strikes once: at the nth passing of one point, from when it was armed."""

    def __init__(self, wire: socket.socket) -> None:
        self._wire = wire
        self._point, self._kind, self._left = "", "", 0
        self.passed: list[str] = []

    def arm(self, point: str, kind: str, nth: int = 1) -> None:
        self._point, self._kind, self._left = point, kind, nth

    def reach(self, point: str) -> None:
        super().reach(point)
        self.passed.append(point)
        if point == self._point:
            self._left -= 1
            if self._left == 0:
                self._strike(point)

    def _strike(self, point: str) -> None:
        os.write(self._wire.fileno(), (json.dumps({"struck": point, "kind": self._kind}) + "\n").encode())
        if self._kind == "exception":
            raise Broken(point)
        os.kill(os.getpid(), signal.SIGKILL if self._kind == "kill" else signal.SIGSTOP)


class State(TypedDict, total=False):
    answers: list[Any]


def graph() -> Any:
    """Two questions in one node, and a node after it; both write down what they were told."""
    journal = Path(os.environ["VICTIM"], "journal.jsonl")

    def ask(state: State, config: RunnableConfig) -> State:
        answers = []
        for question in IN_GRAPH:
            answer = interrupt({"question": question, "choices": list(QUESTIONS[question])})
            append(journal, {"node": "ask", "task": _task(config), question: answer})
            answers.append(answer["choice"])
        return {"answers": answers}

    def keep(state: State, config: RunnableConfig) -> State:
        append(journal, {"node": "keep", "task": _task(config), "answers": state["answers"]})
        return {}

    builder = StateGraph(State)
    builder.add_node("ask", ask)
    builder.add_node("keep", keep)
    builder.add_edge(START, "ask")
    builder.add_edge("ask", "keep")
    builder.add_edge("keep", END)
    return builder


def _task(config: RunnableConfig) -> str:
    """The same for every execution of one step: what ran again after a crash is told from what ran twice."""
    return str(config["metadata"]["langgraph_checkpoint_ns"])


def append(file: Path, row: Any) -> None:
    with file.open("a") as out:
        out.write(json.dumps(row) + "\n")


@dataclass(slots=True)
class Life:
    """The gateway and what the test can have it do."""

    app: App
    clock: ManualClock
    faults: Armed

    async def sweep(self, now: int) -> None:
        """What the clock would wake; as there, one that fails stops no other."""
        self.clock.now = now
        for _ in range(2):
            for pump in (self.app.elapser, self.app.deliverer, self.app.resumer, self.app.runner):
                try:
                    await self._pumped(pump.pump)
                except Broken:
                    logging.getLogger("victim").warning("a sweep failed")
                await self.app.idle()

    async def _pumped(self, pump: Callable[[], Awaitable[int]]) -> None:
        """As the clock does, which looks again.

        One that was stopped within a transaction holds its locks until PostgreSQL ends that, which takes
        longer than anybody waits for a lock.
        """
        for left in (2, 1, 0):
            try:
                await pump()
                return
            except StoreUnavailable:
                if not left:
                    raise

    async def arm(self, point: str, kind: str, nth: int = 1) -> None:
        self.faults.arm(point, kind, nth)

    async def passed(self) -> list[str]:
        """The points passed since this was last asked."""
        found, self.faults.passed = self.faults.passed, []
        return found

    async def link(self, interaction: str) -> str:
        """The form's address of a question, as a message would show it."""
        rows = (await self.records())["delivery"]
        row = next(row for row in rows if row["interaction_id"] == interaction and row["token_hash"])
        return self.app.context.tokens.form_url(row["id"])

    async def records(self) -> dict[str, list[dict[str, Any]]]:
        """What stands in the database, what the product itself finds wrong with its audit, and what the graph

        waits for.
        """

        def tx(tx: Tx) -> dict[str, list[dict[str, Any]]]:
            return {name: tx.all(ALL[name]) for name in TABLES}

        found = await self.app.context.store.read(tx)
        for row in found["audit"]:
            row["is_genuine"] = row["hash"] == audit.link(row)
        checked = await self.app.auditor.check(200)
        found["flaw"] = [{"what": flaw.what} for _, flaw in checked.flaws]
        found["waits"] = [
            {"question": question.text}
            for run in found["run"]
            for pending in await self.app.agents["graph"].pending(run["thread_id"])
            for question in pending.questions
        ]
        return found

    async def mark(self, text: str) -> None:
        """Leave a mark in whatever records what this process writes."""
        with Path(os.environ["VICTIM"], "marks").open("a") as marks:
            marks.write(text + "\n")

    async def threads(self) -> dict[str, int | None]:
        """The threads that live now, by name."""
        found = {thread.name: thread.native_id for thread in threading.enumerate()}
        return found | {threading.main_thread().name: os.getpid()}  # after a fork it remembers its parent's


ALL = {name: Query(select(metadata.tables[name])) for name in TABLES}


def build(order: dict[str, Any], clock: ManualClock, faults: Faults) -> App:
    folder, data = order["folder"], str(Path(order["folder"], "data"))
    agent = LangGraph(
        "graph",
        LangGraph.Settings(graph="tests.faults.victim:graph"),
        AgentContext(data, order["database"], folder),
    )
    telegram = {
        "token": order["token"],
        "api_base": order["telegram"],
        "mode": "webhook",
        "webhook_secret": HOOK_SECRET,
    }
    settings = Settings(
        base_dir=folder,
        data_dir=data,
        database=order["database"],
        public_url=order["url"],
        api_keys=(ApiKey("client", SecretStr(KEY)),),
        providers={"telegram": Plugin("telegram", "telegram", telegram)},
        contacts={"ana": Contact("ana", "Ana", addresses=(Address("telegram", "1001", "1001"),))},
        routes={"default": Route("default", ask=("ana",), providers=("telegram",), expires_in=EXPIRES)},
    )
    return composition.build(settings, time=clock, faults=faults, agents={"graph": agent})


async def live(order: dict[str, Any], listener: socket.socket, control: socket.socket) -> None:
    clock, faults = ManualClock(order["now"]), Armed(control)
    reader, writer = await asyncio.open_connection(sock=control)

    def say(row: dict[str, Any]) -> None:
        writer.write((json.dumps(row, default=repr) + "\n").encode())

    say({"pid": os.getpid()})
    start = await reader.readline()  # before that the test has attached what it looks on with
    if not start:
        return
    faults.arm(*json.loads(start)["aim"])
    app = build(order, clock, faults)
    try:
        await app.start(clock=False)
    except Exception as error:
        say({"refused": f"{type(error).__name__}: {error}"})
        await writer.drain()
        return
    life = Life(app, clock, faults)
    server = uvicorn.Server(uvicorn.Config(site(app), log_config=None, lifespan="off", ws="none"))
    serving = asyncio.create_task(server.serve([listener]))
    say({"ready": True})
    while line := await reader.readline():
        what = json.loads(line)
        if what["do"] == "stop":
            break
        try:
            result = await getattr(life, what["do"])(**what["with"])
        except (StoreUnavailable, AgentUnavailable):
            result = AWAY
        say({"done": what["number"], "result": result})
    server.should_exit = server.force_exit = True
    await serving
    await app.stop()


def main(order: dict[str, Any], listener: socket.socket, control: socket.socket) -> None:
    """One life, by the order of a test."""
    os.environ["VICTIM"] = order["folder"]
    asyncio.run(live(order, listener, control))
