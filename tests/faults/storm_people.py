"""The people of a town in a storm: what they do with what they are sent, until some gateway takes it in."""

import asyncio
import json
import random
from collections.abc import Awaitable, Callable, Coroutine
from typing import Any, TypeVar

from answerback.app import App
from answerback.errors import AgentUnavailable, StoreUnavailable
from answerback.model import Address, MessageKind, Outcome
from answerback.provider import Inbound, Message, Reply, Sent, TryLater
from answerback.testing.providers import Shown
from tests.faults.phone import Phone

T = TypeVar("T")
PERSONS = 12
COMMANDS = ("/help", "/why", "/snooze 1m", "/delegate to p0", "/delegate to p1", "/stop")
CHOICES = ("Yes", "No")
SEEN = 0.25  # seconds that it takes at least to see a message
PATIENCE = 0.15  # seconds at most until somebody answers, cancels, or tries again


class People(Phone):
    """They tap, tap again, or write, and a service brings each event until it has been taken in."""

    def __init__(self, chance: random.Random) -> None:
        super().__init__()
        self._chance = chance
        self._acts: set[asyncio.Task[None]] = set()
        self.complaints: list[str] = []  # what they were told that no gateway should say
        self.gateways: list[App] = []
        self.said: dict[str, dict[str, str]] = {}  # interaction → event id → what it says
        self.stopped: set[str] = set()  # interactions whose run somebody stopped by a word
        self.moved: set[str] = set()  # those that somebody put off, or handed on: they are sent again
        self.unheard: set[str] = set()  # messages of which the service never said that it took them
        self.unsure: set[str] = set()  # deliveries that are sent again because of that
        self.touched: set[str] = set()  # messages that somebody tapped
        self.taken: set[str] = set()  # events that some gateway has taken in
        self.accepted: set[str] = set()  # events whose sender was told that theirs is the answer
        self.ends: dict[str, int] = {}  # message id → how often it was told how its question ended

    async def send(self, message: Message) -> Sent:
        if self._chance.random() < 0.03:
            raise TryLater(PATIENCE, "busy")
        done = await super().send(message)
        if message.kind == MessageKind.QUESTION:
            self.act(self._answer(self.sent[-1]))
        elif message.kind == MessageKind.CONVERSATION and _asks_which(message):
            self.act(self._pick(self.sent[-1]))
        if self._chance.random() < 0.03:  # it is on the phone, and the gateway never hears of that
            self.unheard.add(self.sent[-1].id)
            self.unsure.add(message.delivery_id)
            raise TimeoutError
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
        """By a tap in the end: what is written may be for another question, or be asked again."""
        if shown.id in self.unheard:
            await asyncio.sleep(SEEN)
        for _ in range(self._chance.choice((0, 0, 1))):
            await self.wait()
            if self._chance.random() < 0.3:
                await self._write(shown, self._command(shown))
            else:
                await self._write(shown, self._chance.choice(CHOICES))
        for _ in range(self._chance.choice((1, 1, 2))):
            await self.wait()
            value = self._chance.choice(CHOICES)
            self.touched.add(shown.id)
            event = self.tap(shown.message.to.place, shown, value)
            await self._say(shown.message.interaction_id, value, event)

    def _command(self, shown: Shown) -> str:
        """A word that decides nothing, or stops the run, or has somebody else asked."""
        word, id = self._chance.choice(COMMANDS), shown.message.interaction_id
        if word == "/stop":
            self.stopped.add(id)
        elif word not in ("/help", "/why"):
            self.moved.add(id)
        return word

    async def _write(self, shown: Shown, text: str) -> None:
        event = self.reply(shown.message.to.place, shown, text)
        await self._say(shown.message.interaction_id, text, event)

    async def _pick(self, shown: Shown) -> None:
        """Somebody wrote, and is asked which question that is for: the last of those that are offered."""
        await self.wait()
        button = shown.message.buttons[-1]
        token = button.data.partition(":")[0]
        asked = [
            each for each in self.sent if each.message.token == token and each.message.kind == "question"
        ]
        if not asked or "“" not in shown.message.title:
            return  # it was never on the phone, and comes yet; or they had tapped, and see what is open
        id = asked[0].message.interaction_id
        title = shown.message.title
        wrote = next((text for text in (*CHOICES, *COMMANDS) if f"“{text}”" in title), "")
        assert wrote, f"a choice that nobody asked for: {title}"
        if wrote == "/stop":
            self.stopped.add(id)
        elif wrote.startswith("/"):
            self.moved.add(id)
        await self._say(id, wrote, self.tap(shown.message.to.place, shown, button.label))

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
