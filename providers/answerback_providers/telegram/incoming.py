"""One raw update to what the core must know: tolerant, pure, and silent about what concerns nobody.

The fields are those of https://core.telegram.org/bots/api#update. None of them is believed to be there:
python-telegram-bot's classes raise on what they do not expect, so they are not used here.
"""

import json
import re
from dataclasses import dataclass

from answerback.provider import Event, Reply, Void
from answerback_providers.telegram.entities import marked
from answerback_providers.telegram.fields import (
    Fields,
    array,
    attachments,
    integer,
    moment,
    number,
    obj,
    string,
)
from answerback_providers.telegram.ids import MessageId, event_id
from answerback_providers.telegram.news import news_of

# Written by a person although there is no text: it does not fit, and they should hear so.
OTHER = (
    "location",
    "venue",
    "contact",
    "poll",
    "dice",
    "story",
    "checklist",
    "game",
    "paid_media",
    "live_photo",
)
ELSEWHERE = "elsewhere"  # a reply to what stands in another chat: no message of ours has this id
COMMAND = re.compile(r"/\w+(?:@(\w+))?(?!\S)")
PRIVATE = "private"


class NotYet(ValueError):
    """Whom a command is for cannot be told before we know our own name: it is kept, and can be replayed."""


@dataclass(frozen=True, slots=True)
class Bot:
    """Who we are there. `username` is "" until Telegram has said it."""

    id: int
    username: str = ""


def events(body: bytes, bot: Bot) -> list[Event]:
    """What a person wrote or tapped in this update, or what it says of a chat: one event or none.

    Raises ValueError if the body is not JSON or cannot be read yet; never for JSON that makes no sense.
    """
    try:
        update = obj(json.loads(body, parse_int=integer))
    except RecursionError:
        return []
    id = number(update.get("update_id"))
    if id is None:
        return []
    key = event_id(bot.id, id)
    if news := news_of(key, update):
        return [news]
    if query := obj(update.get("callback_query")):
        reply = _tap(key, query, bot)
    elif edited := obj(update.get("edited_message")):  # the answer that was accepted stands
        reply = _message(key, edited, bot, edited=True)
    else:
        reply = _message(key, obj(update.get("message")), bot)
    return [reply] if reply else []


def _tap(key: str, query: Fields, bot: Bot) -> Reply | None:
    """A tap names its person even where administrators write anonymously."""
    person, message = obj(query.get("from")), obj(query.get("message"))
    chat = obj(message.get("chat"))
    sender, place, id = number(person.get("id")), number(chat.get("id")), number(message.get("message_id"))
    handle, data = string(query.get("id")), string(query.get("data"))
    if sender is None or place is None or id is None or not handle or not data or person.get("is_bot"):
        return None
    return Reply(
        event_id=key,
        sender=str(sender),
        place=str(place),
        data=data,
        references=(str(MessageId(f"{place}", id, bot.id)),),
        private=chat.get("type") == PRIVATE,
        name=string(person.get("first_name")),
        handle=handle,
    )


def _message(key: str, message: Fields, bot: Bot, *, edited: bool = False) -> Reply | None:
    chat, person = obj(message.get("chat")), _author(message)
    sender, place = number(person.get("id")), number(chat.get("id"))
    void = _void(message, edited)
    if sender is None or place is None or (person.get("is_bot") and void is not Void.NAMELESS):
        return None
    text = marked(string(message.get("text")), message.get("entities"))
    text = text or marked(string(message.get("caption")), message.get("caption_entities"))
    files = attachments(message)
    if not text and (edited or not (files or any(key in message for key in OTHER))):
        return None  # a service message: someone joined, a title changed; or a place that moves by itself
    private = chat.get("type") == PRIVATE
    if not private and _is_for_another_bot(text, bot):
        return None
    called = "" if private else _called(text, bot)
    earlier = obj(message.get("reply_to_message"))
    references = _references(place, earlier, bot)
    token = _token(earlier) if references else ""
    if (private or called) and obj(message.get("external_reply")):
        references = (ELSEWHERE,)
    return Reply(
        event_id=key,
        sender=str(sender),
        place=str(place),
        text=text,
        token=token,
        references=references,
        shows=bool(token),
        sent_at=moment(message.get("date")),
        private=private,
        name=string(person.get("first_name")),
        attachments=files,
        called=called,
        void=void,
    )


def _author(message: Fields) -> Fields:
    """Who wrote it: where that is a group or a channel, it, and not the stand-in that Telegram names."""
    return obj(message.get("sender_chat")) or obj(message.get("from"))


def _void(message: Fields, edited: bool) -> Void | None:
    if "sender_chat" in message:  # an anonymous administrator, a channel, or what a linked channel posts
        return Void.NAMELESS
    if any(key in message for key in ("forward_origin", "forward_date", "forward_from")):
        return Void.FORWARDED
    return Void.EDITED if edited else None


def _is_for_another_bot(text: str, bot: Bot) -> bool:
    """Whether it begins with a command for one ("/stop@other_bot"): in a group, every bot may see it."""
    command = COMMAND.match(text)
    if command is None or command[1] is None:
        return False
    if not bot.username:
        raise NotYet("a command with a name came before we knew our own")
    return command[1].lower() != bot.username.lower()


def _called(text: str, bot: Bot) -> str:
    """Our name where it stands in the text, as it stands there; not as part of a command or another name."""
    if not bot.username:
        return ""
    found = re.search(rf"(?<![\w@/])@{re.escape(bot.username)}(?!\w)", text, re.IGNORECASE | re.ASCII)
    return found[0] if found else ""


def _references(place: int, earlier: Fields, bot: Bot) -> tuple[str, ...]:
    id = number(earlier.get("message_id"))
    ours = number(obj(earlier.get("from")).get("id")) == bot.id
    return (str(MessageId(f"{place}", id, bot.id)),) if ours and id is not None else ()


def _token(earlier: Fields) -> str:
    """What all buttons of a message of ours carry. Whoever replies to it may know it before we do: a message

    can arrive although Telegram never said so to us.
    """
    rows = array(obj(earlier.get("reply_markup")).get("inline_keyboard"))
    buttons = [obj(button) for row in rows for button in array(row)]
    tokens = {string(button.get("callback_data")).partition(":")[0] for button in buttons} - {""}
    return tokens.pop() if len(tokens) == 1 else ""
