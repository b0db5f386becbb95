"""A standby takes over again and again that lacks what was committed last, while people answer.

What was accepted in between is lost, which no gateway can change. It must not make anything else wrong: no
answer to a question that is lost may reach another one, and no agent may go on from what is lost.
"""

import asyncio
import contextlib
import json
import random
from collections.abc import AsyncIterator, Awaitable, Callable
from typing import Any, TypeVar

from answerback import app as composition
from answerback.app import App
from answerback.errors import AgentUnavailable, Conflict, NotFound, StoreUnavailable
from answerback.model import Address, Contact, RunStatus
from answerback.run import RunRequest
from answerback.settings import Route
from answerback.testing import MemoryProvider
from tests.faults.kill_audit import Findings
from tests.faults.storm_audit import own_word, rows
from tests.faults.storm_town import ENDS, SETTLES, STEP, Time, in_a_worker
from tests.support.databases import Database
from tests.support.gateway import settings_for
from tests.support.replicated import Replicated

T = TypeVar("T")
PEOPLE, GATEWAYS = 6, 2
LOOKS = 0.03  # seconds between two looks at a phone
PAUSE, LACKS = 0.8, 0.7  # seconds at most between two takeovers, and for which the standby is behind
UNNAMED = 0.7  # how many of the answers are a text that names no question


class Takeovers:
    """People who have one run after the other, and gateways whose database goes back now and then."""

    def __init__(
        self, apps: list[App], phone: MemoryProvider, standby: Replicated, time: Time, chance: random.Random
    ) -> None:
        self.apps, self.phone = apps, phone
        self._standby, self._time, self._chance = standby, time, chance
        self.complaints: list[str] = []
        self._over = False

    async def live(self, count: int) -> int:
        """So many takeovers, and until all that was begun has come to its end; how many runs were begun."""
        names = [name(number) for number in range(PEOPLE)]
        people = [asyncio.create_task(self._begins(who)) for who in names]
        others = [asyncio.create_task(self._answers(who)) for who in names]
        try:
            for _ in range(count):
                await asyncio.sleep(self._chance.uniform(0, PAUSE))
                await asyncio.to_thread(self._standby.falls_behind)
                await asyncio.sleep(self._chance.uniform(0, LACKS))
                await asyncio.to_thread(self._standby.takes_over)
            self._over = True
            for app in self.apps:  # as each does within seconds, before time is moved on by minutes
                await self._insist(lambda app: app.context.store.settled(), app)
            others.append(asyncio.create_task(self._clock()))
            with contextlib.suppress(TimeoutError):
                async with asyncio.timeout(SETTLES):
                    await asyncio.wait(people)
                    await self._until(_all_have_ended)
        finally:
            for task in (*people, *others):
                task.cancel()
            ends = await asyncio.gather(*people, *others, return_exceptions=True)
        self.complaints += [repr(end) for end in ends if isinstance(end, Exception)]
        return sum(end for end in ends if isinstance(end, int))

    async def _begins(self, who: str) -> int:
        """One run after the other; how many."""
        count = 0
        while not self._over:
            count += 1
            thread = f"{who}-{count}"
            request = RunRequest("graph", {"run": thread, "heard": []}, thread_id=thread, ask=(who,))
            with contextlib.suppress(Conflict, NotFound):  # a try that nobody heard of began it; it is lost
                run = await self._insist(lambda app, given=request: app.runner.start(given))  # type: ignore[misc]
                await self._until(lambda app, id=run.id: _has_ended(app, id))  # type: ignore[misc]
        return count

    async def _answers(self, who: str) -> None:
        """To what stands last on their phone."""
        while True:
            await asyncio.sleep(LOOKS)
            with contextlib.suppress(StoreUnavailable):
                await self._answer(who)

    async def _answer(self, who: str) -> None:
        asked = [
            shown
            for shown in self.phone.shown
            if shown.message.to.place == who
            and not shown.edited
            and shown.message.kind in ("question", "reminder")
        ]
        if not asked or self._chance.random() < 0.5:
            return
        references = [] if self._chance.random() < UNNAMED else [asked[-1].id]
        text = answer_to(asked[-1].message.title)
        event = self.phone.typed(who, text, references=references, sent_at=self._time())
        await self._chance.choice(self.apps).receiver.webhook("memory", event)

    async def _until(self, has_come: Callable[[App], Awaitable[bool]]) -> None:
        while not await self._insist(has_come):  # noqa: ASYNC110 - it is in the database
            await asyncio.sleep(LOOKS)

    async def _insist(self, act: Callable[[App], Awaitable[T]], *apps: App) -> T:
        """At one of these, or of all, until it can be done."""
        while True:
            try:
                return await act(self._chance.choice(apps or self.apps))
            except (StoreUnavailable, AgentUnavailable):
                await asyncio.sleep(LOOKS)

    async def _clock(self) -> None:
        """What is to be tried again later is tried sooner."""
        while True:
            await asyncio.sleep(LOOKS)
            self._time.ahead += round(STEP * 1e6)
            for app in self.apps:
                for pump in (app.elapser, app.deliverer, app.resumer, app.runner):
                    with contextlib.suppress(StoreUnavailable):
                        await pump.pump()


async def _has_ended(app: App, id: str) -> bool:
    return (await app.runner.get(id)).status in ENDS


async def _all_have_ended(app: App) -> bool:
    return all(row["status"] in ENDS for row in await rows(app, "run"))


def name(number: int) -> str:
    return f"p{number}"


def answer_to(question: str) -> str:
    """What anybody says to it."""
    return f"to {question}"


@contextlib.asynccontextmanager
async def lagging(database: Database, standby: Replicated, chance: random.Random) -> AsyncIterator[Takeovers]:
    """Gateways on one database, each with its agent in a worker."""
    phone, time = MemoryProvider(), Time()
    names = [name(number) for number in range(PEOPLE)]
    settings = settings_for(
        database,
        contacts={each: Contact(each, each, addresses=(Address("memory", each, each),)) for each in names},
        routes={"default": Route("default", ask=("p0",), providers=("memory",))},
    )
    options = {"graph": "tests.faults.takeover_graph:graph"}
    async with contextlib.AsyncExitStack() as stack:
        apps = []
        for _ in range(GATEWAYS):
            agent = in_a_worker(database, "answerback_agents.langgraph:LangGraph", options)
            app = composition.build(settings, time=time, providers={"memory": phone}, agents={"graph": agent})
            await app.start()
            stack.push_async_callback(app.stop)
            apps.append(app)
        yield Takeovers(apps, phone, standby, time, chance)


async def audit(here: Takeovers) -> Findings:
    """Of what is there: each question was given its own answer, each run heard both, and all have ended."""
    found = Findings()
    for row in await rows(here.apps[0], "interaction"):
        text = json.loads(row["questions"])[0]["text"]
        if row["status"] != "completed":
            found.stuck.append(f"{text} is {row['status']}")
        elif (given := json.loads(row["answer"])["values"]["q1"]) != answer_to(text):
            found.wrong.append(f"{text} was answered {given!r}")
    for row in await rows(here.apps[0], "run"):
        if row["status"] != RunStatus.COMPLETED:
            found.stuck.append(f"{row['thread_id']} is {row['status']}: {row['error']}")
        elif (heard := _heard(row)) != [
            answer_to(f"{one} of {row['thread_id']}?") for one in ("First", "Second")
        ]:
            found.wrong.append(f"{row['thread_id']} heard {heard}")
    await own_word(here.apps[0], found)
    found.wrong += here.complaints
    return found


def _heard(run: dict[str, Any]) -> Any:
    return json.loads(run["result"])["heard"]
