"""Holds what the sandbox tells a bot against python-telegram-bot, which sets unknown fields aside."""

from collections.abc import Iterator
from typing import Any

import telegram
from telegram import TelegramObject

from answerback_sandbox import Sandbox
from tests.providers.sandbox.support import unknown_fields

# What a method answers with (https://core.telegram.org/bots/api#available-methods), by lower-case name; most
# answer with true, or with a message. Whoever adds a method that answers with something else adds it here.
ANSWERS: dict[str, type[TelegramObject]] = {
    "update": telegram.Update,
    "getme": telegram.User,
    "getupdates": telegram.Update,
    "getwebhookinfo": telegram.WebhookInfo,
    "getchat": telegram.ChatFullInfo,
    "getchatmember": telegram.ChatMember,
    "getfile": telegram.File,
    "getmycommands": telegram.BotCommand,
}


def misfits(box: Sandbox) -> list[str]:
    """Fields that the real client would not know, and answers that it could not read, by method."""
    return [f"{method}: {misfit}" for method, result in box.told for misfit in _misfits(method, result)]


def _misfits(method: str, result: Any) -> Iterator[str]:
    for item in result if isinstance(result, list) else [result]:
        if not isinstance(item, dict):
            continue
        kind = ANSWERS.get(method, telegram.Message)
        try:
            read = kind.de_json(item, None)
        except (KeyError, TypeError, ValueError) as error:
            yield f"{kind.__name__} cannot be read: {error!r}"
            continue
        yield from unknown_fields(read)
