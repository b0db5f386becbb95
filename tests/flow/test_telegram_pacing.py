"""Pacing: two gateways share one bot's rates by the `pace` rows; the sandbox enforces them."""

import contextlib
import random
from collections.abc import AsyncIterator, Iterable
from dataclasses import dataclass
from pathlib import Path

import pytest

from answerback.app import App, build
from answerback.ask import AskRequest
from answerback.clock import next_due
from answerback.model import Address, Contact, Question
from answerback.provider import Message, ProviderContext, Sent, TryLater
from answerback.settings import Route
from answerback.testing import ManualClock
from answerback_providers.telegram import Telegram
from answerback_sandbox import Sandbox
from tests.support.databases import Database
from tests.support.gateway import settings_for

pytestmark = pytest.mark.needs_extra("telegram", "postgres")
SECOND = 1_000_000
ROAD = 20_000  # microseconds that a message may take to Telegram
FIRST = 5000  # the first person's number


class Counted(Telegram):
    """Telegram, and how often it told us to slow down."""

    refused = 0

    async def send(self, message: Message) -> Sent:
        try:
            return await super().send(message)
        except TryLater:
            self.refused += 1
            raise


@dataclass(slots=True)
class Bench:
    """Two gateways on one database, one bot, and a clock that jumps from one due moment to the next."""

    clock: ManualClock
    box: Sandbox
    apps: tuple[App, App]
    bots: tuple[Counted, Counted]

    async def ask(self, number: int, people: Iterable[int]) -> None:
        names = tuple(f"p{person}" for person in people)
        await self.apps[number % 2].asker.ask(AskRequest((Question("q1", f"Question {number}?"),), ask=names))

    async def until(self, moment: int) -> None:
        """Let time pass, and both gateways do what falls due."""
        while True:
            for app in self.apps:
                await app.idle()
            _, due = await self.apps[0].context.store.read(next_due)
            if due > moment:
                self.clock.now = moment
                return
            self.clock.now = max(self.clock.now, due)
            for app in self.apps:
                await app.deliverer.pump()

    def arrivals(self, people: Iterable[int]) -> list[int]:
        """When the messages to these people came, microseconds, ascending."""
        return sorted(message.sent_at for person in people for message in self.box.received(FIRST + person))

    @property
    def refused(self) -> int:
        return sum(bot.refused for bot in self.bots)


@contextlib.asynccontextmanager
async def bench(url: str, folder: Path, people: int, *, in_group: bool = False) -> AsyncIterator[Bench]:
    (folder / "secret").write_text("the same secret for both of them")
    clock, chance = ManualClock(), random.Random(1)  # noqa: S311 - no secret is made of it
    road = lambda: clock.now + chance.randrange(ROAD)  # noqa: E731 - as short as it is
    async with Sandbox.start(rates=True, clock=road) as box, contextlib.AsyncExitStack() as stack:
        for person in range(people):
            box.add_person(FIRST + person, f"P{person}")
        options = Telegram.Settings.model_validate({"token": box.token, "api_base": box.url})
        bots = tuple(Counted("telegram", options, ProviderContext()) for _ in range(2))
        group = str(box.add_group("Ops", [FIRST + person for person in range(people)]).id)
        place = group if in_group else ""
        contacts = {f"p{person}": _contact(person, place) for person in range(people)}
        routes = {"default": Route("default", ask=(), providers=("telegram",))}
        settings = settings_for(Database(url, folder), contacts=contacts, routes=routes)
        apps = tuple(build(settings, time=clock, providers={"telegram": bot}, agents={}) for bot in bots)
        for app in apps:
            await app.start(clock=False)
            stack.push_async_callback(app.stop)
        yield Bench(clock, box, apps, bots)


def _contact(person: int, place: str) -> Contact:
    id = str(FIRST + person)
    return Contact(f"p{person}", f"P{person}", addresses=(Address("telegram", id, place or id),))


def used(arrivals: list[int], allowed: float) -> float:
    """The share of an allowed rate (messages a second) that was used while there was something to send."""
    seconds = (arrivals[-1] - arrivals[0]) / SECOND
    return (len(arrivals) - 1) / seconds / allowed


async def test_many_messages_to_many_chats_meet_no_429_and_use_95_percent_of_30_a_second(
    postgres_url: str, tmp_path: Path
) -> None:
    people = range(40)
    async with bench(postgres_url, tmp_path, len(people)) as b:
        for number in range(2):
            await b.ask(number, people)
        await b.until(b.clock.now + 20 * SECOND)
        arrivals = b.arrivals(people)
        assert (len(arrivals), b.refused) == (80, 0)
        assert used(arrivals, 30) >= 0.95


async def test_many_messages_to_few_chats_meet_no_429_and_use_95_percent_of_1_a_second_in_each(
    postgres_url: str, tmp_path: Path
) -> None:
    people = range(4)
    async with bench(postgres_url, tmp_path, len(people)) as b:
        for number in range(6):
            await b.ask(number, people)
        await b.until(b.clock.now + 30 * SECOND)
        assert b.refused == 0
        for person in people:
            arrivals = b.arrivals([person])
            assert len(arrivals) == 6
            assert used(arrivals, 1) >= 0.95


async def test_chats_with_a_queue_of_their_own_take_nothing_from_the_rate_that_is_reserved_later(
    postgres_url: str, tmp_path: Path
) -> None:
    async with bench(postgres_url, tmp_path, 40) as b:
        for number in range(4):  # eight chats get far more at once than they may be sent
            await b.ask(number, range(8))
        await b.until(b.clock.now + SECOND)
        await b.ask(4, range(40))  # and then everybody is asked
        await b.until(b.clock.now + 20 * SECOND)
        assert (len(b.arrivals(range(40))), b.refused) == (4 * 8 + 40, 0)
        orders = [[message.text for message in b.box.received(FIRST + person)] for person in range(8)]
        assert all(order == sorted(order) for order in orders)


async def test_many_messages_to_a_group_meet_no_429_and_use_95_percent_of_20_a_minute(
    postgres_url: str, tmp_path: Path
) -> None:
    async with bench(postgres_url, tmp_path, 2, in_group=True) as b:
        for number in range(12):
            await b.ask(number, range(2))
        await b.until(b.clock.now + 90 * SECOND)
        group = b.box.chats(FIRST)[-1].id
        arrivals = sorted(message.sent_at for message in b.box.received(FIRST, group))
        assert (len(arrivals), b.refused) == (24, 0)
        assert used(arrivals, 20 / 60) >= 0.95
