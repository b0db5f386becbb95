"""What people do on their phones: type, tap, start, block."""

import re

from answerback_sandbox.errors import SandboxError
from answerback_sandbox.telegram import wire
from answerback_sandbox.telegram.entities import found, utf16_length
from answerback_sandbox.telegram.limits import MAX_TEXT
from answerback_sandbox.telegram.state import Button, Callback, Chat, ChatKind, Message
from answerback_sandbox.telegram.world import World

FIRST_CALLBACK = 4_300_000_000_000_000_000


def type_text(world: World, person_id: int, text: str, reply_to: int | None, chat_id: int | None) -> Message:
    """A person sends a text, kept verbatim; the bot gets an update if it may see it. Raises SandboxError."""
    chat = world.chat_of(person_id, chat_id)
    if chat.blocked:
        raise SandboxError("the bot is blocked here")
    if not text.strip():
        raise SandboxError("a message needs a text")
    if any("\ud800" <= character <= "\udfff" for character in text):
        raise SandboxError("no phone can type a lone surrogate")
    if utf16_length(text) > MAX_TEXT:
        raise SandboxError(f"a message has at most {MAX_TEXT} characters")
    if reply_to is not None and reply_to not in chat.messages:
        raise SandboxError(f"there is no message {reply_to} to reply to")
    chat.started = True
    draft = Message(chat.id, 0, person_id, text, world.clock(), found(text), reply_to=reply_to)
    message = world.post(chat, draft)
    if visible_to_bot(world, chat, message):
        world.updates.put("message", world.message_json(message))
    return message


def visible_to_bot(world: World, chat: Chat, message: Message) -> bool:
    """Privacy mode: in groups a bot sees commands, mentions of itself and replies to itself only."""
    if chat.kind is ChatKind.PRIVATE or not world.privacy:
        return True
    replied = chat.messages.get(message.reply_to) if message.reply_to is not None else None
    if replied is not None and replied.sender_id == world.bot_id:
        return True
    command = re.match(r"/\w+(@\w+)?", message.text)
    if command is not None:
        return (command.group(1) or f"@{world.username}").lower() == f"@{world.username}".lower()
    return f"@{world.username}".lower() in message.text.lower()


def start(world: World, person_id: int, payload: str) -> Message:
    """A person presses Start, perhaps from a deep link (https://core.telegram.org/bots/features#deep-linking).

    The payload is up to 64 characters of A-Z a-z 0-9 _ and -. Raises SandboxError for another.
    """
    if not re.fullmatch(r"[A-Za-z0-9_-]{0,64}", payload):
        raise SandboxError("a start payload is up to 64 characters of A-Z a-z 0-9 _ and -")
    unblock(world, person_id)
    return type_text(world, person_id, f"/start {payload}".rstrip(), None, None)


def tap(world: World, person_id: int, message_id: int, button: str | int, chat_id: int | None) -> Button:
    """A person taps a button, named by its label or its place (from 0). Raises SandboxError.

    A callback button sends the bot a `callback_query` with the message as it stands; a URL button only opens.
    """
    chat = world.chat_of(person_id, chat_id)
    message = chat.messages.get(message_id)
    if message is None:
        raise SandboxError(f"there is no message {message_id}")
    if chat.blocked:
        raise SandboxError("the bot is blocked here")
    index = _index(message, button)
    tapped = message.buttons[index]
    if tapped.data is not None:
        _send_callback(world, person_id, message, index, tapped.data)
    return tapped


def _index(message: Message, button: str | int) -> int:
    labels = [item.text for item in message.buttons]
    if isinstance(button, str) and button in labels:
        return labels.index(button)
    if isinstance(button, int) and 0 <= button < len(labels):
        return button
    raise SandboxError(f"message {message.id} has no button {button!r}, but {labels}")


def _send_callback(world: World, person_id: int, message: Message, index: int, data: str) -> None:
    callback_id = str(FIRST_CALLBACK + len(world.callbacks))
    world.callbacks[callback_id] = Callback(
        callback_id, person_id, message.chat_id, message.id, index, world.clock()
    )
    world.updates.put(
        "callback_query",
        {
            "id": callback_id,
            "from": wire.user(world.people[person_id]),
            "message": world.message_json(message),
            "chat_instance": str(7_000_000_000_000 + abs(message.chat_id)),
            "data": data,
        },
    )


def block(world: World, person_id: int) -> None:
    """A person blocks the bot, which is told. Again is fine and does nothing. Raises SandboxError."""
    chat = world.chat_of(person_id, None)
    if not chat.blocked:
        chat.blocked = True
        world.bot_membership(chat, person_id, "member", "kicked")


def unblock(world: World, person_id: int) -> None:
    """A person lets the bot in again, which is told. Again is fine and does nothing. Raises SandboxError."""
    chat = world.chat_of(person_id, None)
    if chat.blocked:
        chat.blocked = False
        world.bot_membership(chat, person_id, "kicked", "member")


def kick(world: World, chat_id: int) -> None:
    """The bot is thrown out of a group. Raises SandboxError for what is not a group."""
    chat = world.chats.get(chat_id)
    if chat is None or chat.kind is ChatKind.PRIVATE:
        raise SandboxError(f"there is no group {chat_id}")
    if not chat.blocked:
        chat.blocked = True
        world.bot_membership(chat, chat.members[0], "member", "kicked")
