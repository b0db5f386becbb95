"""Whatever people do, and however time passes, a gateway on PostgreSQL does and says what one on SQLite does.

Conversations are made at random. No model is needed to judge them: each database is the other one's.
"""

import json
import random
import re
from collections.abc import AsyncIterator, Sequence
from contextlib import asynccontextmanager
from dataclasses import dataclass, field, fields, replace
from pathlib import Path
from typing import TYPE_CHECKING

import pytest

from answerback.ask import AskRequest
from answerback.errors import AnswerbackError
from answerback.model import Address, Choice, Contact, OnExpire, Question, QuestionKind
from answerback.provider import Button, Inbound, Message
from answerback.settings import Route
from answerback.testing import MemoryProvider, ScriptedAgent, asks
from tests.support.databases import Database, with_tables
from tests.support.gateway import Gateway, gateway

if TYPE_CHECKING:
    from tests.support.postgres import PostgresServer

pytestmark = pytest.mark.needs_extra("postgres")
FEW, MANY = range(4), range(100, 160)
STEPS = 40  # of a conversation
HOUR = 3600.0
PEOPLE = {
    "alice": Contact(
        "alice",
        "Alice",
        addresses=(Address("memory", "1001", "1001"), Address("other", "a1", "a1")),
        timezone="Europe/Vienna",
        quiet_hours="22:00-07:00",
    ),
    "ben": Contact("ben", "Ben", language="de", addresses=(Address("memory", "2002", "2002"),)),
    "carol": Contact("carol", "Carol", addresses=(Address("other", "c3", "c3"),), timezone="Asia/Tokyo"),
}
ACCOUNTS = (("memory", "1001"), ("memory", "2002"), ("other", "a1"), ("other", "c3"), ("memory", "666"))
BOTH = ("memory", "other")
ROUTES = {
    each.name: each
    for each in (
        Route("default", ("alice",), BOTH, reminders=(600.0, 1800.0), expires_in=2 * HOUR),
        Route("both", ("alice", "ben"), BOTH, at_once=True, expires_in=HOUR, delegates=("carol",)),
        Route("each", ("alice", "ben", "carol"), BOTH, expires_in=3 * HOUR, on_expire=OnExpire.NO_RESPONSE),
        Route("ever", ("ben",), ("memory",)),
        Route("leave", ("alice",), BOTH, expires_in=900.0, on_expire=OnExpire.LEAVE),
    )
}
ASKED = (
    (Question("q1", "Free?"),),
    (Question("q1", "Sure?", QuestionKind.CONFIRM),),
    (Question("q1", "Any?", QuestionKind.CHOICES, (Choice("a", "Apples"), Choice("b", "Pears"))),),
    (Question("q1", "How many?", QuestionKind.NUMBER), Question("q2", "When?", QuestionKind.DATE)),
)
WORDS = (
    *("yes", "no", "2", "now", "Vienna", "apples", "yes but not prod", "ja", "", "help", "pending", "why"),
    *(
        "skip",
        "snooze",
        "snooze 2h",
        "snooze tomorrow",
        "mute 2h",
        "unmute",
        "delegate to Carol",
        "/delegate",
    ),
    *("stop", "/stop one", "/stop nobody", "cancel", "/run"),
)
SAID = {"kind", "title", "heading", "body", "fields", "footer", "subject", "expires_at", "placeholder"}
# What is another one in each gateway: ids, links, codes.
OWN = re.compile(r"[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}|/f/\w+|#\w{4}\b")


@dataclass(slots=True)
class Side:
    """One of the two gateways, and its people's telephones."""

    g: Gateway
    phones: dict[str, MemoryProvider]
    read: dict[str, int] = field(default_factory=lambda: dict.fromkeys(BOTH, 0))

    def news(self) -> list[str]:
        """What everybody was told since the last look, in no order: messages are sent beside each other."""
        found = []
        for name, phone in self.phones.items():
            found += [_told(message) for message in phone.given[self.read[name] :]]
            self.read[name] = len(phone.given)
        return sorted(found)

    async def records(self) -> list[tuple[object, ...]]:
        """What became of every question, oldest first."""
        found = (await self.g.app.reader.interactions(limit=200)).items
        return [
            (each.questions[0].text, each.status, each.answered_by, each.answered_at, each.reason,
             each.answer.values if each.answer else None, json.dumps(each.route, sort_keys=True))
            for each in found
        ]  # fmt: skip

    def only(self, provider: str, who: str, *, buttons: bool = False) -> list[str]:
        """The titles that one message on this person's telephone has, and no other."""
        shown = [each.message for each in self.phones[provider].shown if each.message.to.place == who]
        titles = [message.title for message in shown]
        return [m.title for m in shown if titles.count(m.title) == 1 and (m.buttons or not buttons)]

    def shown(self, provider: str, who: str, title: str) -> tuple[str, tuple[Button, ...]]:
        """The id of that message, and its buttons."""
        (found,) = (
            each
            for each in self.phones[provider].shown
            if each.message.to.place == who and each.message.title == title
        )
        return found.id, found.message.buttons


