"""Telegram on the phone: what its chats show, as JSON, and what a person does there."""

import json
from collections.abc import Sequence
from typing import Protocol

from answerback_sandbox.changes import Changes
from answerback_sandbox.phone.files import shown, telegram_kind, upload
from answerback_sandbox.phone.http import Act, Json, number, text
from answerback_sandbox.telegram import hands, wire
from answerback_sandbox.telegram.state import Button, Callback, Chat, ChatKind, Message
from answerback_sandbox.telegram.world import CALLBACK_SECONDS, World


class Controls(Protocol):
    """What people can do on Telegram, as the sandbox offers it."""

    world: World

    @property
    def changes(self) -> Changes: ...
    def chats(self, person: int) -> tuple[Chat, ...]: ...
    def callbacks(self, person: int) -> tuple[Callback, ...]: ...
    def type(
        self, person: int, text: str, reply_to: int | None = None, chat: int | None = None
    ) -> Message: ...
    def tap(self, person: int, message_id: int, button: str | int, chat: int | None = None) -> Button: ...
    def press_start(self, person: int, payload: str = "") -> Message: ...
    def block(self, person: int) -> None: ...
    def unblock(self, person: int) -> None: ...


class Telegram:
    """The app on everybody's phone. It knows what each of them has seen, which Telegram tells no bot."""

    def __init__(self, box: Controls) -> None:
        self._box = box
        self._seen: dict[tuple[int, int], int] = {}  # (person, chat) → the last message they looked at

    @property
    def actions(self) -> dict[str, Act]:
        """What a person can do, by the name it has in the address."""
        return {
            "type": self._type,
            "tap": self._tap,
            "start": self._start,
            "block": self._block,
            "unblock": self._unblock,
            "seen": self._look,
        }

    def shows(self, person: int) -> Json:
        """The chats of a person and what the bot answered to their taps. Raises SandboxError."""
        world, taps = self._box.world, self._box.callbacks(person)
        chats = [self._chat(chat, person, taps) for chat in self._box.chats(person)]
        return {
            "bot": {"name": world.name, "username": world.username},
            "chats": chats,
            "notes": [_note(index, tap) for index, tap in enumerate(taps) if tap.text],
            "commands": _commands(world),
        }

    def _chat(self, chat: Chat, person: int, taps: Sequence[Callback]) -> Json:
        world = self._box.world
        seen = self._seen.get((person, chat.id), 0)
        busy = {tap.message_id: tap.button for tap in taps if tap.chat_id == chat.id and _is_busy(world, tap)}
        every = chat.messages.values()
        return {
            "id": chat.id,
            "title": world.name if chat.kind is ChatKind.PRIVATE else chat.title,
            "private": chat.kind is ChatKind.PRIVATE,
            "people": len(chat.members),
            "started": chat.started and bool(chat.messages),
            "blocked": chat.blocked,
            "busy_until": wire.seconds(chat.action_until) if chat.action_until > world.clock() else 0,
            "unread": sum(item.id > seen and item.sender_id != person for item in every),
            "messages": [_message(world, item, person, busy.get(item.id)) for item in every],
        }

    def _type(self, person: int, body: Json) -> Json:
        words, reply_to, chat = text(body, "text"), number(body, "reply_to"), number(body, "chat")
        return {"message_id": self._box.type(person, words, reply_to, chat).id}

    def send_file(self, person: int, body: Json) -> Json:
        """A person sends a file, `text` is its caption; in its own route, because it is long."""
        sent, caption = upload(body), text(body, "text")
        message = hands.send_file(
            self._box.world, person, telegram_kind(sent.content_type), sent.content,
            name=sent.name, content_type=sent.content_type, caption=caption,
            reply_to=number(body, "reply_to"), chat_id=number(body, "chat"),
        )  # fmt: skip
        return {"message_id": message.id}

    def _tap(self, person: int, body: Json) -> Json:
        message_id, chat = int(body["message_id"]), number(body, "chat")
        return {"url": self._box.tap(person, message_id, body["button"], chat).url}

    def _start(self, person: int, body: Json) -> Json:
        return {"message_id": self._box.press_start(person, str(body.get("payload") or "")).id}

    def _block(self, person: int, body: Json) -> Json:
        self._box.block(person)
        return {}

    def _unblock(self, person: int, body: Json) -> Json:
        self._box.unblock(person)
        return {}

    def _look(self, person: int, body: Json) -> Json:
        """A person has looked at a chat: nothing in it is new any more."""
        chat = self._box.world.chat_of(person, number(body, "chat"))
        self._seen[person, chat.id] = max(chat.messages, default=0)
        self._box.changes.touch()
        return {}


def _is_busy(world: World, tap: Callback) -> bool:
    return not tap.answered and tap.tapped_at >= world.clock() - CALLBACK_SECONDS * 1_000_000


def _message(world: World, message: Message, person_id: int, busy: int | None) -> Json:
    return {
        "id": message.id,
        "mine": message.sender_id == person_id,
        "bot": message.sender_id == world.bot_id,
        "sender": _sender(world, message),
        "text": message.text,
        "files": _files(message),
        "forwarded": message.forwarded,
        "notice": "This group is a supergroup now." if message.marks else "",
        "entities": [wire.entity(item) for item in message.entities],
        "at": wire.seconds(message.sent_at),
        "edited": message.shows_edited,
        "edit": message.edited_at or 0,
        "reply_to": message.reply_to,
        "force_reply": message.force_reply,
        "busy": busy,
        "rows": [[{"text": item.text, "url": item.url} for item in row] for row in message.rows],
    }


def _sender(world: World, message: Message) -> str:
    if message.as_chat is not None:
        return world.chats[message.chat_id].title if message.as_chat == message.chat_id else "A channel"
    if message.sender_id == world.bot_id:
        return world.name
    return world.people[message.sender_id].first_name


def _files(message: Message) -> list[Json]:
    file = message.file
    if file is None:
        return []
    # A photo and a voice message have no name on Telegram.
    name = file.name if file.kind == "document" else ""
    return [shown(file.kind, file.content_type, file.content, name)]


def _note(index: int, tap: Callback) -> Json:
    return {"id": index, "text": tap.text, "alert": tap.alert}


def _commands(world: World) -> list[dict[str, str]]:
    wanted = ("all_private_chats", "default")
    lists = {json.loads(scope)["type"]: items for (scope, _), items in world.commands.items()}
    return next((lists[kind] for kind in wanted if kind in lists), [])
