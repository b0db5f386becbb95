"""A webhook that answers 410: its address is dead, until something signed comes from there again."""

import base64
import datetime
import json
from collections.abc import AsyncIterator

import pytest
from aiohttp import web
from standardwebhooks import Webhook as Signer

from answerback.model import Address, Contact
from answerback.provider import Allowed, Inbound, Outgoing, ProviderContext
from answerback.settings import Route
from answerback.store import contacts
from answerback.testing import ScriptedAgent, asks
from answerback_providers.webhook import Webhook
from tests.support.databases import Database
from tests.support.gateway import Gateway, gateway

SECRET = "whsec_" + base64.b64encode(b"x" * 32).decode()
ANA = Contact("ana", "Ana", addresses=(Address("hook", "u1", "u1"), Address("memory", "1", "1")))
ROUTES = {"default": Route("default", ask=("ana",), providers=("hook", "memory"))}


class Receiver:
    """Somebody's chat program, which is gone at first."""

    def __init__(self) -> None:
        self.status, self.calls, self.url = 410, 0, ""

    async def take(self, request: web.Request) -> web.Response:
        self.calls += 1
        return web.Response(status=self.status)


@pytest.fixture
async def receiver() -> AsyncIterator[Receiver]:
    there, app = Receiver(), web.Application()
    app.router.add_post("/hook", there.take)
    runner = web.AppRunner(app, access_log=None)
    await runner.setup()
    await web.TCPSite(runner, "127.0.0.1", 0).start()
    host, port = runner.addresses[0][:2]
    there.url = f"http://{host}:{port}/hook"
    yield there
    await runner.cleanup()


def signed(text: str) -> Inbound:
    """A reply of Ana's from there."""
    body = json.dumps({"type": "reply", "data": {"sender": "u1", "text": text}})
    at = datetime.datetime.now(datetime.UTC)
    headers = {
        "webhook-id": f"msg_{text}",
        "webhook-timestamp": str(int(at.timestamp())),
        "webhook-signature": Signer(SECRET).sign(f"msg_{text}", at, body),
    }
    return Inbound(body.encode(), headers=headers)


async def is_reachable(g: Gateway) -> bool:
    person = await g.app.context.store.read(lambda tx: contacts.contact(tx, "ana"))
    return all(address.reachable for address in person.addresses)


async def test_a_receiver_that_is_gone_is_left_at_once_and_until_it_says_something(
    database: Database, receiver: Receiver
) -> None:
    http = Outgoing(Allowed(("127.0.0.1",)))
    options = Webhook.Settings.model_validate({"url": receiver.url, "secret": SECRET})
    hook = Webhook("hook", options, ProviderContext(http=http))
    agent, people = ScriptedAgent(asks("Which?")), {"ana": ANA}
    async with gateway(database, agent, providers={"hook": hook}, contacts=people, routes=ROUTES) as g:
        await g.run()
        await g.run()
        assert g.memory.titles("1") == ["Which?", "Which?"]
        assert receiver.calls == 1 and not await is_reachable(g)
        receiver.status = 200
        await g.receive(signed("hello"), "hook")
        assert await is_reachable(g)
        await g.run()
        assert g.memory.titles("1") == ["Which?", "Which?"]
    await http.close()
