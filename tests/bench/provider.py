"""`Loopback`: a provider as a messenger's would be: HTTP out, signed webhooks in, edits.

It speaks HTTP with the bare client of `wire.py`, so that what is measured is the gateway. What a library for
HTTP costs (aiohttp: half a millisecond a message) comes on top with a real service, whatever asks.
"""

import hashlib
import hmac
import json
from typing import Any

from answerback.provider import (
    Address,
    Inbound,
    Message,
    Pace,
    Provider,
    ProviderContext,
    Receipt,
    Reply,
    Sent,
    Settings,
    TryLater,
    Unverified,
)
from tests.bench.wire import Wire

SIGNATURE = "x-bench-signature"
JSON = [("content-type", "application/json")]


class LoopbackSettings(Settings):
    """Where the far side is, and the secret that signs its webhooks."""

    far: str = "http://127.0.0.1:9"
    secret: str = "a secret of the bench"


class Loopback(Provider):
    """Speaks to `far.py`. `sent_at`: by sender, when their last reply set out (monotonic ns)."""

    Settings = LoopbackSettings

    def __init__(self, name: str, settings: Any, context: ProviderContext) -> None:
        super().__init__(name, settings, context)
        self.sent_at: dict[str, int] = {}
        self._wire: Wire | None = None

    async def open(self) -> None:
        self._wire = Wire.to(self.settings.far)

    async def close(self) -> None:
        if self._wire is not None:
            self._wire.close()

    async def send(self, message: Message) -> Sent:
        found = await self._post("/send", message)
        return Sent((found["id"],))

    async def update(self, to: Address, message_id: str, message: Message) -> None:
        await self._post(f"/edit/{message_id}", message)

    async def verify(self, inbound: Inbound) -> None:
        expected = sign(self.settings.secret, inbound.body)
        if not hmac.compare_digest(inbound.headers.get(SIGNATURE, ""), expected):
            raise Unverified("The signature is wrong.")

    def parse(self, inbound: Inbound) -> list[Reply | Receipt]:
        event = json.loads(inbound.body)
        self.sent_at[event["sender"]] = event.pop("at")
        return [Reply(**{**event, "references": tuple(event.get("references", ()))})]

    async def _post(self, path: str, message: Message) -> Any:
        assert self._wire is not None, "open() comes first"
        buttons = [[button.label, button.data] for button in message.buttons]
        body = {"to": message.to.place, "text": message.text, "buttons": buttons}
        try:
            answer = await self._wire.ask(path, JSON, json.dumps(body).encode())
        except OSError as error:
            raise TryLater(1.0, type(error).__name__) from error
        return json.loads(answer.body)


class Paced(Loopback):
    """The same at a messenger's rate: what follows from an answer is stored now and sent in its turn."""

    pace = Pace(account=30)


def sign(secret: str, body: bytes) -> str:
    return hmac.digest(secret.encode(), body, "sha256").hex()


def event_id(number: int) -> str:
    """A service's id for one event."""
    return hashlib.sha256(b"event %d" % number).hexdigest()[:24]
