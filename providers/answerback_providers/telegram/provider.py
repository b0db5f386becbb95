"""The provider: python-telegram-bot's Bot to send, raw updates of our own intake to receive."""

import hmac
import json
import logging
import math
import re
from collections.abc import Awaitable
from typing import Any, ClassVar, TypeVar

from telegram import Bot

from answerback.provider import (
    Address,
    Attachment,
    Batch,
    ConfigurationError,
    Event,
    Inbound,
    Json,
    Message,
    MessageKind,
    Outcome,
    Pace,
    Provider,
    ProviderContext,
    ProviderError,
    Reply,
    Sent,
    Settings,
    TryLater,
    Undeliverable,
    Unverified,
    shorten,
)
from answerback_providers.telegram import ids
from answerback_providers.telegram.faults import TOO_BIG, Unreadable, translate
from answerback_providers.telegram.hook import looked_after, set_webhook
from answerback_providers.telegram.incoming import Bot as Self
from answerback_providers.telegram.incoming import events
from answerback_providers.telegram.line import Line
from answerback_providers.telegram.posting import Posts
from answerback_providers.telegram.settings import OFFICIAL, TelegramSettings
from answerback_providers.telegram.wording import LIMIT, clean

log = logging.getLogger(__name__)
T = TypeVar("T")

UPDATES = ("message", "edited_message", "callback_query", "my_chat_member")
PROOF_HEADER = "x-telegram-bot-api-secret-token"
TOAST_LENGTH = 200  # core.telegram.org/bots/api#answercallbackquery
FILE_LIMIT = 20 * 1024 * 1024  # bytes that a bot may download: core.telegram.org/bots/api#getfile
ASKING = (MessageKind.QUESTION, MessageKind.REMINDER)
NOBODY = (
    "A group cannot answer, only somebody in it: as the address, write id: the person's number, "
    "place: the group's."
)
AT_ONCE = 1000  # updates taken from one poll; Telegram sends 100 at most
_NUMBER = re.compile("-?[1-9][0-9]{0,18}")
# Shown until it is dismissed: what must not be overlooked. Anything else is a toast.
ALERTS = frozenset(
    {
        Outcome.ALREADY_ANSWERED,
        Outcome.CANCELLED,
        Outcome.EXPIRED,
        Outcome.FAILED,
        Outcome.NOT_ALLOWED,
        Outcome.UNKNOWN,
    }
)


class SilentBot(Bot):
    """python-telegram-bot's Bot, whose repr holds no token."""

    __slots__ = ()

    def __repr__(self) -> str:
        return "SilentBot()"


