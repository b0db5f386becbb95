"""A town whose people answer what agents in workers ask, while something around the gateways breaks.

The gateways live on through all of it: what is missing or wrong in the end is what one of them forgot.
"""

import asyncio
import contextlib
import random
import time
from collections.abc import AsyncIterator, Awaitable, Callable
from pathlib import Path

from answerback import app as composition
from answerback.agent import Agent, AgentContext
from answerback.app import App
from answerback.errors import Conflict, StoreUnavailable
from answerback.model import Address, Contact, RunStatus
from answerback.run import Run, RunRequest
from answerback.settings import Plugin, Route
from answerback.workers.agent import WorkerAgent
from tests.faults.storm_callers import CALLERS, Callers, callers
from tests.faults.storm_people import PATIENCE, PERSONS, People
from tests.support.databases import Database
from tests.support.gateway import settings_for

HASTY = 0.1  # seconds that a question of some runs may wait
ENDS = (RunStatus.COMPLETED, RunStatus.CANCELLED, RunStatus.FAILED)
SETTLES = 60.0  # seconds in which all must have come to its end, while the gateways' clock is moved on
STEP = 3.0  # seconds by which it is moved at a time: less than any lease
LATER = 70  # such steps until whatever is left of an attempt that nobody heard the end of has lapsed
ROOT = Path(__file__).parents[2]


class Time:
    """The machine's, which can be moved on: microseconds since the Unix epoch."""

    def __init__(self) -> None:
        self.ahead = 0

    def __call__(self) -> int:
        return time.time_ns() // 1000 + self.ahead


class Town:
    """Gateways on one database; callers that ask; and runs that are answered, cancelled and too slow."""

    def __init__(
        self, database: Database, people: People, callers: Callers, time: Time, chance: random.Random
    ) -> None:
        self.database, self.people, self.callers = database, people, callers
        self._time, self._chance = time, chance
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
        living += [
            asyncio.create_task(self.callers.one(number, lambda: self._over)) for number in range(CALLERS)
        ]
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
        outgoing=("localhost",),
        routes={"default": Route("default", ask=("p0",), providers=("memory",), delegates=("p0", "p1"))},
    )
    async with contextlib.AsyncExitStack() as stack:
        calling = await stack.enter_async_context(callers(people, chance))
        for _ in range(gateways):
            app = composition.build(
                settings, time=time, providers={"memory": people}, agents={"graph": agent(database)}
            )
            await app.start()
            stack.push_async_callback(app.stop)
            people.gateways.append(app)
        yield Town(database, people, calling, time, chance)
