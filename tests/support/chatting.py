"""A gateway and people on Telegram: the real client, and the sandbox's Bot API, whose clock is its own."""

import contextlib
from collections.abc import AsyncIterator
from dataclasses import dataclass

from answerback.agent import Agent
from answerback.model import Address, Contact, RunStatus
from answerback.provider import ProviderContext
from answerback.run import Run
from answerback.settings import Route
from answerback.testing import ManualClock
from answerback_providers.telegram import Telegram
from answerback_sandbox import Chat, ChatKind, Message, Sandbox
from tests.support.databases import Database
from tests.support.gateway import Gateway, gateway
from tests.support.telegram import Unhurried

ANA, BEN = 1001, 1002
PUBLIC = "https://ask.example.org"
PATIENCE = 30.0  # seconds until a test gives up; nothing waits that long


@dataclass(slots=True)
class Chatting:
    """Ana and Ben, the group they share with the bot, and the gateway that asks Ana."""

    box: Sandbox
    g: Gateway
    group: Chat

    async def run(self) -> Run:
        return await self.g.run()

    async def heard(self) -> None:
        """Until the gateway has taken all that people did, and done what follows from it."""
        await self.box.wait_for(lambda: len(self.box.world.updates) == 0, PATIENCE)
        await self.g.app.idle()

    async def status(self, run: Run) -> RunStatus:
        return (await self.g.settled(run.id)).status

    def said(self, chat: int | None = None, person: int = ANA) -> list[str]:
        """What the bot says in a chat now: Ana's own, or the group."""
        return [message.text for message in self.box.received(person, chat)]

    def last(self, chat: int | None = None) -> Message:
        return self.box.received(ANA, chat)[-1]

    def toasts(self, person: int) -> list[str]:
        return [callback.text for callback in self.box.callbacks(person)]

    async def unreachable(self) -> dict[str, str]:
        """Ana's addresses that nothing reaches, and why."""
        people = await self.g.app.reader.contacts()
        addresses = next(each.addresses for each in people if each.id == "ana")
        return {each.provider: each.unreachable for each in addresses if each.unreachable}


@dataclass(slots=True)
class Leisurely:
    """The service's clock: whatever happens there takes a second, so that nobody writes before they read."""

    ours: ManualClock
    ahead: int = 0

    def __call__(self) -> int:
        self.ahead += 1_000_000
        return self.ours() + self.ahead


@contextlib.asynccontextmanager
async def chatting(
    database: Database,
    *agents: Agent,
    in_group: bool = True,
    kind: ChatKind = ChatKind.GROUP,
    privacy: bool = True,
    **settings: object,
) -> AsyncIterator[Chatting]:
    """Ana is asked in the group (or in her own chat), and through `memory` when that does not work."""
    clock = ManualClock()
    async with Sandbox.start(clock=Leisurely(clock), privacy=privacy) as box:
        box.add_person(BEN, "Ben")
        group = box.world.add_group("Ops", (ANA, BEN), kind)
        place = str(group.id) if in_group else str(ANA)
        elsewhere = Address("memory", "a", "a")
        people = {
            "ana": Contact("ana", "Ana", addresses=(Address("telegram", str(ANA), place), elsewhere)),
            "ben": Contact("ben", "Ben", addresses=(Address("telegram", str(BEN), place),)),
        }
        options = Telegram.Settings.model_validate({"token": box.token, "api_base": box.url})
        telegram = Unhurried("telegram", options, ProviderContext(PUBLIC))
        given = {
            "contacts": people,
            "public_url": PUBLIC,
            "routes": {"default": Route("default", ask=("ana",), providers=("telegram", "memory"))},
            **settings,
        }
        async with gateway(database, *agents, providers={"telegram": telegram}, clock=clock, **given) as g:
            chat = Chatting(box, g, group)
            await chat.heard()
            yield chat
