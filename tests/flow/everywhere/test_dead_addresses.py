"""Each service's own way to say "never": the next address at once, and this one once she writes again."""

import asyncio
from collections.abc import Awaitable, Callable
from dataclasses import dataclass, replace

import pytest

from answerback.outbox import SHOWN
from answerback.settings import Route
from answerback.store import due
from answerback_sandbox import FaultKind
from tests.flow.everywhere.conftest import everywhere
from tests.flow.everywhere.places import ANA, PATIENCE, Places, until
from tests.providers.email.dovecot import Box
from tests.support.databases import Database

pytestmark = [pytest.mark.needs_extra("telegram", "whatsapp", "email"), pytest.mark.either_database]
Deed = Callable[[Places], None]


async def nothing_more(places: Places) -> None:
    """The service says so by itself."""


@dataclass(frozen=True, slots=True)
class Death:
    """How an address on `place` dies, what has to be said `afterwards`, and how it comes to life again."""

    place: str
    dies: Deed
    lives: Deed
    afterwards: Callable[[Places], Awaitable[None]] = nothing_more

    @property
    def other(self) -> str:
        return "email" if self.place == "telegram" else "telegram"


def vanishes(places: Places) -> None:
    places.box.twilio.world.handsets["gone"] = places.box.twilio.world.handsets.pop(ANA)


def returns(places: Places) -> None:
    places.box.twilio.world.handsets[ANA] = replace_address(places)


def replace_address(places: Places):
    return replace(places.box.twilio.world.handsets.pop("gone"), address=ANA)


def blocks(places: Places) -> None:
    places.box.twilio.world.handset(ANA).blocked = True


def unblocks(places: Places) -> None:
    places.box.twilio.world.handset(ANA).blocked = False


def refuses(answer: str) -> Deed:
    return lambda places: places.room.answers.update(RCPT=answer)


def takes_again(places: Places) -> None:
    places.room.answers.clear()


async def comes_back(places: Places) -> None:
    """The mail was taken, and bounces to the address in its envelope."""
    await until(lambda: places.room.mails)
    await places.settled()
    sender = str(places.room.mails[-1].mail_from)
    bounce = f"From: MAILER-DAEMON@x.org\r\nTo: {sender}\r\nSubject: Undelivered\r\n\r\nno such user\r\n"
    await places.mailbox.deliver(bounce.encode(), to=sender, sender="")


DEATHS = {
    "Telegram, blocked (403)": Death(
        "telegram", lambda places: places.box.block(1001), lambda places: places.box.unblock(1001)
    ),
    "WhatsApp, blocked (63024, by callback)": Death("whatsapp", blocks, unblocks),
    "WhatsApp, no such number (21211, at once)": Death("whatsapp", vanishes, returns),
    "mail, no such mailbox (550 5.1.1)": Death("email", refuses("550 5.1.1 no such user"), takes_again),
    "mail, refused without a word why (550)": Death("email", refuses("550 no"), takes_again),
    "mail, came back": Death("email", lambda places: None, takes_again, comes_back),
}


@pytest.mark.parametrize("death", DEATHS.values(), ids=DEATHS)
async def test_a_dead_address_is_left_at_once_and_until_its_owner_writes(
    database: Database, mailbox: Box, death: Death
) -> None:
    route = Route("default", ("ana",), (death.place, death.other))
    async with everywhere(database, mailbox, route) as places:
        death.dies(places)
        await places.ask(wait_for=())
        await death.afterwards(places)
        await until(lambda: places.says(death.other, "Which term?"))
        await places.settled()
        assert await places.dead() == [death.place]
        assert await attempts(places) == {death.place: "failed", death.other: "sent"}
        await places.ask(wait_for=())
        await until(lambda: places.says(death.other, "Which term?") == 2)
        await places.settled()
        assert await attempts(places) == {death.other: "sent"}
        death.lives(places)
        await places.write(death.place)
        async with asyncio.timeout(PATIENCE):
            while await places.dead():  # noqa: ASYNC110
                await asyncio.sleep(0.01)
        await places.ask(wait_for=(death.place,))
        assert list(await attempts(places)) == [death.place]


async def attempts(places: Places) -> dict[str, str]:
    """By provider, what became of the question that was asked last."""
    every = await places.every()
    asked = [row for row in every if row["kind"] == "question" and row["provider"] != "form"]
    return {row["provider"]: "sent" if row["status"] in SHOWN else str(row["status"]) for row in asked}


async def test_a_callback_of_twilio_stops_what_its_lost_answer_would_have_sent_again(
    database: Database,
    mailbox: Box,
) -> None:
    route = Route("default", ("ana",), ("whatsapp", "telegram"))
    async with everywhere(database, mailbox, route) as places:
        places.box.twilio.fail(FaultKind.DROPPED, method="create")
        await places.ask(wait_for=("whatsapp",))
        async with asyncio.timeout(PATIENCE):
            while (await attempts(places)).get("whatsapp") != "sent":  # noqa: ASYNC110
                await asyncio.sleep(0.01)
        await places.settled()
        found = await places.app.context.store.read(lambda tx: tx.one(due.NEXT))
        assert found["delivery"] is None  # nothing waits to be sent, now or in a minute
        assert len(places.notes("Which term?")) == 1 and places.texts() == []
        places.box.twilio.type(ANA, "coding", places.notes("Which term?")[0].sid)
        await places.answered()
        assert (await places.record()).answered_via == "whatsapp"
