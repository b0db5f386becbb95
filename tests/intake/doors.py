"""Every way in over HTTP, one row each: how a request proves where it comes from, and what a good one is.

A new provider joins with one `Door` in `DOORS`.
"""

import base64
import datetime
import hashlib
import hmac
import json
import re
from collections.abc import AsyncIterator, Awaitable, Callable
from contextlib import asynccontextmanager
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any
from urllib.parse import urlencode

import httpx
from pydantic import SecretStr
from standardwebhooks import Webhook as Signer

from answerback import app as composition
from answerback.app import App
from answerback.ask import AskRequest
from answerback.cli.site import site
from answerback.metrics import Metric
from answerback.model import Address, Contact, InteractionStatus, Question
from answerback.provider import Inbound, Provider, ProviderContext, Receipt, Reply
from answerback.registry import build_provider
from answerback.settings import ApiKey, Plugin, Route, Settings
from answerback.testing import MemoryProvider

PUBLIC = "https://ask.example.org"
KEY = "an-api-key-of-this-test"
PHONE = "+436601234567"
TEXT = "the combination is 7-21-9"  # what a person wrote: in no log
BOT = "7000000001:not-a-real-token-of-a-telegram-bot0"
TELEGRAM_SECRET = "a-secret-of-the-telegram-webhook"
ACCOUNT, TWILIO_SECRET, SENDER = "AC" + "5a" * 16, "an-auth-token-of-twilio", "+15550001111"
HOOK_SECRET = "whsec_" + base64.b64encode(b"k" * 32).decode()
FORM = "application/x-www-form-urlencoded"
JSON = "application/json"
OPTIONS: dict[str, dict[str, Any]] = {
    "telegram": {"token": BOT, "mode": "webhook", "webhook_secret": TELEGRAM_SECRET},
    "whatsapp": {"account_sid": ACCOUNT, "auth_token": TWILIO_SECRET, "sender": SENDER},
    "webhook": {"url": "https://chat.example.org/hook", "secret": HOOK_SECRET},
}
WHO = {"telegram": "1001", "whatsapp": PHONE, "webhook": "u1"}
SECRETS = (KEY, PHONE, TEXT, BOT, TELEGRAM_SECRET, TWILIO_SECRET, HOOK_SECRET)


class Mouthless(MemoryProvider):
    """The whole intake of a real provider; what it would send stays in memory."""

    def __init__(self, real: Provider) -> None:
        super().__init__(real.name)
        self.real = real

    async def screen(self, inbound: Inbound) -> None:
        await self.real.screen(inbound)

    async def verify(self, inbound: Inbound) -> None:
        await self.real.verify(inbound)

    def parse(self, inbound: Inbound) -> list[Reply | Receipt]:
        return self.real.parse(inbound)


@dataclass(slots=True)
class World:
    """A gateway with all providers that Ana was asked through, and a client that calls it."""

    app: App
    client: httpx.AsyncClient
    providers: dict[str, Mouthless]
    interaction: str = ""
    form: str = field(default="", repr=False)  # the path of the form's link

    async def ask(self) -> None:
        """One open question."""
        asked = await self.app.asker.ask(AskRequest((Question("q1", "Which?"),)))
        await self.app.idle()
        self.interaction = asked.interaction.id
        self.form = asked.form_url.removeprefix(PUBLIC)

    async def status(self) -> InteractionStatus:
        return (await self.app.reader.interaction(self.interaction)).status

    def counted(self) -> int:
        """What was refused, and what was stored without being an answer."""
        metrics = self.app.context.metrics
        usual = sum(metrics.of(Metric.EVENTS, name, "accepted") for name in OPTIONS)
        return metrics.of(Metric.REFUSED) + metrics.of(Metric.EVENTS) - usual

    async def post(self, door: "Door", body: bytes, headers: dict[str, str], more: str = "") -> int:
        """The status of the answer, when all that follows is done."""
        path = door.path(self)
        given = {"content-type": door.content_type, **headers}
        raw = {name.encode(): value.encode() for name, value in given.items()}
        answer = await self.client.post(path + more, content=body, headers=raw)
        await self.app.idle()
        await self.app.context.store.settled()
        return answer.status_code

    async def send(self, door: "Door", body: bytes, more: str = "") -> int:
        """A body with everything that proves where it comes from."""
        return await self.post(door, body, await door.prove(self, body, more), more)

    async def good(self, door: "Door", number: int) -> int:
        return await self.send(door, await door.good(self, number))


Headers = dict[str, str]


async def _as_it_is(world: World, body: bytes) -> bytes:
    return body


