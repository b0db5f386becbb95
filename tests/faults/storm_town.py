"""A town whose people answer what agents in workers ask, while something around the gateways breaks.

The gateways live on through all of it: what is missing or wrong in the end is what one of them forgot.
"""

import asyncio
import contextlib
import json
import random
import time
from collections.abc import AsyncIterator, Awaitable, Callable, Coroutine
from pathlib import Path
from typing import Any, TypeVar

from answerback import app as composition
from answerback.agent import Agent, AgentContext
from answerback.app import App
from answerback.errors import AgentUnavailable, Conflict, StoreUnavailable
from answerback.model import Address, Contact, MessageKind, Outcome, RunStatus
from answerback.provider import Inbound, Message, Reply, Sent
from answerback.run import Run, RunRequest
from answerback.settings import Plugin, Route
from answerback.testing.providers import Shown
from answerback.workers.agent import WorkerAgent
from tests.faults.phone import Phone
from tests.support.databases import Database
from tests.support.gateway import settings_for

T = TypeVar("T")
PERSONS = 12
COMMANDS = ("/help", "/why", "/snooze 1m", "/delegate to p0", "/delegate to p1", "/stop")
CHOICES = ("Yes", "No")
PATIENCE = 0.15  # seconds at most until somebody answers, cancels, or tries again
HASTY = 0.1  # seconds that a question of some runs may wait
ENDS = (RunStatus.COMPLETED, RunStatus.CANCELLED, RunStatus.FAILED)
SETTLES = (
    60.0  # seconds in which all must have come to its end; the gateways' own clock is moved on meanwhile
)
STEP = 3.0  # seconds by which it is moved at a time: less than any lease
LATER = 30  # such steps until whatever is left of an attempt that nobody heard the end of has lapsed
ROOT = Path(__file__).parents[2]


class Time:
    """The machine's, which can be moved on: microseconds since the Unix epoch."""

    def __init__(self) -> None:
        self.ahead = 0

    def __call__(self) -> int:
        return time.time_ns() // 1000 + self.ahead


class People(Phone):
    """They tap, tap again, or write, and a service brings each event until it has been taken in."""

    def __init__(self, chance: random.Random) -> None:
        super().__init__()
        self._chance = chance
        self._acts: set[asyncio.Task[None]] = set()
        self.complaints: list[str] = []  # what they were told that no gateway should say
        self.gateways: list[App] = []
        self.said: dict[str, dict[str, str]] = {}  # interaction → event id → what it says
        self._wrote: dict[str, str] = {}  # what was last written at a place
        self.stopped: set[str] = set()  # interactions whose run somebody stopped by a word
        self.moved: set[str] = set()  # those that somebody put off, or handed on: they are sent again
        self.taken: set[str] = set()  # events that some gateway has taken in
        self.accepted: set[str] = set()  # events whose sender was told that theirs is the answer
        self.ends: dict[str, int] = {}  # message id → how often it was told how its question ended

    async def send(self, message: Message) -> Sent:
        done = await super().send(message)
        if message.kind == MessageKind.QUESTION:
            self.act(self._answer(self.sent[-1]))
        elif message.kind == MessageKind.CONVERSATION and _asks_which(message):
            self.act(self._pick(self.sent[-1]))
        return done

    async def update(self, to: Address, message_id: str, message: Message) -> None:
        await super().update(to, message_id, message)
        self.ends[message_id] = self.ends.get(message_id, 0) + 1

    async def acknowledge(self, reply: Reply, outcome: Outcome, text: str) -> None:
        if outcome is Outcome.ACCEPTED:
            self.accepted.add(reply.event_id)

    def act(self, doing: Coroutine[Any, Any, None]) -> None:
        async def done() -> None:
            try:
                await doing
            except Exception as error:
                self.complaints.append(repr(error))

        task = asyncio.create_task(done())
        self._acts.add(task)
        task.add_done_callback(self._acts.discard)

    async def done(self) -> None:
        """Until nobody is about to do anything."""
        while self._acts:
            await asyncio.gather(*self._acts)

    async def _answer(self, shown: Shown) -> None:
        for _ in range(self._chance.choice((1, 1, 2))):
            await self.wait()
            if self._chance.random() < 0.1:
                await self._command(shown)
            value = self._chance.choice(CHOICES)
            if self._chance.random() < 0.8:
                event = self.tap(shown.message.to.place, shown, value)
                await self._say(shown.message.interaction_id, value, event)
            else:
                await self._write(shown, value)

    async def _command(self, shown: Shown) -> None:
        """A word that decides nothing, or stops the run, or has somebody else asked."""
        word, id = self._chance.choice(COMMANDS), shown.message.interaction_id
        if word == "/stop":
            self.stopped.add(id)
        elif word not in ("/help", "/why"):
            self.moved.add(id)
        await self._write(shown, word)

    async def _write(self, shown: Shown, text: str) -> None:
        place = shown.message.to.place
        self._wrote[place] = text
        await self._say(shown.message.interaction_id, text, self.reply(place, shown, text))

    async def _pick(self, shown: Shown) -> None:
        """Somebody wrote, and is asked which question that is for: the last that they were sent."""
        await self.wait()
        place, button = shown.message.to.place, shown.message.buttons[-1]
        token = button.data.partition(":")[0]
        [asked] = [
            each for each in self.sent if each.message.token == token and each.message.kind == "question"
        ]
        await self._say(
            asked.message.interaction_id, self._wrote[place], self.tap(place, shown, button.label)
        )

    async def _say(self, interaction: str, value: str, event: Inbound) -> None:
        id = json.loads(event.body)["event_id"]
        self.said.setdefault(interaction, {})[id] = value
        for _ in range(self._chance.choice((1, 1, 2))):  # a service may deliver it twice
            await self._bring(event)
        self.taken.add(id)

    async def _bring(self, event: Inbound) -> None:
        await self.insist(lambda: self.anyone().receiver.webhook("memory", event))

    async def insist(self, attempt: Callable[[], Awaitable[T]]) -> T:
        """Its result, once what it needs is there."""
        while True:
            try:
                return await attempt()
            except (StoreUnavailable, AgentUnavailable):
                await self.wait()

    async def wait(self) -> None:
        await asyncio.sleep(self._chance.uniform(0, PATIENCE))

    def anyone(self) -> App:
        return self._chance.choice(self.gateways)


