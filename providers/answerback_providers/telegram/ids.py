"""Ids beyond one bot: Telegram counts messages, in a person's chat, and updates anew for each of them.

A provider can be given another bot. Without the bot in them, a reply to what the new one wrote would be taken
for a reply to what the old one wrote under the same number, and its updates for some that came long ago.
"""

from typing import NamedTuple


class MessageId(NamedTuple):
    """`bot`: 0 where an older version did not note it."""

    chat: str
    number: int
    bot: int = 0

    def __str__(self) -> str:
        return f"{self.bot}:{self.chat}:{self.number}"


def event_id(bot: int, update: int) -> str:
    return f"{bot}:{update}"


def message_id(text: str) -> MessageId | None:
    """The id of one of our messages, "bot:chat:number"; None for what is none of Telegram's."""
    where, _, number = text.rpartition(":")
    bot, _, chat = where.rpartition(":")
    if not chat or not number.isdecimal() or not (bot or "0").isdecimal():
        return None
    return MessageId(chat, int(number), int(bot or 0))


def cursor(bot: int, offset: int) -> str:
    return f"{bot}:{offset}"


def offset(text: str, bot: int) -> str:
    """From where to read this bot's updates; "" for all that wait. An older version noted no bot."""
    whose, colon, number = text.rpartition(":")
    return number if not colon or whose == str(bot) else ""
