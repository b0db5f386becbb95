"""Telegram keeps the contract in both modes, at the sandbox."""

import contextlib
import json
from collections.abc import AsyncIterator, Mapping
from typing import ClassVar

from answerback.model import Json
from answerback.provider import Address, Button, Inbound, ProviderContext, Sent
from answerback.testing import ProviderContract
from answerback_providers.telegram import Telegram
from answerback_sandbox import Sandbox
from tests.providers.telegram.support import ANA, TOKEN

HOOK_SECRET = "a-secret-of-the-webhook"


class TestPolling(ProviderContract):
    provider_class = Telegram
    more: ClassVar[Mapping[str, Json]] = {"mode": "polling", "poll_seconds": "1"}

    @contextlib.asynccontextmanager
    async def far_side(self) -> AsyncIterator[Sandbox]:
        async with Sandbox.start() as box:
            yield box

    def options_for(self, there: Sandbox) -> Mapping[str, Json]:
        return {"token": TOKEN, "api_base": there.url, **self.more}

    def context_for(self, there: Sandbox) -> ProviderContext:
        return ProviderContext(public_url="http://127.0.0.1:9")

    def address_for(self, there: Sandbox) -> Address:
        return Address("telegram", str(ANA), str(ANA))

    async def reply(self, there: Sandbox, sent: Sent, text: str) -> Inbound | None:
        there.type(ANA, text, reply_to=number(sent))
        return self.request(there)

    async def tap(self, there: Sandbox, sent: Sent, button: Button) -> Inbound | None:
        there.tap(ANA, number(sent), button.label)
        return self.request(there)

    async def sees(self, there: Sandbox) -> list[str]:
        return [message.text for message in there.received(ANA)]

    def request(self, there: Sandbox) -> Inbound | None:
        return None


class TestWebhook(TestPolling):
    more: ClassVar[Mapping[str, Json]] = {"mode": "webhook", "webhook_secret": HOOK_SECRET}
    leaves_out: ClassVar = {
        "test_a_request_that_was_changed_is_refused": "Telegram proves who sends, and does not sign the body"
    }

    def request(self, there: Sandbox) -> Inbound:
        """As the Bot API posts it: core.telegram.org/bots/api#setwebhook."""
        body = json.dumps(there.world.updates.read(0, 100)[-1]).encode()
        return Inbound(body, headers={"x-telegram-bot-api-secret-token": HOOK_SECRET})


def number(sent: Sent) -> int:
    return int(sent.message_ids[0].rpartition(":")[2])
