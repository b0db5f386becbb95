"""A gateway that was asked to listen at every door, and what a test has to know of a door."""

import base64
from collections.abc import AsyncIterator, Awaitable, Callable, Sequence
from contextlib import asynccontextmanager
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import httpx
from pydantic import SecretStr

from answerback import app as composition
from answerback.app import App
from answerback.ask import AskRequest
from answerback.cli.site import site
from answerback.metrics import Metric
from answerback.model import Address, Contact, InteractionStatus, Question
from answerback.provider import Event, Inbound, Provider, ProviderContext
from answerback.registry import build_provider
from answerback.settings import ApiKey, Plugin, Route, Settings
from answerback.testing import MemoryProvider
from tests.support.databases import put_tables
from tests.support.described import through
from tests.support.reading import Reading

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

    def parse(self, inbound: Inbound) -> Sequence[Event]:
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


@asynccontextmanager
async def world_in(folder: Path) -> AsyncIterator[World]:
    """Ana was asked one thing on all of them, and has read it; nobody answered yet."""
    time = Reading()
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
    put_tables(folder)
    app = composition.build(settings, providers=dict(providers), agents={}, time=time)
    await app.start(clock=False)
    try:
        async with through(site(app), PUBLIC) as client:
            world = World(app, client, providers)
            await world.ask()
            time.reads()
            yield world
    finally:
        await app.stop()
