"""The provider: Twilio's client to send and to list, its webhooks to receive."""

import asyncio
import datetime
import json
import logging
import math
from collections.abc import Awaitable, Callable
from typing import Any, ClassVar, TypeVar
from urllib.parse import quote, urlsplit

from twilio.rest import Client
from twilio.rest.content.v1.content import ContentList

from answerback.provider import (
    Address,
    Attachment,
    Batch,
    Inbound,
    Message,
    MessageKind,
    Pace,
    Provider,
    ProviderContext,
    Receipt,
    Reply,
    Sent,
    Settings,
    Undeliverable,
)
from answerback_providers.whatsapp import missed, proof, wording
from answerback_providers.whatsapp.faults import translate
from answerback_providers.whatsapp.incoming import read
from answerback_providers.whatsapp.line import Line
from answerback_providers.whatsapp.settings import OFFICIAL, PREFIX, WhatsAppSettings

log = logging.getLogger(__name__)
T = TypeVar("T")
Clock = Callable[[], datetime.datetime]

WINDOW = 24 * 3600 * 1_000_000  # microseconds after somebody wrote in which free text is taken
PAGE = 1000  # the most that Twilio lists at once
MARGIN = 60 * 1_000_000  # a message takes a while, and clocks differ
DELIVERY = "delivery"  # says in a status callback whose it is, should Twilio's answer have been lost
NO_NOTICE = "This person has not written on WhatsApp within 24 hours, and a notice has no template."
FILE_LIMIT = 16 * 1024 * 1024  # bytes: https://www.twilio.com/docs/whatsapp/guidance-whatsapp-media-messages


def _now() -> datetime.datetime:
    return datetime.datetime.now(datetime.UTC)


