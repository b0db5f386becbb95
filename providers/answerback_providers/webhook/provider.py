"""The provider: signs what goes out, and believes what comes in only if it is signed."""

import base64
import binascii
import datetime
import json
from typing import Any, ClassVar
from urllib.parse import urlsplit

from pydantic import Field, field_validator
from standardwebhooks import Webhook as Signer

from answerback.provider import (
    Address,
    HttpReply,
    Inbound,
    Json,
    Message,
    Provider,
    ProviderContext,
    Receipt,
    Reply,
    SecretStr,
    Sent,
    Settings,
    TryLater,
    Undeliverable,
    Unverified,
)
from answerback_providers.webhook.body import body
from answerback_providers.webhook.replies import ID, parse

SIGNED = ("webhook-id", "webhook-timestamp", "webhook-signature")
SHORTEST, LONGEST = 24, 64  # bytes: standard-webhooks.md, "Signature scheme"
OVERLOAD_SECONDS = 5.0


class WebhookSettings(Settings):
    """`secret`: `whsec_` and 24 to 64 random bytes in base64; signs both ways. `timeout` in seconds."""

    url: str
    secret: SecretStr
    timeout: float = Field(default=10.0, gt=0, le=28)

    @field_validator("url")
    @classmethod
    def _is_an_address(cls, value: str) -> str:
        address = urlsplit(value)
        if address.scheme not in ("http", "https") or not address.hostname:
            raise ValueError("must be an address like https://example.org/hook")
        return value

    @field_validator("secret")
    @classmethod
    def _is_a_key(cls, value: SecretStr) -> SecretStr:
        text = value.get_secret_value().strip()
        try:
            size = len(base64.b64decode(text.removeprefix("whsec_"), validate=True))
        except (binascii.Error, ValueError):
            size = 0
        if not text.startswith("whsec_") or not SHORTEST <= size <= LONGEST:
            raise ValueError(
                'is not a signing secret: make one with  python -c "import base64, secrets; '
                "print('whsec_' + base64.b64encode(secrets.token_bytes(32)).decode())\""
            )
        return SecretStr(text)


class Webhook(Provider):
    """Messages go out as `message.question` and the like; replies come in at /in/NAME."""

    Settings: ClassVar[type[Settings]] = WebhookSettings
    max_choices: ClassVar[int] = 50

    def __init__(self, name: str, settings: Any, context: ProviderContext) -> None:
        super().__init__(name, settings, context)
        self._signer = Signer(settings.secret.get_secret_value())

    async def send(self, message: Message) -> Sent:
        """One signed request. A 2xx means that it was taken; `message_id` in its JSON replaces ours."""
        reply = await self._post(f"msg_{message.delivery_id}", body(message, _now()))
        return Sent((_given_id(reply) or message.delivery_id,))

    async def update(self, to: Address, message_id: str, message: Message) -> None:
        """A `message.edited`: the receiver changes what it showed, or shows the outcome below it."""
        await self._post(f"msg_{message.delivery_id}", body(message, _now(), edits=message_id))

    async def verify(self, inbound: Inbound) -> None:
        headers = {name: inbound.headers.get(name, "") for name in SIGNED}
        if not all(headers.values()):
            raise Unverified("The request is not signed (webhook-id, webhook-timestamp, webhook-signature).")
        try:
            self._signer.verify(inbound.body, headers, json_parse=False)
        except Exception:  # the library also stumbles over headers that are no signature
            raise Unverified("The signature does not fit, or it is older than five minutes.") from None

    def parse(self, inbound: Inbound) -> list[Reply | Receipt]:
        return parse(inbound)

    async def _post(self, event_id: str, event: dict[str, Json]) -> HttpReply:
        """The same id for the same delivery, so that a receiver can tell what it was sent twice."""
        text, at = json.dumps(event, ensure_ascii=False), _now()
        headers = {
            "content-type": "application/json",
            ID: event_id,
            "webhook-timestamp": str(int(at.timestamp())),
            "webhook-signature": self._signer.sign(event_id, at, text),
        }
        reply = await self.context.http.call(
            "POST", self.settings.url, body=text.encode(), headers=headers, seconds=self.settings.timeout
        )
        if not 200 <= reply.status <= 299:
            raise _refused(reply)
        return reply


def _refused(reply: HttpReply) -> TryLater | Undeliverable:
    """standard-webhooks.md, "Failure handling": 410 ends it, 429 and 5xx are tried again."""
    if reply.status in (408, 425, 429) or reply.status >= 500:
        wait = reply.retry_after or OVERLOAD_SECONDS
        unsure = reply.status >= 500 and reply.status != 503
        return TryLater(wait, f"The receiver answers with {reply.status}.", maybe_sent=unsure)
    gone = reply.status == 410
    return Undeliverable(f"The receiver refuses it with {reply.status}.", address_dead=gone)


def _given_id(reply: HttpReply) -> str:
    try:
        found = json.loads(reply.body)
    except (ValueError, RecursionError):
        return ""
    given = found.get("message_id") if isinstance(found, dict) else None
    return given if isinstance(given, str) and 0 < len(given) <= 200 else ""


def _now() -> datetime.datetime:
    return datetime.datetime.now(datetime.UTC)
