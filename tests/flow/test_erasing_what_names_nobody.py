"""What came in from a real service and was for nobody, but names somebody who is erased."""

import asyncio
import json
from functools import partial
from urllib.parse import urlencode

import pytest

from answerback.ask import AskRequest
from answerback.model import Address, Contact
from answerback.provider import Inbound, Provider, ProviderContext
from answerback.settings import Route
from answerback.store import contacts
from answerback.testing import MemoryProvider, asks
from tests.flow.test_erasing import everything
from tests.flow.test_erasing_a_person import (
    ALONE,
    CAROL,
    PHONE,
    Dies,
    Phones,
    arrives,
    asked,
    erased,
    hers,
    raws,
    receipt,
)
from tests.support.databases import Database
from tests.support.gateway import Gateway, gateway

BOT = "7000000001:sandbox-of-answerback-not-a-secret0"


class As(MemoryProvider):
    """Sends to memory, and reads as a real provider does."""

    def __init__(self, real: Provider) -> None:
        super().__init__(real.name)
        self.parse = real.parse  # type: ignore[method-assign]


def telegram() -> Provider:
    from answerback_providers.telegram import Telegram

    return Telegram("telegram", Telegram.Settings.model_validate({"token": BOT}), ProviderContext())


def whatsapp() -> Provider:
    from answerback_providers.whatsapp import WhatsApp

    given = {"account_sid": "AC" + "0" * 32, "auth_token": "x" * 32, "sender": "+15550001111"}
    options = WhatsApp.Settings.model_validate(given | {"content_sid": "HX" + "0" * 32})
    return WhatsApp("whatsapp", options, ProviderContext(public_url="https://ask.example.org"))


def email() -> Provider:
    from answerback_providers.email import Email

    given = {"address": "agent@example.org", "smtp": {"host": "localhost", "security": "plain"}}
    return Email("email", Email.Settings.model_validate(given), ProviderContext())


def reaction(person: str) -> bytes:
    """https://core.telegram.org/bots/api#messagereactionupdated"""
    who = {"id": int(person), "is_bot": False, "first_name": "Somebody"}
    said = {"chat": {"id": int(person), "type": "private"}, "message_id": 1, "user": who, "date": 1}
    said |= {"old_reaction": [], "new_reaction": [{"type": "emoji", "emoji": "👍"}]}
    return json.dumps({"update_id": 7, "message_reaction": said}).encode()


def status(person: str) -> bytes:
    """Of a message that another program has sent with the same number; Twilio's form, percent-encoded."""
    fields = {"MessageSid": f"SM{person[::-1]}", "MessageStatus": "read", "AccountSid": "AC" + "0" * 32}
    return urlencode(fields | {"To": f"whatsapp:{person}", "From": "whatsapp:+15550001111"}).encode()


def away(person: str) -> bytes:
    """An automatic reply: RFC 3834, section 5."""
    lines = [
        f"From: Somebody <{person.upper()}>",
        "To: agent@example.org",
        "Subject: Away",
        "Message-ID: <a@b>",
    ]
    return "\r\n".join([*lines, "Auto-Submitted: auto-replied", "", "I am on leave.", ""]).encode()


REAL = [
    pytest.param(telegram, reaction, "880077001", "880077002", marks=pytest.mark.needs_extra("telegram")),
    pytest.param(whatsapp, status, "+43660700701", "+43660700702", marks=pytest.mark.needs_extra("whatsapp")),
    pytest.param(email, away, "carol@example.org", "ben@example.org", marks=pytest.mark.needs_extra("email")),
]


async def kept(g: Gateway) -> list[bytes]:
    return [raw for raw in await raws(g) if raw]


@pytest.mark.parametrize(("real", "made", "her", "his"), REAL)
async def test_what_nobody_was_found_for_goes_if_it_names_her(
    database: Database, real, made, her: str, his: str
) -> None:
    provider = As(real())
    route = Route("default", ask=("carol", "ben"), providers=(provider.name,))
    async with gateway(database, providers={provider.name: provider}, routes={"default": route}) as g:
        for id, account in (("carol", her), ("ben", his)):
            person = Contact(id, id.title(), addresses=(Address(provider.name, account, account),))
            await g.app.context.store.write(partial(contacts.put, contact=person, source="api"))
        await g.app.asker.cancel((await g.app.asker.ask(AskRequest((asks("Where?"),)))).interaction.id)
        for account in (her, his):
            await g.app.receiver.handed(provider.name, Inbound(made(account)))
        assert len(await kept(g)) == 2
        await erased(g)
        assert await kept(g) == [made(his)]
        tables = await everything(g)
        assert not any(her in str(row) for rows in tables.values() for row in rows)


async def test_a_receipt_that_waits_for_a_message_nobody_knows_goes_if_it_names_her(
    database: Database,
) -> None:
    async with gateway(database, providers={"memory": Phones()}) as g:
        await arrives(g)
        await g.app.asker.cancel(
            (await g.app.asker.ask(AskRequest((asks("Where?"),), ask=("carol",)))).interaction.id
        )
        await g.receive(receipt("r1", f"{PHONE}/99", "read"))
        his = receipt("r2", "2002/99", "read", to="2002")
        await g.receive(his)
        await erased(g)
        assert await hers(g) == set()
        ids = [row["message_id"] for row in (await everything(g))["message"]]
        assert "2002/99" in ids and await kept(g) == [his.body]


@pytest.mark.parametrize("nth", range(8))
async def test_what_a_sender_that_was_stopped_writes_down_afterwards_names_nobody(
    database: Database, nth: int
) -> None:
    """Its claim has lapsed, and it goes on within the erasure or behind it; its message has a hash."""
    phones = Phones()
    phones.hang = asyncio.Event()
    faults = Dies("erase.after-batch", nth)
    async with gateway(database, providers={"memory": phones}, faults=faults) as g:
        await arrives(g)
        question = await g.app.asker.ask(AskRequest((asks("Where?"),), ask=("carol",)))
        async with asyncio.timeout(10):
            while not phones.held_up:  # noqa: ASYNC110
                await asyncio.sleep(0.001)
        await g.app.asker.cancel(question.interaction.id)
        await g.app.remover.contact("carol")
        g.clock.advance(61)
        if nth:
            with pytest.raises(RuntimeError, match="killed here"):
                await g.app.erasure.contact("carol", "ops")
        else:
            assert (await g.app.erasure.contact("carol", "ops")).done
        phones.hang.set()
        await g.app.idle()
        assert len(phones.shown) == 1
        assert (await g.app.erasure.contact("carol", "ops")).done
        assert await hers(g) == set()
        await g.receive(receipt("r1", f"{PHONE}/1", "read"))
        assert await hers(g) == set()
        assert CAROL.id in {row["contact_id"] for row in (await everything(g))["delivery"]}


async def test_what_is_large_is_read_beside_everything_else(database: Database) -> None:
    class Slow(Phones):
        """Reads what is large until something else has happened."""

        def parse(self, inbound: Inbound):
            if len(inbound.body) > 100_000 and erasing.is_set():
                asyncio.run_coroutine_threadsafe(asyncio.sleep(0), loop).result(5)
                in_time.append(True)
            return super().parse(inbound)

    in_time: list[bool] = []
    erasing, loop = asyncio.Event(), asyncio.get_running_loop()
    async with gateway(database, providers={"memory": Slow()}, routes=ALONE) as g:
        await arrives(g)
        await asked(g)
        await g.types(PHONE, "numbat " * 30_000)
        erasing.set()
        await erased(g)
        assert in_time and await hers(g) == set()
