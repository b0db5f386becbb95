"""The webhook keeps the contract: its receiver signs with the standard's own library."""

import base64
import contextlib
import datetime
import json
from collections.abc import AsyncIterator, Mapping
from dataclasses import dataclass, field
from typing import Any

from aiohttp import web
from standardwebhooks import Webhook as Signer

from answerback.model import Json
from answerback.provider import Button, Inbound, Sent
from answerback.testing import ProviderContract
from answerback_providers.webhook import Webhook

SECRET = "whsec_" + base64.b64encode(b"c" * 32).decode()


@dataclass(slots=True)
class Receiver:
    """Somebody's chat program: what it shows, by the message's id."""

    url: str = ""
    shown: dict[str, str] = field(default_factory=dict)
    events: int = 0

    async def take(self, request: web.Request) -> web.Response:
        event = Signer(SECRET).verify(await request.read(), dict(request.headers))
        self.shown[event["data"]["message_id"]] = event["data"]["text"]
        return web.Response()

    def event(self, **data: Any) -> Inbound:
        text, now = json.dumps({"type": "reply", "data": data}), datetime.datetime.now(datetime.UTC)
        self.events += 1
        id = f"evt{self.events}"
        headers = {
            "webhook-id": id,
            "webhook-timestamp": str(int(now.timestamp())),
            "webhook-signature": Signer(SECRET).sign(id, now, text),
        }
        return Inbound(text.encode(), headers=headers)


class TestWebhook(ProviderContract):
    provider_class = Webhook

    @contextlib.asynccontextmanager
    async def far_side(self) -> AsyncIterator[Receiver]:
        there, app = Receiver(), web.Application()
        app.router.add_post("/hook", there.take)
        runner = web.AppRunner(app, access_log=None)
        await runner.setup()
        await web.TCPSite(runner, "127.0.0.1", 0).start()
        there.url = f"http://127.0.0.1:{runner.addresses[0][1]}/hook"
        yield there
        await runner.cleanup()

    def options_for(self, there: Receiver) -> Mapping[str, Json]:
        return {"url": there.url, "secret": SECRET}

    async def reply(self, there: Receiver, sent: Sent, text: str) -> Inbound:
        return there.event(sender=self.place, text=text, reply_to=sent.message_ids[0])

    async def tap(self, there: Receiver, sent: Sent, button: Button) -> Inbound:
        return there.event(sender=self.place, button=button.data, reply_to=sent.message_ids[0])

    async def sees(self, there: Receiver) -> list[str]:
        return list(there.shown.values())
