"""One gateway and four ways to one person, each with the real thing or the sandbox at its far end."""

import contextlib
import socket
from collections.abc import AsyncIterator

import pytest

from answerback import app as composition
from answerback.model import Address, Contact
from answerback.settings import Plugin, Route, Settings
from answerback_sandbox import Sandbox
from tests.flow.everywhere.places import ANA, Places
from tests.providers.email.dovecot import PASSWORD, Box
from tests.providers.email.replies import OURS
from tests.providers.email.support import mail_server
from tests.support.databases import Database
from tests.support.serving import served

ROUTE = Route("default", ("ana",), ("telegram", "whatsapp", "email"), at_once=True)


def settings(
    database: Database, box: Sandbox, smtp: int, read: Box, public_url: str, route: Route
) -> Settings:
    far = box.twilio
    host = {"host": "127.0.0.1", "security": "plain"}
    mailbox = {**host, "port": str(read.server.imap), "username": read.user, "password": PASSWORD}
    addresses = (
        Address("telegram", "1001", "1001"),
        Address("whatsapp", ANA, ANA),
        Address("email", "ana@x.org", "ana@x.org"),
    )
    options = {
        "telegram": {"token": box.token, "api_base": box.url},
        "whatsapp": {
            "account_sid": far.account_sid, "auth_token": far.auth_token, "sender": far.sender,
            "content_sid": far.content_sid, "api_base": box.url,
        },
        "email": {
            "address": "agent@example.org", "smtp": {**host, "port": str(smtp)}, "imap": mailbox,
            "authserv_id": OURS,
        },
    }  # fmt: skip
    return Settings(
        data_dir=str(database.data_dir / "var"),
        database=database.url,
        public_url=public_url,
        providers={name: Plugin(name, name, given) for name, given in options.items()},
        contacts={"ana": Contact("ana", "Ana", addresses=addresses)},
        routes={"default": route},
    )


@contextlib.asynccontextmanager
async def everywhere(database: Database, mailbox: Box, route: Route = ROUTE) -> AsyncIterator[Places]:
    """Telegram polled, Twilio by webhook, a real SMTP server and mailbox, the form on a socket."""
    async with contextlib.AsyncExitStack() as stack:
        box = await stack.enter_async_context(Sandbox.start())
        room = await stack.enter_async_context(mail_server())
        listener = stack.enter_context(socket.create_server(("127.0.0.1", 0)))
        public_url = f"http://127.0.0.1:{listener.getsockname()[1]}"
        box.twilio.add_person(ANA, "Ana")
        box.twilio.webhook(f"{public_url}/in/whatsapp")
        app = composition.build(settings(database, box, room.port, mailbox, public_url, route), agents={})
        assert app.problems == []
        await stack.enter_async_context(served(app, listener))
        await app.start()
        try:
            yield Places(app, box, room, mailbox)
        finally:
            await app.stop()


@pytest.fixture
async def places(database: Database, mailbox: Box) -> AsyncIterator[Places]:
    """Ana wrote on WhatsApp a moment ago, so that it takes more than a template from us."""
    async with everywhere(database, mailbox) as found:
        await found.open_whatsapp()
        yield found
