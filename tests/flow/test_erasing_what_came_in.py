"""What says something of who is erased goes; what only looks like it, or is somebody else's, stays.

The bodies are those that Telegram, Twilio and mail servers send.
"""

import json
import zlib
from collections.abc import Callable
from functools import partial
from urllib.parse import urlencode

import pytest

from answerback.ask import AskRequest
from answerback.model import Address, Contact
from answerback.provider import Inbound
from answerback.settings import Route
from answerback.store import contacts
from answerback.testing import asks
from tests.flow.test_erasing import everything
from tests.flow.test_erasing_a_person import erased, raws
from tests.flow.test_erasing_what_names_nobody import As, email, telegram, whatsapp
from tests.support.databases import Database
from tests.support.gateway import Gateway, gateway

ACCOUNT, SENDER = "AC" + "0" * 32, "+15550001111"
REAL = {"telegram": telegram, "whatsapp": whatsapp, "email": email}
HERS = {"telegram": "660700123", "whatsapp": "+43660700123", "email": "carol@x.org"}
ALIKE = {
    "telegram": ("6607001234", "1660700123", "-660700123"),
    "whatsapp": ("+436607001234",),
    "email": ("hi.carol@x.org", "hi-carol@x.org", "carol@x.org.uk", "carol@x.organic"),
}
Made = Callable[[str], bytes]


def number(id: str) -> int:
    """One of its own for each account."""
    return zlib.crc32(id.encode())


def update(id: str, **fields: object) -> bytes:
    return json.dumps({"update_id": number(id), **fields}).encode()


def reaction(id: str) -> bytes:
    who = {"id": int(id), "is_bot": False, "first_name": "Somebody"}
    liked = [{"type": "emoji", "emoji": "👍"}]
    said = {"chat": {"id": int(id), "type": "private"}, "message_id": 9, "user": who, "date": 1}
    return update(id, message_reaction=said | {"old_reaction": [], "new_reaction": liked})


def moving(id: str) -> bytes:
    """A live location that goes on: an edited message without a text."""
    who = {"id": int(id), "is_bot": False, "first_name": "Somebody"}
    message = {"message_id": 9, "date": 1, "edit_date": 2, "location": {"latitude": 1.5, "longitude": 2.5}}
    return update(id, edited_message=message | {"from": who, "chat": {"id": int(id), "type": "private"}})


def let_in(id: str) -> bytes:
    """Somebody made the bot a member of a group."""
    bot = {"id": 7_000_000_001, "is_bot": True, "first_name": "Agent"}
    who = {"id": int(id), "is_bot": False, "first_name": "Somebody"}
    states = {name: {"user": bot, "status": said} for name, said in (("old", "left"), ("new", "member"))}
    news = {f"{name}_chat_member": state for name, state in states.items()}
    group = {"id": -100_555, "type": "group", "title": "Wombats"}
    return update(id, my_chat_member={"chat": group, "from": who, "date": 1} | news)


def status(id: str, said: str = "delivered") -> bytes:
    """Of a message that nobody here knows."""
    fields = {"MessageSid": f"SM{number(id)}", "AccountSid": ACCOUNT, "MessageStatus": said}
    return urlencode(fields | {"To": f"whatsapp:{id}", "From": f"whatsapp:{SENDER}"}).encode()


def elsewhere(id: str) -> bytes:
    """A message to another number of the account."""
    fields = {"MessageSid": f"SM{number(id)}", "AccountSid": ACCOUNT, "SmsStatus": "received", "Body": "hi"}
    return urlencode(fields | {"From": f"whatsapp:{id}", "To": "whatsapp:+15559998888"}).encode()


def mail(*lines: str, body: str = "I am away.") -> bytes:
    return "\r\n".join([*lines, "Subject: Away", "Message-ID: <a@b>", "", body, ""]).encode()


def absent(id: str) -> bytes:
    return mail(f"From: Somebody <{id.title()}>", "To: agent@example.org", "Auto-Submitted: auto-replied")


def listed(id: str) -> bytes:
    return mail(f"From: Somebody <{id}>", "To: agent@example.org", "List-Id: <all.x.org>")