class Telegram(Provider):
    """One bot. Message ids are "chat:message", because a message id is unique within its chat only.

    ForceReply is not used to ask for text: a message that carries it cannot be edited afterwards
    (https://core.telegram.org/bots/api#updating-messages), and every question is edited to its outcome.
    """

    Settings: ClassVar[type[Settings]] = TelegramSettings
    max_length: ClassVar[int] = LIMIT
    one_by_one: ClassVar[bool] = True
    tappable: ClassVar[bool] = True
    # 30 a second, 1 a second in a chat and 20 a minute in a group are allowed
    # (https://core.telegram.org/bots/faq#my-bot-is-hitting-limits-how-do-i-avoid-this). What is left of
    # that is for the road: two messages may get there closer to each other than they left.
    pace: ClassVar[Pace] = Pace(account=29, place=0.98, shared=0.32)

    def __init__(self, name: str, settings: Any, context: ProviderContext) -> None:
        super().__init__(name, settings, context)
        self._options: TelegramSettings = settings
        self._line = Line(self._options.api_base, self._options.timeout)
        self._bot = SilentBot(
            self._options.token.get_secret_value(),
            f"{self._options.api_base}/bot",
            f"{self._options.api_base}/file/bot",
            request=self._line,
            get_updates_request=self._line,
        )
        self._self = Self(self._options.bot_id)
        self._posts = Posts(self._bot, self._options.bot_id, self._say)

    @property
    def polls(self) -> bool:
        return self._options.mode == "polling"

    async def open(self) -> None:
        """Learn our name, and tell Telegram how we take updates. Raises TryLater, ConfigurationError."""
        hook = "" if self.polls else self._webhook_url()
        me = await self._say(self._bot.get_me())
        self._self = Self(self._options.bot_id, me.username or "")
        if self.polls:
            info = await self._say(self._bot.get_webhook_info())
            if info.url:  # a bot has either; updates that wait there are kept
                await self._say(self._bot.delete_webhook(drop_pending_updates=False))
            return
        await self._say(set_webhook(self._bot, hook, self._options.webhook_secret, UPDATES))

    async def hears(self) -> str:
        url, secret = self._webhook_url(), self._options.webhook_secret
        return await self._say(looked_after(self._bot, self.name, url, secret, UPDATES))

    async def behind(self) -> bool:
        """Telegram brings what waits when the webhook is set, and else more and more seldom."""
        if self.polls:
            return False
        return bool((await self._say(self._bot.get_webhook_info())).pending_update_count)

    async def close(self) -> None:
        await self._line.shutdown()

    async def send(self, message: Message) -> Sent:
        """The last part comes first in the ids: it has the buttons, and is what `update` replaces."""
        if message.kind in ASKING and message.to.external_id.startswith("-"):
            raise Undeliverable(NOBODY)
        try:
            return await self._posts.send(message, plain=False)
        except Unreadable as error:
            log.warning("%s: sent as plain text instead: %s", self.name, error.reason)
        return await self._posts.send(message, plain=True)

    async def update(self, to: Address, message_id: str, message: Message) -> None:
        await self._posts.update(to, message_id, message)

    async def acknowledge(self, reply: Reply, outcome: Outcome, text: str) -> None:
        """Every tap is answered, or its button stays busy; a plain message has nothing to answer."""
        if not reply.handle:
            return
        toast = shorten(clean(text), TOAST_LENGTH, utf16=True)
        try:
            await self._say(
                self._bot.answer_callback_query(reply.handle, toast or None, show_alert=outcome in ALERTS)
            )
        except ProviderError as error:  # too old, most of the time: the message itself says the outcome
            log.debug("%s: a tap could not be acknowledged: %s", self.name, error)

    async def screen(self, inbound: Inbound) -> None:
        """The secret stands in a header: who lacks it is refused before a byte of the body is read."""
        await self.verify(inbound)

    async def verify(self, inbound: Inbound) -> None:
        secret = self._options.webhook_secret
        if self.polls or secret is None:
            await super().verify(inbound)
            return
        given = inbound.headers.get(PROOF_HEADER, "").encode("utf-8", "replace")
        if not hmac.compare_digest(given, secret.get_secret_value().encode()):
            raise Unverified("The request does not carry the webhook's secret.")

    def parse(self, inbound: Inbound) -> list[Event]:
        """Raises ValueError for what is not JSON, and for what needs our name before we know it."""
        return events(inbound.body, self._self)

    def canonical(self, id: str) -> str:
        """A number as it stands. Raises ValueError for anything else, such as a user name."""
        if _NUMBER.fullmatch(id) is None:
            raise ValueError(
                "Telegram's ids are numbers, never a user name; leave it out, and `answerback contacts link` "
                "finds the person's number"
            )
        return id

    @classmethod
    def alone(cls, external_id: str, place: str) -> str:
        """A person's chat with the bot has their own id; groups have negative ids, or names."""
        return place if place.isdecimal() or not place else external_id

    async def poll(self, cursor: str, wait: float | None = None) -> Batch:
        """One long poll. Every update is passed on as it is, so that a strange one hides no other."""
        seconds = self._options.poll_seconds if wait is None else round(wait)
        fields = {"timeout": str(seconds), "allowed_updates": json.dumps(UPDATES)}
        if offset := ids.offset(cursor, self._self.id):
            fields["offset"] = offset
        updates = await self._say(self._line.call(f"{self._bot.base_url}/getUpdates", fields, wait=seconds))
        if not isinstance(updates, list):
            raise TryLater(60, "Telegram answered with something else than updates.")
        if len(updates) > AT_ONCE:  # the others come again: one batch is one transaction
            updates = sorted(updates, key=_order)[:AT_ONCE]
        numbers = [number for update in updates if (number := _number(update)) is not None]
        if updates and not numbers:
            raise TryLater(60, "Telegram sends updates without a number.")
        events = tuple(Inbound(body=json.dumps(update).encode()) for update in updates)
        return Batch(events, ids.cursor(self._self.id, max(numbers) + 1) if numbers else cursor)

    async def fetch(self, attachment: Attachment) -> bytes:
        """Raises Undeliverable for what is gone or larger than 20 MB, the most that a bot may download."""
        if attachment.size is not None and attachment.size > FILE_LIMIT:
            raise Undeliverable(TOO_BIG)
        file = await self._say(self._line.call(f"{self._bot.base_url}/getFile", {"file_id": attachment.id}))
        path = file.get("file_path") if isinstance(file, dict) else None
        if not isinstance(path, str) or "://" in path or ".." in path.split("/"):
            raise Undeliverable("Telegram does not say where the file is.")
        return await self._say(
            self._line.download(f"{self._bot.base_file_url}/{path.lstrip('/')}", FILE_LIMIT)
        )

    async def probe(self) -> str:
        me = await self._say(self._bot.get_me())
        return f"@{me.username} answers; mode {self._options.mode}"

    async def _say(self, call: Awaitable[T]) -> T:
        """The result of a call, or what the core must know; what the library raised stays here."""
        try:
            return await call
        except Exception as error:
            failure = translate(error, self.name, self._bot.token)
        raise failure

    def _webhook_url(self) -> str:
        base = self.context.public_url.rstrip("/")
        if not base or (self._options.api_base == OFFICIAL and not base.startswith("https://")):
            raise ConfigurationError(
                f"The provider {self.name} has mode: webhook, so Telegram must reach public_url, over https: "
                "set it, or use mode: polling."
            )
        return f"{base}/in/{self.name}"


def _number(update: Json) -> int | None:
    number = update.get("update_id") if isinstance(update, dict) else None
    return number if isinstance(number, int) and not isinstance(number, bool) else None


def _order(update: Json) -> float:
    """As Telegram numbers them; what has no number comes last."""
    number = _number(update)
    return math.inf if number is None else number
