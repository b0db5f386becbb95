"""What the WhatsApp tests share: a sender at the sandbox, messages, webhooks that are signed by Twilio."""

import contextlib
import datetime
import time
from collections.abc import AsyncIterator
from dataclasses import dataclass
from typing import Any
from urllib.parse import urlencode

from answerback.provider import Address, Button, Inbound, Message, MessageKind, ProviderContext
from answerback_providers.whatsapp import WhatsApp
from answerback_providers.whatsapp.provider import Clock
from answerback_sandbox import Sandbox

ANA = "+436601234567"
HOOK = "http://127.0.0.1:9/in/whatsapp"
YES_NO = (Button("Yes", "t0k3n:0.y", means="yes"), Button("No", "t0k3n:0.n", means="no"))
HOUR = 3600 * 1_000_000


def now() -> int:
    return time.time_ns() // 1000


@dataclass(slots=True)
class Ahead:
    """A clock that is ahead of Twilio's. By more than a minute: whatever is listed waits for no webhook."""

    by: datetime.timedelta = datetime.timedelta(minutes=2)

    def __call__(self) -> datetime.datetime:
        return datetime.datetime.now(datetime.UTC) + self.by


ON_TIME = Ahead(datetime.timedelta(0))


def provider(
    box: Sandbox, *, public_url: str = "http://127.0.0.1:9", clock: Clock = ON_TIME, **settings: Any
) -> WhatsApp:
    far = box.twilio
    options = WhatsApp.Settings.model_validate(
        {
            "account_sid": far.account_sid,
            "auth_token": far.auth_token,
            "sender": far.sender,
            "content_sid": far.content_sid,
            "api_base": box.url,
            **settings,
        }
    )
    return WhatsApp("whatsapp", options, ProviderContext(public_url=public_url), clock)


@contextlib.asynccontextmanager
async def connected(box: Sandbox, **settings: Any) -> AsyncIterator[WhatsApp]:
    """A provider that is open at the sandbox, where Ana has WhatsApp."""
    if ANA not in box.twilio.world.handsets:
        box.twilio.add_person(ANA, "Ana")
    whatsapp = provider(box, **settings)
    try:
        await whatsapp.open()
        yield whatsapp
    finally:
        await whatsapp.close()


def to(last_inbound_at: int | None = None, place: str = ANA) -> Address:
    return Address("whatsapp", place, place, last_inbound_at=last_inbound_at)


def question(title: str = "Deploy now?", *, wrote: int | None = None, **fields: Any) -> Message:
    """A question; `wrote`: when the person wrote last, so that the conversation is open or not."""
    known = {"heading": "🟦 Ops · release", "buttons": YES_NO, "footer": "#K7Q2", "delivery_id": "d1"}
    return Message(to(wrote), MessageKind.QUESTION, title, **{**known, **fields})


def signed(box: Sandbox, url: str = HOOK, **fields: str) -> Inbound:
    """A webhook as Twilio would make it, about a message of Ana's."""
    far = box.twilio
    found = {
        "MessageSid": "SM1",
        "AccountSid": far.account_sid,
        "From": f"whatsapp:{ANA}",
        "To": f"whatsapp:{far.sender}",
        "Body": "coding",
        "NumMedia": "0",
        "SmsStatus": "received",
        "ButtonText": "",
        **fields,
    }
    headers = {name.lower(): value for name, value in far.courier.headers(url, found).items()}
    return Inbound(urlencode(found).encode(), url=url, headers=headers)
