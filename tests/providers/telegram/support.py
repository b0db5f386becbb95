"""What the Telegram tests share: providers at a far side, messages, updates."""

import contextlib
import json
from collections.abc import AsyncIterator
from typing import Any

from answerback.provider import Address, Button, Inbound, Message, MessageKind, ProviderContext, Reply
from answerback_providers.telegram import Telegram
from answerback_sandbox import Sandbox

ANA = 1001
BOT = 7_000_000_001
TOKEN = f"{BOT}:sandbox-of-answerback-not-a-secret0"
YES_NO = (Button("Yes", "y1"), Button("No", "n1"))


def provider(api_base: str = "http://127.0.0.1:9", *, public_url: str = "", **settings: Any) -> Telegram:
    options = Telegram.Settings.model_validate({"token": TOKEN, "api_base": api_base, **settings})
    return Telegram("telegram", options, ProviderContext(public_url=public_url))


@contextlib.asynccontextmanager
async def connected(box: Sandbox, **settings: Any) -> AsyncIterator[Telegram]:
    """A provider that is open at the sandbox."""
    telegram = provider(box.url, **settings)
    try:
        await telegram.open()
        yield telegram
    finally:
        await telegram.close()


def to(place: int = ANA) -> Address:
    return Address("telegram", str(ANA), str(place))


def question(title: str = "Deploy now?", *, place: int = ANA, **fields: Any) -> Message:
    return Message(to(place), MessageKind.QUESTION, title, **{"delivery_id": "d1", **fields})


def outcome(title: str = "✅ You chose “Yes” · 14:02. Going on.", **fields: Any) -> Message:
    return Message(to(), MessageKind.OUTCOME, title, **fields)


def message_update(**fields: Any) -> dict[str, Any]:
    """An update with a text message from Ana in her private chat; a field that is None is left out."""
    message = {
        "message_id": 12,
        "from": {"id": ANA, "is_bot": False, "first_name": "Ana"},
        "chat": {"id": ANA, "type": "private", "first_name": "Ana"},
        "date": 1_700_000_000,
        "text": "coding",
        **fields,
    }
    return {"update_id": 5, "message": {key: value for key, value in message.items() if value is not None}}


def tap_update(**fields: Any) -> dict[str, Any]:
    """An update with a tap of Ana on a button of message 9; a field that is None is left out."""
    query = {
        "id": "cb77",
        "from": {"id": ANA, "is_bot": False, "first_name": "Ana"},
        "chat_instance": "1",
        "message": {"message_id": 9, "date": 1, "chat": {"id": ANA, "type": "private"}, "text": "?"},
        "data": "y1",
        **fields,
    }
    return {
        "update_id": 6,
        "callback_query": {key: value for key, value in query.items() if value is not None},
    }


def parse(update: object) -> list[Reply]:
    found = provider().parse(Inbound(body=json.dumps(update).encode()))
    assert all(isinstance(item, Reply) for item in found)
    return [item for item in found if isinstance(item, Reply)]


def only_reply(update: object) -> Reply:
    (reply,) = parse(update)
    return reply
