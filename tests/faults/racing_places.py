"""Two people who were both asked on Telegram, on WhatsApp and by mail, and answer at all of these at once."""

import abc
import asyncio
import itertools
from collections.abc import Awaitable, Callable
from typing import Any

from sqlalchemy import bindparam, or_, select

from answerback.model import Interaction, InteractionStatus
from answerback.outbox import SHOWN
from answerback.store.codec import loads
from answerback.store.query import Query
from answerback.tables import DeliveryRow
from answerback_providers.email.addresses import mailbox
from answerback_providers.email.reading import read
from answerback_sandbox import FaultKind, Sandbox
from answerback_sandbox.mail.letters import letter
from answerback_sandbox.mail.making import written
from answerback_sandbox.mail.quoting import Answered, compose
from answerback_sandbox.mail.state import Letter, Style
from answerback_sandbox.twilio.state import Note, Status
from tests.faults.phone import outcomes, rows
from tests.faults.racing import Phones
from tests.providers.email.handing import mail_server_at
from tests.providers.email.replies import OURS
from tests.support.gateway import Gateway

PATIENCE = 30.0  # seconds until a race gives up; nothing waits that long
HANDED_AT_ONCE = 16  # mails that the mail server hands over side by side: we listen to 20 connections
D = DeliveryRow.__table__.c  # type: ignore[attr-defined]
SENT = Query(  # all that was sent because of a question, or of how its run ended
    select(DeliveryRow.__table__)  # type: ignore[attr-defined]
    .where(or_(D.interaction_id == bindparam("interaction_id"), D.run_id == bindparam("run_id")))
    .order_by(D.id)
)
CLOSED = {
    InteractionStatus.EXPIRED: "without an answer",
    InteractionStatus.CANCELLED: "no longer needs this",
}


class Uneditable(abc.ABC):
    """A place where what was sent stays as it is: who was asked is told how it ended by a new message."""

    provider = ""

    def __init__(self, g: Gateway, people: tuple[str, ...]) -> None:
        self._g, self.people = g, people
        self._asked: dict[str, str] = {}  # who → the id of the message that asks
        self._before: dict[str, int] = {}  # who → how many messages were there before it
        self._code = ""

    async def find(self, record: Interaction) -> str:
        asked = [row for row in await self._rows(record) if row["kind"] == "question"]
        self._asked = {row["external_id"]: _first_id(row) for row in asked}
        self._before = {who: self._count(who) - 1 for who in self.people}
        self._code = record.code
        assert set(self._asked) == set(self.people)
        return self._g.app.context.tokens.of(asked[0]["id"])

    async def check(self, record: Interaction, sentences: int) -> None:
        """Of each row one message arrived, and nothing else did: how the run ended is said once too."""
        found = await self._rows(record)
        kinds = [row["kind"] for row in found]
        assert {row["status"] for row in found} <= SHOWN
        assert (kinds.count("question"), kinds.count("conversation")) == (len(self.people), sentences)
        outcomes_of = {row["external_id"]: _first_id(row) for row in found if row["kind"] == "outcome"}
        assert kinds.count("outcome") == len(outcomes_of) == len(self.people)
        assert kinds.count("notice") in (0, len(self.people))
        for who in self.people:
            texts = self._texts(who, self._before[who])
            mine = [_first_id(row) for row in found if row["external_id"] == who]
            assert sorted(id for id, _ in texts) == sorted(mine)
            assert _ended(record) in dict(texts)[outcomes_of[who]]

    async def _rows(self, record: Interaction) -> list[Any]:
        found = await rows(self._g, SENT, interaction_id=record.id, run_id=record.run_id)
        return [row for row in found if row["provider"] == self.provider]

    @abc.abstractmethod
    def _count(self, who: str) -> int:
        """How many messages arrived at somebody."""

    @abc.abstractmethod
    def _texts(self, who: str, start: int) -> list[tuple[str, str]]:
        """Ids and texts of those from `start` on, oldest first."""


class OnWhatsApp(Uneditable):
    """The sandbox's Twilio, which posts several webhooks at once, and any of them twice."""

    provider = "whatsapp"

    def __init__(self, g: Gateway, box: Sandbox, people: tuple[str, ...]) -> None:
        super().__init__(g, people)
        self._box, self._written = box, list[Note]()

    def answer(self, way: str, who: str, value: str, *, twice: bool) -> Callable[[], Awaitable[str]]:
        async def give() -> str:
            twilio = self._box.twilio
            if twice:
                twilio.fail(FaultKind.DUPLICATE)
            if way == "tap":
                twilio.tap(who, self._asked[who], value.capitalize())
            elif way == "reply":
                twilio.type(who, value, self._asked[who])
            else:
                twilio.type(who, f"{value} #{self._code}")
            self._written.append(twilio.messages(who)[-1])
            return self._written[-1].sid

        return give

    async def arrived(self) -> None:
        twilio = self._box.twilio

        def taken() -> bool:
            return all(twilio.courier.status_of(note) is Status.DELIVERED for note in self._written)

        await self._box.wait_for(lambda: taken() and not twilio.mail, PATIENCE)
        self._written.clear()

    def _count(self, who: str) -> int:
        return len(self._box.twilio.received(who))

    def _texts(self, who: str, start: int) -> list[tuple[str, str]]:
        return [(note.sid, note.body) for note in self._box.twilio.received(who)[start:]]


