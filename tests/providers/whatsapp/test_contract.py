"""WhatsApp keeps the contract at the sandbox, while a conversation is open and with the template alone."""

import contextlib
import time
from collections.abc import AsyncIterator, Mapping
from typing import Any, ClassVar

from answerback.model import Json
from answerback.provider import Address, Button, Inbound, ProviderContext, Sent
from answerback.testing import ProviderContract
from answerback_providers.whatsapp import WhatsApp
from answerback_sandbox import Sandbox
from tests.providers.whatsapp.support import ANA, Ahead, now, signed


class Listing(WhatsApp):
    """What it lists waits for no webhook."""

    def __init__(self, name: str, settings: Any, context: ProviderContext) -> None:
        super().__init__(name, settings, context, Ahead())


class TestTemplate(ProviderContract):
    provider_class = Listing
    wrote: ClassVar[bool] = False

    @contextlib.asynccontextmanager
    async def far_side(self) -> AsyncIterator[Sandbox]:
        async with Sandbox.start() as box:
            box.twilio.add_person(ANA, "Ana")
            if self.wrote:
                box.twilio.type(ANA, "hello")
            yield box

    def options_for(self, there: Sandbox) -> Mapping[str, Json]:
        far = there.twilio
        return {
            "account_sid": far.account_sid,
            "auth_token": far.auth_token,
            "sender": far.sender,
            "content_sid": far.content_sid,
            "api_base": there.url,
        }

    def context_for(self, there: Sandbox) -> ProviderContext:
        return ProviderContext(public_url="http://127.0.0.1:9")

    def address_for(self, there: Sandbox) -> Address:
        return Address("whatsapp", ANA, ANA, last_inbound_at=now() if self.wrote else None)

    async def reply(self, there: Sandbox, sent: Sent, text: str) -> Inbound:
        note = there.twilio.type(ANA, text, reply_to=sent.message_ids[0])
        return signed(there, MessageSid=note.sid, Body=text, OriginalRepliedMessageSid=sent.message_ids[0])

    async def sees(self, there: Sandbox) -> list[str]:
        return [note.body for note in there.twilio.received(ANA)]


class TestOpenConversation(TestTemplate):
    wrote: ClassVar[bool] = True

    async def tap(self, there: Sandbox, sent: Sent, button: Button) -> Inbound:
        there.twilio.tap(ANA, sent.message_ids[0], button.label)
        return signed(
            there, MessageSid=f"SM{time.time_ns()}", Body=button.label, MessageType="interactive",
            ButtonPayload=button.data, OriginalRepliedMessageSid=sent.message_ids[0],
        )  # fmt: skip