@dataclass(frozen=True, slots=True)
class Door:
    """`intake`: its name in the metrics. `good`: the body of event `number`. `took`: whether it counted.

    `unproved`: by name, the headers of somebody who cannot prove where it comes from. `again`: the status
    of the same request sent twice. `wrap`: where a part of the proof stands in the body, a body with it.
    """

    intake: str
    path: Callable[[World], str]
    content_type: str
    prove: Callable[[World, bytes, str], Awaitable[Headers]]
    good: Callable[[World, int], Awaitable[bytes]]
    took: Callable[[World], Awaitable[bool]]
    unproved: dict[str, Callable[[World, bytes], Headers]]
    again: int = 200
    wrap: Callable[[World, bytes], Awaitable[bytes]] = _as_it_is


async def answered(world: World) -> bool:
    return await world.status() is InteractionStatus.COMPLETED


# -- Telegram


def update(number: int, **message: Any) -> dict[str, Any]:
    """A text of Ana's as the Bot API has it."""
    person = {"id": 1001, "is_bot": False, "first_name": "Ana"}
    known = {"message_id": number, "from": person, "chat": {"id": 1001, "type": "private"}, "text": TEXT}
    return {"update_id": number, "message": {**known, **message}}


async def of_telegram(world: World, body: bytes, more: str) -> Headers:
    return {"x-telegram-bot-api-secret-token": TELEGRAM_SECRET}


async def telegram_text(world: World, number: int) -> bytes:
    return json.dumps(update(number)).encode()


# -- Twilio


def signature(url: str, body: bytes, secret: str = TWILIO_SECRET) -> str:
    """https://www.twilio.com/docs/usage/security#validating-requests"""
    pairs = httpx.QueryParams(body.decode("utf-8", "replace")).multi_items()
    text = url + "".join(name + value for name, value in sorted(pairs))
    return base64.b64encode(hmac.new(secret.encode(), text.encode(), hashlib.sha1).digest()).decode()


async def of_twilio(world: World, body: bytes, more: str) -> Headers:
    return {"x-twilio-signature": signature(f"{PUBLIC}/in/whatsapp{more}", body)}


async def whatsapp_text(world: World, number: int) -> bytes:
    ends = {"From": f"whatsapp:{PHONE}", "To": f"whatsapp:{SENDER}"}
    found = {"MessageSid": f"SM{number}", "AccountSid": ACCOUNT, **ends, "Body": TEXT, "NumMedia": "0"}
    return urlencode(found).encode()


async def whatsapp_status(world: World, number: int) -> bytes:
    ends = {"From": f"whatsapp:{SENDER}", "To": f"whatsapp:{PHONE}"}
    found = {"MessageSid": f"m{number}", "AccountSid": ACCOUNT, **ends, "MessageStatus": "delivered"}
    return urlencode(found).encode()


async def received(world: World) -> bool:
    return world.app.context.metrics.of(Metric.EVENTS, "whatsapp", "receipt") > 0


# -- the signed webhook


def standard(body: bytes, *, id: str = "", age: float = 0, secret: str = HOOK_SECRET) -> Headers:
    """https://github.com/standard-webhooks/standard-webhooks/blob/main/spec/standard-webhooks.md"""
    at = datetime.datetime.now(datetime.UTC) - datetime.timedelta(seconds=age)
    id = id or "msg_" + hashlib.sha256(body).hexdigest()[:16]
    text = body.decode("utf-8", "surrogateescape")
    try:
        signed = Signer(secret).sign(id, at, text)
    except UnicodeEncodeError:  # nobody can sign this with the library: neither can we
        signed = "v1,none"
    return {"webhook-id": id, "webhook-timestamp": str(int(at.timestamp())), "webhook-signature": signed}


async def of_the_hook(world: World, body: bytes, more: str) -> Headers:
    return standard(body)


async def hook_text(world: World, number: int) -> bytes:
    data = {"sender": "u1", "text": TEXT, "name": f"Ana {number}"}
    return json.dumps({"type": "reply", "data": data}).encode()


# -- the form, and the API


async def of_the_page(world: World, body: bytes, more: str) -> Headers:
    return {"origin": "null", "sec-fetch-site": "same-origin"}


async def form_text(world: World, number: int) -> bytes:
    page = await world.client.get(world.form)  # the client keeps its cookie
    found = re.search(r'name="proof" value="([0-9a-f]{64})"', page.text)
    return urlencode({"proof": found[1] if found else "", "q0": TEXT}).encode()