class ByMail(Uneditable):
    """A mail server that hands over, side by side, what Gmail, Outlook and Apple Mail make of a reply."""

    provider = "email"
    _numbers = itertools.count(1)

    def __init__(self, g: Gateway, box: Sandbox, lmtp: str, people: tuple[str, ...]) -> None:
        super().__init__(g, people)
        self._box, self._lmtp = box, lmtp
        self._turns = asyncio.Semaphore(HANDED_AT_ONCE)

    def answer(self, way: str, who: str, value: str, *, twice: bool) -> Callable[[], Awaitable[str]]:
        """A mail has no buttons to tap: whoever would, writes what stands on one."""

        async def give() -> str:
            mail, to = self._mail(way, who, value)
            for _ in range(2 if twice else 1):
                async with self._turns, mail_server_at(self._lmtp) as server:
                    assert await server.hands_over(mail, to, sender=who) == ["250 2.0.0 Ok"]
            return read(mail, mailbox(self._box.mail.address), OURS).event_id

        return give

    def _mail(self, way: str, who: str, value: str) -> tuple[bytes, str]:
        """What is handed over, and for whom; no two mails are the same."""
        (asked, *_), number = self._letters(who, self._before[who]), next(self._numbers)
        replies = way != "code"
        to = asked.reply_to if replies else self._box.mail.address
        style = list(Style)[number % len(Style)]
        text = value.capitalize() if way == "tap" else value if replies else f"{value} #{self._code}"
        mail = compose(Answered(asked, who.partition("@")[0], who, to), text, style, self._g.clock())
        subject = f"{mail['Subject']} ({number})" if replies else f"A new mail ({number})"
        mail.replace_header("Subject", subject)
        if not replies:
            del mail["In-Reply-To"], mail["References"]
        vouched = f"Authentication-Results: {OURS}; dmarc=pass header.from={who.rpartition('@')[2]}\r\n"
        return vouched.encode() + written(mail), to

    async def arrived(self) -> None:
        """They were taken in before the mail server heard so."""

    def _count(self, who: str) -> int:
        return len(self._box.mail.world.box(who).inbox)

    def _texts(self, who: str, start: int) -> list[tuple[str, str]]:
        return [(mail.message_id, mail.text) for mail in self._letters(who, start)]

    def _letters(self, who: str, start: int) -> list[Letter]:
        """To read all of a mailbox again in each race would take longer than the races."""
        return [letter(kept) for kept in self._box.mail.world.box(who).inbox[start:]]


class Everywhere:
    """All places at once; `people` are named by their place too."""

    def __init__(self, g: Gateway, places: dict[str, Phones]) -> None:
        self._g, self._places = g, places
        self.people = tuple(f"{name} {who}" for name, place in places.items() for who in place.people)
        self._events: dict[str, list[str]] = {}  # place → what was said there

    async def find(self, record: Interaction) -> str:
        self._events = {name: [] for name in self._places}
        return [await place.find(record) for place in self._places.values()][-1]

    def answer(self, way: str, who: str, value: str, *, twice: bool) -> Callable[[], Awaitable[str]]:
        name, _, person = who.partition(" ")
        give = self._places[name].answer(way, person, value, twice=twice)

        async def noted() -> str:
            event = await give()
            self._events[name].append(event)
            return event

        return noted

    async def arrived(self) -> None:
        for place in self._places.values():
            await place.arrived()

    async def check(self, record: Interaction, sentences: int) -> None:
        became = await outcomes(self._g)
        late = {
            name: sum(became[event] != "accepted" for event in said) for name, said in self._events.items()
        }
        assert sum(late.values()) == sentences
        for name, place in self._places.items():
            await place.check(record, late[name])


def _first_id(row: Any) -> str:
    return str(loads(row["message_ids"])[0])


def _ended(record: Interaction) -> str:
    """Words that everybody who was asked must read."""
    if record.answer is None or record.status in CLOSED:
        return CLOSED[record.status]
    value = str(record.answer.values["q1"])
    labels = {choice.id: choice.label for choice in record.questions[0].choices}
    return f"“{labels.get(value, value)}”"
