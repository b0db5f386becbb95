"""Posting: a message as one or more of Telegram's, and the edit that replaces the last of these."""

import asyncio
import dataclasses
from collections.abc import Awaitable
from typing import Protocol, TypeVar

from telegram import Bot, InlineKeyboardMarkup, LinkPreviewOptions, ReplyParameters

from answerback.provider import Address, Message, Sent, TryLater, Undeliverable
from answerback_providers.telegram import ids
from answerback_providers.telegram.faults import Unchanged, Unreadable
from answerback_providers.telegram.fields import moment
from answerback_providers.telegram.wording import LIMIT, Part, keyboard, word

REMEMBERED = 1000  # half-sent messages kept in memory
NO_PREVIEW = LinkPreviewOptions(is_disabled=True)
T = TypeVar("T")


class Say(Protocol):
    """The result of a call of the bot's, or what the core must know: raises `ProviderError`s only."""

    async def __call__(self, call: Awaitable[T]) -> T: ...


class Posts:
    """What one bot writes. Message ids are "chat:message", because one is unique within its chat only."""

    def __init__(self, bot: Bot, id: int, say: Say) -> None:
        self._bot, self._id, self._say = bot, id, say
        self._begun: dict[tuple[str, int], list[str]] = {}  # what of a split message has arrived already

    async def send(self, message: Message, *, plain: bool) -> Sent:
        """`plain`: without anything but words, for what Telegram could not read. Raises `Unreadable`."""
        parts = word(message, plain=plain)
        key = (message.delivery_id, hash(tuple(part.text for part in parts)))
        sent, at = self._begun.pop(key, []), 0
        markup = keyboard(button for button in message.buttons if not (plain and button.url))
        try:
            for place, part in enumerate(parts[len(sent) :], start=len(sent) + 1):
                id, at = await self._post(message, part, markup if place == len(parts) else None)
                sent.append(id)
        except (TryLater, asyncio.CancelledError):
            if sent and message.delivery_id:  # the next attempt goes on here instead of saying it all again
                self._begun[key] = sent
                if len(self._begun) > REMEMBERED:
                    del self._begun[next(iter(self._begun))]
            raise
        return Sent((sent[-1], *sent[:-1]), sent_at=moment(at))

    async def update(self, to: Address, message_id: str, message: Message) -> None:
        """In one part, whatever its length: an edited message cannot become two."""
        if self._mine(message_id).chat != to.place:  # what a group said before it moved stays as it is
            raise Undeliverable("The message stands in another chat than the one it is written to now.")
        bare = dataclasses.replace(message, buttons=())
        for plain in (False, True):
            try:
                return await self._edit(message_id, word(bare, plain=plain, most=LIMIT)[0])
            except Unchanged:
                return None
            except Unreadable:
                if plain:
                    raise
        return None

    async def _post(
        self, message: Message, part: Part, markup: InlineKeyboardMarkup | None
    ) -> tuple[str, int]:
        """Its id, and the second in which Telegram took it."""
        sent = await self._say(
            self._bot.send_message(
                _chat(message.to.place),
                part.text,
                entities=part.entities or None,
                link_preview_options=NO_PREVIEW,
                reply_markup=markup,
                reply_parameters=self._thread(message),
            )
        )
        id = ids.MessageId(f"{sent.chat.id}", sent.message_id, self._id)
        return str(id), int(sent.date.timestamp())

    async def _edit(self, message_id: str, part: Part) -> None:
        found = self._mine(message_id)
        await self._say(
            self._bot.edit_message_text(
                part.text,
                _chat(found.chat),
                found.number,
                entities=part.entities or None,
                link_preview_options=NO_PREVIEW,
            )
        )

    def _mine(self, message_id: str) -> ids.MessageId:
        """Where a message of ours stands. Raises Undeliverable for the id of another provider or bot."""
        found = ids.message_id(message_id)
        if found is None:
            raise Undeliverable("This is not the id of a message on Telegram.")
        if found.bot not in (0, self._id):
            raise Undeliverable("The message was sent by another bot than the one that is configured now.")
        return found

    def _thread(self, message: Message) -> ReplyParameters | None:
        """Reply to our latest earlier message in this place, if there is one and as long as it stands."""
        for earlier in map(ids.message_id, reversed(message.reply_to)):
            if earlier and earlier.chat == message.to.place and earlier.bot in (0, self._id):
                return ReplyParameters(earlier.number, allow_sending_without_reply=True)
        return None


def _chat(place: str) -> int | str:
    return int(place) if place.removeprefix("-").isdecimal() else place
