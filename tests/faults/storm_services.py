"""Telegram, WhatsApp and mail in a storm: they fail in all their ways, while people answer on all three.

The gateway lives on, or stops and is started again: what it forgot is found in the end.
"""

import asyncio
import contextlib
import random
import socket
from collections.abc import AsyncIterator, Callable
from dataclasses import replace

from answerback import app as composition
from answerback.agent import Paused, Pending, State, Target
from answerback.app import App
from answerback.model import Answer, Json
from answerback.run import Run, RunRequest
from answerback.settings import Route, Settings
from answerback.testing import ScriptedAgent, asks
from answerback_sandbox import Sandbox, ServiceName
from answerback_sandbox.faults import switches
from tests.faults.storm_thumbs import COLOURS, STEPS, Thumbs
from tests.faults.storm_town import ENDS, LATER, STEP, Time
from tests.support.databases import Database
from tests.support.services import PLACES, contact, services, several_couriers
from tests.support.serving import served

NAMES = ("Ana", "Ben", "Cai", "Dee")
AGENT, EVERYWHERE = "named", "everywhere"
LOOKS = 0.1  # seconds between two looks at how far a run has come
SETTLES = 60.0  # seconds in which all must have come to its end
PAUSE, LASTS = 0.6, 0.8  # seconds at most between two strikes, and for which one lasts
SECONDS = (0.2, 1.0, 2.0)  # by which a service is slow, or asks to be left alone
PATIENCE = (0.0, 5.0)  # seconds that what is under way gets when the gateway stops
GREETED = 30.0  # seconds until everybody has said hello; nothing waits that long


class Named(ScriptedAgent):
    """Asks two questions on each thread, which say whose they are."""

    def __init__(self) -> None:
        super().__init__(*(asks(step, *COLOURS) for step in STEPS), name=AGENT)

    async def start(self, thread: str, input: Json, run: str = "") -> State:
        return _named(thread, await super().start(thread, input, run))

    async def resume(self, thread: str, target: Target, answer: Answer, *, again: bool = False) -> State:
        return _named(thread, await super().resume(thread, target, answer, again=again))

    async def pending(self, thread: str) -> tuple[Pending, ...]:
        return tuple(_of(thread, each) for each in await super().pending(thread))


def _named(thread: str, state: State) -> State:
    return Paused(tuple(_of(thread, each) for each in state.pending)) if isinstance(state, Paused) else state


def _of(thread: str, pending: Pending) -> Pending:
    [question] = pending.questions
    if question.text not in STEPS:
        return pending
    return replace(pending, questions=(replace(question, text=f"{question.text} of {thread}?"),))