def came_back(id: str) -> bytes:
    """A bounce of a mail that nobody here knows."""
    kind = 'Content-Type: multipart/report; report-type=delivery-status; boundary="b"'
    report = (
        f"Reporting-MTA: dns; x\r\n\r\nFinal-Recipient: rfc822; {id}\r\nAction: failed\r\nStatus: 5.1.1\r\n"
    )
    parts = f"--b\r\nContent-Type: message/delivery-status\r\n\r\n{report}\r\n--b--"
    to = f"To: agent+bounce-00unknown{number(id)}@example.org"
    return mail("From: MAILER-DAEMON@x.test", to, "Return-Path: <>", kind, body=parts)


def each(provider: str, *made: Made) -> list[object]:
    marks = pytest.mark.needs_extra(provider)
    return [pytest.param(provider, one, marks=marks, id=one.__name__) for one in made]


CAME_IN = [
    *each("telegram", reaction, moving, let_in),
    *each("whatsapp", status, elsewhere),
    *each("email", absent, listed, came_back),
]


def reading(database: Database, provider: str):
    """A gateway that reads as the real provider does, and asks there."""
    route = Route("default", ask=("alice",), providers=(provider,))
    phone = As(REAL[provider]())
    return gateway(database, providers={provider: phone}, routes={"default": route})


async def asked_at(g: Gateway, provider: str, account: str, who: str = "carol") -> None:
    """Somebody is a contact with this account, and was asked what nobody waits for any more."""
    person = Contact(who, who.title(), addresses=(Address(provider, account, account),))
    await g.app.context.store.write(partial(contacts.put, contact=person, source="api"))
    found = await g.app.asker.ask(AskRequest((asks("Where?"),), ask=(who,)))
    await g.app.idle()
    await g.app.asker.cancel(found.interaction.id)
    await g.app.idle()


async def comes(g: Gateway, provider: str, body: bytes) -> None:
    await g.app.receiver.handed(provider, Inbound(body))
    await g.app.idle()


@pytest.mark.parametrize(("provider", "made"), CAME_IN)
async def test_what_names_her_goes_and_what_names_somebody_with_an_account_like_hers_stays(
    database: Database, provider: str, made: Made
) -> None:
    async with reading(database, provider) as g:
        await asked_at(g, provider, HERS[provider])
        hers, others = made(HERS[provider]), [made(id) for id in ALIKE[provider]]
        for body in (hers, *others):
            await comes(g, provider, body)
        assert await raws(g) == [hers, *others]
        await erased(g)
        assert await raws(g) == [b"", *others]
        await comes(g, provider, hers)
        assert await raws(g) == [b"", *others]


@pytest.mark.needs_extra("telegram")
async def test_what_names_her_account_since_it_is_somebody_elses_stays(database: Database) -> None:
    account = HERS["telegram"]
    async with reading(database, "telegram") as g:
        await asked_at(g, "telegram", account)
        before, since = reaction(account), moving(account).replace(b'"update_id": ', b'"update_id": 9')
        await comes(g, "telegram", before)
        await g.app.remover.contact("carol")
        g.clock.advance(60)
        await asked_at(g, "telegram", account, "dave")
        g.clock.advance(60)
        await comes(g, "telegram", since)
        await erased(g)
        assert await raws(g) == [b"", since]


@pytest.mark.needs_extra("whatsapp")
async def test_a_receipt_that_waits_for_a_message_goes_though_its_ids_name_nobody(database: Database) -> None:
    """Twilio's ids name nobody: that it was hers stands only in what came in."""
    async with reading(database, "whatsapp") as g:
        await asked_at(g, "whatsapp", HERS["whatsapp"])
        both = HERS["whatsapp"], *ALIKE["whatsapp"]
        for id in both:
            await comes(g, "whatsapp", status(id))
        await erased(g)
        await comes(g, "whatsapp", status(HERS["whatsapp"], "failed"))  # the same message once more
        waiting = [str(row) for row in (await everything(g))["message"]]
        hers, other = ([each for each in waiting if f"SM{number(id)}" in each] for id in both)
        assert (hers, len(other)) == ([], 1)
        assert await raws(g) == [b"", status(both[1]), b""]