def _asks_which(message: Message) -> bool:
    return any(button.data.endswith(":pick") for button in message.buttons)


class Town:
    """Gateways on one database, and runs that are started, answered, cancelled and too slow."""

    def __init__(self, database: Database, people: People, time: Time, chance: random.Random) -> None:
        self.database, self.people, self._time, self._chance = database, people, time, chance
        self.runs: dict[str, Run] = {}  # by thread, as each was found last
        self.cancelled: set[str] = set()  # threads of which somebody was told that they are cancelled
        self._over = False

    @property
    def now(self) -> int:
        """By the gateways' clock: microseconds since the Unix epoch."""
        return self._time()

    @property
    def gateways(self) -> list[App]:
        return self.people.gateways

    async def live(self, storm: Awaitable[None]) -> None:
        """Until the storm is over and all that was begun has come to its end."""
        living = [asyncio.create_task(self._person(number)) for number in range(PERSONS)]
        try:
            await storm
        finally:
            self._over = True
        await self._settle(living)

    async def _person(self, number: int) -> None:
        """One run after the other."""
        count = 0
        while not self._over:
            count += 1
            await self._run(number, f"p{number}-{count}")

    async def _run(self, number: int, thread: str) -> None:
        hasty = self._chance.random() < 0.1
        given = {"folder": str(self.database.data_dir / "journals"), "run": thread}
        request = RunRequest(
            "graph", given, thread_id=thread, ask=(f"p{number}",), expires_in=HASTY if hasty else None
        )
        people = self.people
        try:
            run = await people.insist(lambda: people.anyone().runner.start(request))
        except Conflict:  # a try that nobody could answer had begun it after all
            found = await people.insist(lambda: people.anyone().runner.list(limit=10_000))
            [run] = [each for each in found.items if each.thread_id == thread]
        self.runs[thread] = run
        if self._chance.random() < 0.1:
            people.act(self._cancel(run))
        while self.runs[thread].status not in ENDS:
            await people.wait()
            self.runs[thread] = await people.insist(lambda: people.anyone().runner.get(run.id))

    async def _cancel(self, run: Run) -> None:
        await self.people.wait()
        with contextlib.suppress(Conflict):  # it has ended, or a try that nobody could answer cancelled it
            await self.people.insist(lambda: self.people.anyone().runner.cancel(run.id))
        self.cancelled.add(run.thread_id)

    async def _settle(self, living: list[asyncio.Task[None]]) -> None:
        """What is to be tried again later is tried sooner: the time that all of them go by is moved on."""
        waits, until = set(living), time.monotonic() + SETTLES
        while waits and time.monotonic() < until:
            _, waits = await asyncio.wait(waits, timeout=PATIENCE)
            await self.pass_time()
        for task in waits:
            task.cancel()
        ends = await asyncio.gather(*living, return_exceptions=True)
        self.people.complaints += [repr(error) for error in ends if error is not None]
        await self.people.done()
        for _ in range(LATER):
            await self.pass_time()

    async def pass_time(self) -> None:
        self._time.ahead += round(STEP * 1e6)
        for each in self.gateways:
            for pump in (each.elapser, each.deliverer, each.resumer, each.runner):
                with contextlib.suppress(StoreUnavailable):
                    await pump.pump()
        for each in self.gateways:
            await each.idle()


def on_langgraph(database: Database) -> WorkerAgent:
    """An agent whose graph is in its worker."""
    options = {"graph": "tests.replicas.graph:graph"}
    return in_a_worker(database, "answerback_agents.langgraph:LangGraph", options)


def in_a_worker(database: Database, use: str, options: dict[str, str]) -> WorkerAgent:
    context = AgentContext(str(database.data_dir), database.url, str(ROOT))
    return WorkerAgent(
        Plugin("graph", use, options, base_dir=str(ROOT)), context, pause=lambda failures: PATIENCE
    )


@contextlib.asynccontextmanager
async def town(
    database: Database,
    gateways: int,
    chance: random.Random,
    agent: Callable[[Database], Agent] = on_langgraph,
) -> AsyncIterator[Town]:
    """A town with so many gateways, all of them served by their clocks, and an agent for each."""
    (database.data_dir / "journals").mkdir()
    people, time = People(chance), Time()
    names = [f"p{number}" for number in range(PERSONS)]
    settings = settings_for(
        database,
        contacts={name: Contact(name, name, addresses=(Address("memory", name, name),)) for name in names},
        routes={"default": Route("default", ask=("p0",), providers=("memory",), delegates=("p0", "p1"))},
    )
    async with contextlib.AsyncExitStack() as stack:
        for _ in range(gateways):
            app = composition.build(
                settings, time=time, providers={"memory": people}, agents={"graph": agent(database)}
            )
            await app.start()
            stack.push_async_callback(app.stop)
            people.gateways.append(app)
        yield Town(database, people, time, chance)