class Services:
    """People who have one run after the other, and what befalls the services that they answer on."""

    def __init__(self, box: Sandbox, time: Time, chance: random.Random, born: Callable[[], App]) -> None:
        self.box, self.agent, self.thumbs = box, Named(), Thumbs(box, chance)
        self.runs: dict[str, Run] = {}  # by thread, as each was found last
        self._time, self._chance, self._born = time, chance, born
        self._life, self._over = contextlib.AsyncExitStack(), False
        self._awake = asyncio.Lock()  # held while time is moved on, and while the gateway is away

    @property
    def app(self) -> App:
        return self._app

    async def rise(self, listener: socket.socket) -> None:
        """Start a gateway that listens there."""
        self._app, self._listener = self._born(), listener
        await self._app.start()
        self._life.push_async_callback(self._app.stop, self._chance.choice(PATIENCE))
        await self._life.enter_async_context(served(self._app, listener.dup()))

    async def fall(self) -> None:
        """Stop it, whatever is under way."""
        await self._life.aclose()

    async def live(self, count: int) -> None:
        """So many strikes, and until all that was begun has come to its end."""
        people = [asyncio.create_task(self._person(number)) for number in range(len(self.box.everyone))]
        hands = [asyncio.create_task(self.thumbs.of(person)) for person in self.box.everyone]
        clock = asyncio.create_task(self._clock())
        try:
            for _ in range(count):
                await asyncio.sleep(self._chance.uniform(0, PAUSE))
                await self._strike()
        finally:
            self.box.heal_all()
            self._over = True
        _, stuck = await asyncio.wait(people, timeout=SETTLES)
        for task in (*stuck, *hands, clock):
            task.cancel()
        ends = await asyncio.gather(*people, *hands, clock, return_exceptions=True)
        self.thumbs.complaints += [repr(error) for error in ends if isinstance(error, Exception)]
        for _ in range(LATER):
            await self._pass_time()

    async def _person(self, number: int) -> None:
        """One run after the other, each asked somewhere else."""
        count, who = 0, self.box.everyone[number].name.lower()
        while not self._over:
            count += 1
            thread = f"t{number}-{count}"
            route = self._chance.choice((*PLACES, EVERYWHERE))
            async with self._awake:
                run = await self.app.runner.start(
                    RunRequest(AGENT, {}, thread_id=thread, ask=(who,), route=route)
                )
            self.runs[thread] = run
            while self.runs[thread].status not in ENDS:
                await asyncio.sleep(LOOKS)
                async with self._awake:
                    self.runs[thread] = await self.app.runner.get(run.id)
            self.thumbs.done.add(thread)

    async def _strike(self) -> None:
        if self._chance.random() < 0.15:
            async with self._awake:
                await self.fall()
                await self.rise(self._listener)
            return
        service = self._chance.choice(list(ServiceName))
        kind, seconds = self._chance.choice(switches(service)), self._chance.choice(SECONDS)
        if self._chance.random() < 0.5:
            self.box.fail_next(service, kind, self._chance.choice((1, 2, 3)), seconds)
            return
        self.box.switch(service, kind, True, seconds)
        await asyncio.sleep(self._chance.uniform(0, LASTS))
        self.box.switch(service, kind, False)

    async def _clock(self) -> None:
        """What is to be tried again later is tried sooner."""
        while True:
            await asyncio.sleep(LOOKS)
            await self._pass_time()

    async def _pass_time(self) -> None:
        async with self._awake:
            self._time.ahead += round(STEP * 1e6)
            for pump in (self.app.elapser, self.app.deliverer, self.app.resumer, self.app.runner):
                await pump.pump()
            if self._over:
                await self.app.idle()


@contextlib.asynccontextmanager
async def struck(database: Database, chance: random.Random, telegram: str) -> AsyncIterator[Services]:
    """A gateway that asks four people on three services; Telegram's is read as `telegram` says."""
    time = Time()
    async with contextlib.AsyncExitStack() as stack:
        listener = stack.enter_context(socket.create_server(("127.0.0.1", 0)))
        url = f"http://127.0.0.1:{listener.getsockname()[1]}"
        box = await stack.enter_async_context(Sandbox.start(clock=time, retry_seconds=0.2))
        for number, name in enumerate(NAMES[1:], start=2002):
            box.add_person(number, name)
        box.twilio.webhook(f"{url}/in/whatsapp")
        settings = Settings(
            data_dir=str(database.data_dir),
            database=database.url,
            public_url=url,
            contacts={person.name.lower(): contact(person) for person in box.everyone},
            routes={
                **{place: Route(place, (), (place,)) for place in PLACES},
                EVERYWHERE: Route(EVERYWHERE, (), PLACES, at_once=True),
                "default": Route("default", ("ana",), PLACES),
            },
        )

        def born() -> App:
            providers = services(box, url, telegram=telegram)
            return composition.build(settings, time=time, providers=providers, agents={AGENT: here.agent})

        here = Services(box, time, chance, born)
        await here.rise(listener)
        stack.push_async_callback(here.fall)
        await stack.enter_async_context(several_couriers(box))
        for person in box.everyone:  # so that WhatsApp takes more than a template for a day
            box.twilio.type(person.whatsapp, "hello")
        await box.wait_for(
            lambda: all(box.twilio.received(person.whatsapp) for person in box.everyone), GREETED
        )
        yield here