class WhatsApp(Provider):
    """One WhatsApp sender at Twilio.

    A message cannot be edited there, so the outcome is a short message of its own. Free text and buttons
    are taken for 24 hours after somebody wrote; the gateway knows when that was, and `send` takes the
    template otherwise. When WhatsApp disagrees (63016), the receipt says `window`, the gateway forgets
    that time, and the message goes out once more with the template.
    """

    Settings: ClassVar[type[Settings]] = WhatsAppSettings
    max_length: ClassVar[int] = wording.BODY_LIMIT
    max_choices: ClassVar[int] = wording.MOST_BUTTONS
    max_label: ClassVar[int] = wording.TITLE_LIMIT
    pace: ClassVar[Pace] = Pace(account=80, place=1)
    windowed: ClassVar[bool] = True

    def __init__(self, name: str, settings: Any, context: ProviderContext, clock: Clock = _now) -> None:
        super().__init__(name, settings, context)
        self._options: WhatsAppSettings = settings
        self._clock = clock
        host = urlsplit(self._options.api_base).hostname or ""
        self._line = Line(self._options.timeout, outside=host not in ("localhost", "127.0.0.1", "::1"))
        self._login = (self._options.account_sid, self._options.auth_token.get_secret_value())
        # What stands in the environment for other programs (TWILIO_EDGE, TWILIO_REGION) is not for this one.
        self._client = Client(*self._login, http_client=self._line, environment={"TWILIO_EDGE": ""})
        self._client.api.base_url = self._options.api_base
        self._client.content.base_url = self._options.content_api
        self._contents: dict[str, str] = {}  # content SIDs of our quick replies, by name
        self._missed, self._listed = missed.Missed(), False

    async def open(self) -> None:
        """Sign in, and learn which quick replies exist already. Raises TryLater."""
        await self.probe()
        if self._options.buttons:
            known = await self._say(self._client.content.v1.contents.list_async(page_size=500))
            self._contents = {item.friendly_name: item.sid for item in known if item.friendly_name}

    async def close(self) -> None:
        await self._line.close()

    async def send(self, message: Message) -> Sent:
        """One message. Raises Undeliverable when only a template is taken and none is configured."""
        if not self._is_open(message.to):
            if message.kind is MessageKind.OUTCOME or (
                message.kind is MessageKind.NOTICE and message.reply_to
            ):
                return Sent()  # no template for it: who taps the old message hears the outcome then
            if message.kind is MessageKind.NOTICE:
                raise Undeliverable(NO_NOTICE)
            return await self._post(message, **self._template(message))
        quick = wording.buttons(message) if self._options.buttons else None
        sid = await self._content(quick) if quick else ""
        if quick and sid:
            return await self._post(message, content_sid=sid, content_variables=json.dumps(quick.variables))
        return await self._post(message, body=wording.text(message))

    async def verify(self, inbound: Inbound) -> None:
        shared = self._options.shared_key
        secret = shared.get_secret_value() if shared else ""
        proof.check(inbound, proof.fields(inbound), self._login[1], secret)

    def parse(self, inbound: Inbound) -> list[Reply | Receipt]:
        named = [value for name, value in inbound.query if name == DELIVERY]
        delivery = named[0] if len(named) == 1 else ""
        found = read(proof.fields(inbound), self._login[0], self._options.sender_address, delivery)
        return [found] if found else []

    async def poll(self, cursor: str, wait: float | None = None) -> Batch:
        """What webhooks may have missed: listed when we start and every `list_seconds`, kept once.

        What is younger than a minute waits for its webhook, and is looked at again after that.
        """
        if self._listed and wait is None:
            soon = missed.GRACE.total_seconds() if self._missed.waits else math.inf
            await asyncio.sleep(min(soon, self._options.list_seconds))
        start = self._missed.since(cursor, self._clock())
        listed = await self._say(
            self._client.messages.list_async(
                to=self._options.sender_address, date_sent_after=start, page_size=PAGE
            )
        )
        mine = [message for message in listed if message.direction == "inbound"]
        found, after = self._missed.fresh(mine, cursor, start, self._clock())
        bodies = [missed.form(one, await self._media(one), self._options.api_base) for one in found]
        self._listed = True
        return Batch(tuple(Inbound(body=body) for body in bodies), after)

    async def fetch(self, attachment: Attachment) -> bytes:
        """Raises Undeliverable for what is gone, larger than 16 MB, or not at Twilio's."""
        home = urlsplit(self._options.api_base)
        at = f"{home.scheme}://{home.netloc}"
        return await self._say(self._line.download(attachment.id, self._login, at, FILE_LIMIT))

    async def probe(self) -> str:
        account = await self._say(self._client.api.accounts(self._login[0]).fetch_async())
        templates = "with a template" if self._options.content_sid else "without a template"
        return f"the account answers ({account.status}); {self._options.sender}, {templates}"

    def _is_open(self, to: Address) -> bool:
        """Whether this person wrote within the last 24 hours."""
        now = round(self._clock().timestamp() * 1e6)
        return to.last_inbound_at is not None and now - to.last_inbound_at < WINDOW - MARGIN

    def _template(self, message: Message) -> dict[str, str]:
        """What is sent outside the 24 hours."""
        options = self._options
        if not options.content_sid:
            raise Undeliverable(
                "This person has not written on WhatsApp within 24 hours, and there is no template: "
                "set content_sid."
            )
        asked = wording.confirmation(message) if options.confirm_content_sid else None
        sid = options.confirm_content_sid if asked else options.content_sid
        return {"content_sid": sid, "content_variables": json.dumps(asked or wording.template(message))}

    async def _post(self, message: Message, **content: str) -> Sent:
        base = self.context.public_url.rstrip("/")
        if base.startswith("https://") or self._options.api_base != OFFICIAL:
            about = f"?{DELIVERY}={quote(message.delivery_id)}" if message.delivery_id else ""
            content["status_callback"] = f"{base}/in/{self.name}{about}"
        sent = await self._say(
            self._client.messages.create_async(
                to=PREFIX + message.to.place, from_=self._options.sender_address, **content
            )
        )
        return Sent((sent.sid,))

    async def _content(self, quick: wording.Buttons) -> str:
        """The content SID of quick replies with these labels, made once; "" when Twilio refuses to."""
        if quick.name not in self._contents:
            actions = [
                {"type": "QUICK_REPLY", "title": label, "id": f"{{{{{place}}}}}"}
                for place, label in enumerate(quick.labels, start=2)
            ]
            request = ContentList.ContentCreateRequest(
                {
                    "friendly_name": quick.name,
                    "language": "en",
                    "variables": {str(place): "-" for place in range(1, len(actions) + 2)},
                    "types": {"twilio/quick-reply": {"body": "{{1}}", "actions": actions}},
                }
            )
            try:
                made = await self._say(self._client.content.v1.contents.create_async(request))
            except Undeliverable as error:
                log.warning("%s: no buttons, the choices stand in the text: %s", self.name, error.reason)
                return ""
            self._contents[quick.name] = made.sid
        return self._contents[quick.name]

    async def _media(self, message: Any) -> list[Any]:
        if not int(message.num_media or 0):
            return []
        try:
            return list(await self._say(self._client.messages(message.sid).media.list_async(limit=10)))
        except Undeliverable:  # it was deleted: the text is still an answer
            return []

    async def _say(self, call: Awaitable[T]) -> T:
        """The result of a call, or what the core must know; what the client raised stays here."""
        try:
            return await call
        except Exception as error:
            failure = translate(error)
        raise failure