async def on_the_page(world: World, body: bytes) -> bytes:
    return (await form_text(world, 0)).partition(b"&")[0] + b"&" + body


async def of_a_key(world: World, body: bytes, more: str) -> Headers:
    return {"authorization": f"Bearer {KEY}"}


async def api_text(world: World, number: int) -> bytes:
    return json.dumps({"response": TEXT}).encode()


def _of(headers: Headers) -> Callable[[World, bytes], Headers]:
    return lambda world, body: headers


DOORS = (
    Door(
        "telegram",
        lambda world: "/in/telegram",
        JSON,
        of_telegram,
        telegram_text,
        answered,
        {
            "without": _of({}),
            "wrong": _of({"x-telegram-bot-api-secret-token": "guessed"}),
            "empty": _of({"x-telegram-bot-api-secret-token": ""}),
            "not ASCII": _of({"x-telegram-bot-api-secret-token": "\u00fc" * 8}),
        },
    ),
    Door(
        "whatsapp",
        lambda world: "/in/whatsapp",
        FORM,
        of_twilio,
        whatsapp_text,
        answered,
        {
            "without": _of({}),
            "wrong": _of({"x-twilio-signature": "Zm9yZ2Vk"}),
            "of another account's token": lambda world, body: {
                "x-twilio-signature": signature(f"{PUBLIC}/in/whatsapp", body, "another-token")
            },
            "for another address": lambda world, body: {
                "x-twilio-signature": signature("https://evil.example.net/in/whatsapp", body),
                "host": "evil.example.net",
                "x-forwarded-host": "evil.example.net",
            },
        },
    ),
    Door(
        "whatsapp",
        lambda world: "/in/whatsapp",
        FORM,
        of_twilio,
        whatsapp_status,
        received,
        {"without": _of({}), "wrong": _of({"x-twilio-signature": "Zm9yZ2Vk"})},
    ),
    Door(
        "webhook",
        lambda world: "/in/webhook",
        JSON,
        of_the_hook,
        hook_text,
        answered,
        {
            "without": _of({}),
            "wrong": lambda world, body: {**standard(body), "webhook-signature": "v1,Zm9yZ2Vk"},
            "another body's": lambda world, body: standard(b"{}"),
            "with another key": lambda world, body: standard(
                body, secret="whsec_" + base64.b64encode(b"z" * 32).decode()
            ),
            "stale": lambda world, body: standard(body, age=600),
            "from the future": lambda world, body: standard(body, age=-600),
            "not a time": lambda world, body: {**standard(body), "webhook-timestamp": "9" * 400},
        },
    ),
    Door(
        "form",
        lambda world: world.form,
        FORM,
        of_the_page,
        form_text,
        answered,
        {
            "from another site": _of({"origin": "https://evil.example.net", "sec-fetch-site": "cross-site"}),
            "from another origin": _of({"origin": "https://evil.example.net"}),
        },
        again=409,
        wrap=on_the_page,
    ),
    Door(
        "api",
        lambda world: f"/v1/interactions/{world.interaction}/respond",
        JSON,
        of_a_key,
        api_text,
        answered,
        {
            "without": _of({}),
            "wrong": _of({"authorization": "Bearer guessed"}),
            "another scheme": _of({"authorization": f"Basic {KEY}"}),
            "not ASCII": _of({"authorization": "Bearer \u00fc\u00fc"}),
        },
        again=409,
    ),
)
NAMES = ("telegram", "whatsapp", "whatsapp status", "webhook", "form", "api")


@asynccontextmanager
async def world_in(folder: Path) -> AsyncIterator[World]:
    """Ana was asked one thing on all of them; nobody answered yet."""
    context = ProviderContext(PUBLIC, str(folder))
    providers = {
        name: Mouthless(build_provider(Plugin(name, name, options), context))
        for name, options in OPTIONS.items()
    }
    addresses = tuple(Address(name, who, who) for name, who in WHO.items())
    settings = Settings(
        data_dir=str(folder),
        public_url=PUBLIC,
        api_keys=(ApiKey("ops", SecretStr(KEY)),),
        contacts={"ana": Contact("ana", "Ana", addresses=addresses), "ben": Contact("ben", "Ben")},
        routes={"default": Route("default", ("ana",), tuple(OPTIONS), at_once=True)},
    )
    app = composition.build(settings, providers=dict(providers), agents={})
    await app.start(clock=False)
    try:
        transport = httpx.ASGITransport(site(app))
        async with httpx.AsyncClient(transport=transport, base_url=PUBLIC) as client:
            world = World(app, client, providers)
            await world.ask()
            yield world
    finally:
        await app.stop()