def _told(message: Message) -> str:
    labels = [button.label for button in message.buttons]
    said = [getattr(message, each.name) for each in fields(message) if each.name in SAID]
    return OWN.sub("…", repr((message.to.place, said, labels)))


@asynccontextmanager
async def side(database: Database) -> AsyncIterator[Side]:
    phones = {name: MemoryProvider(name) for name in BOTH}
    agents = [
        ScriptedAgent(asks("Now or later?", "Now", "Later"), asks("Which city?"), name="one"),
        ScriptedAgent([asks("Left?"), Question("q2", "Right?", QuestionKind.CONFIRM)], name="two"),
    ]
    async with gateway(database, *agents, providers={**phones}, contacts=PEOPLE, routes=ROUTES) as g:
        yield Side(g, phones)


@dataclass(frozen=True, slots=True)
class Step:
    """What happens next; each kind of step needs some of these."""

    kind: str
    who: tuple[str, str]  # provider and account
    word: str
    route: str
    number: int
    seconds: float
    title: str = ""  # of the message that is tapped, or replied to


def made(chance: random.Random) -> Step:
    """A step at random."""
    return Step(
        chance.choices(("run", "ask", "type", "tap", "later", "cancel"), (12, 6, 34, 26, 18, 4))[0],
        chance.choice(ACCOUNTS),
        chance.choice(WORDS),
        chance.choice([*ROUTES]),
        chance.randrange(100),
        chance.choice((1.0, 60.0, 601.0, 1800.0, HOUR, 10 * HOUR, 24 * HOUR)),
    )


async def do(here: Side, step: Step) -> str:
    """One step, and what follows from it; the error that a caller gets."""
    g, (provider, who) = here.g, step.who
    g.clock.advance(1)
    try:
        if step.kind == "run":
            await g.run(("one", "two")[step.number % 2], route=step.route)
        elif step.kind == "ask":
            await g.app.asker.ask(AskRequest(ASKED[step.number % len(ASKED)], route=step.route))
        elif step.kind == "type":
            below = {"references": [here.shown(*step.who, step.title)[0]]} if step.title else {}
            await g.receive(here.phones[provider].typed(who, step.word, **below), provider)
        elif step.kind == "tap" and step.title:
            id, buttons = here.shown(*step.who, step.title)
            event = {"event_id": f"tap {g.clock.now}", "sender": who, "place": who, "references": [id]}
            event["data"] = buttons[step.number % len(buttons)].data
            await g.receive(Inbound(json.dumps(event).encode()), provider)
        elif step.kind == "later":
            await g.later(step.seconds)
        elif step.kind == "cancel":
            waiting = (await g.app.reader.interactions("pending", 200)).items
            if waiting:
                await g.app.asker.cancel(waiting[step.number % len(waiting)].id)
    except AnswerbackError as refused:
        return OWN.sub("…", repr(refused))
    finally:
        await g.sweep()
    return ""


async def compare(seed: int, one: Side, other: Side) -> None:
    chance = random.Random(seed)  # noqa: S311
    done: list[Step] = []
    for _ in range(STEPS):
        step, is_reply = made(chance), chance.random() < 0.5
        titles = one.only(*step.who, buttons=step.kind == "tap")
        if titles and (step.kind == "tap" or is_reply):
            step = replace(step, title=chance.choice(titles))
        done.append(step)
        errors = [await do(each, step) for each in (one, other)]
        assert errors[0] == errors[1], done
        assert one.news() == other.news(), done
        assert await one.records() == await other.records(), done


@pytest.mark.parametrize("seed", FEW)
async def test_a_conversation_is_the_same_on_both(
    seed: int, tmp_path: Path, postgres: "PostgresServer"
) -> None:
    await _compared([seed], tmp_path, postgres)


@pytest.mark.slow
async def test_many_conversations_are_the_same_on_both(tmp_path: Path, postgres: "PostgresServer") -> None:
    await _compared(MANY, tmp_path, postgres)


async def _compared(seeds: Sequence[int], tmp_path: Path, postgres: "PostgresServer") -> None:
    for seed in seeds:
        folder = tmp_path / str(seed)
        (folder / "postgresql").mkdir(parents=True)
        with with_tables(postgres) as url:
            sqlite, postgresql = Database("sqlite", folder / "sqlite"), Database(url, folder / "postgresql")
            async with side(sqlite) as one, side(postgresql) as other:
                await compare(seed, one, other)
