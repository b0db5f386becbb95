"""What a person's phone shows, as JSON for the page."""

import json
from collections.abc import Sequence
from typing import Any, Protocol

from answerback_sandbox.changes import Changes
from answerback_sandbox.faults import Faults
from answerback_sandbox.telegram import wire
from answerback_sandbox.telegram.state import Callback, Chat, ChatKind, Message, Person
from answerback_sandbox.telegram.world import CALLBACK_SECONDS, World

Json = dict[str, Any]


class Phones(Protocol):
    """What the page needs of the sandbox."""

    world: World
    faults: Faults

    @property
    def changes(self) -> Changes: ...
    @property
    def people(self) -> tuple[Person, ...]: ...
    def chats(self, person: int) -> tuple[Chat, ...]: ...
    def callbacks(self, person: int) -> tuple[Callback, ...]: ...


def phone(box: Phones, person_id: int) -> Json:
    """Everything a person sees now. Times are seconds since the Unix epoch. Raises SandboxError."""
    world = box.world
    taps = box.callbacks(person_id)
    return {
        "version": box.changes.version,
        "now": wire.seconds(world.clock()),
        "bot": {"name": world.name, "username": world.username},
        "people": [{"id": item.id, "name": item.first_name} for item in box.people],
        "person": person_id,
        "chats": [_chat(world, chat, person_id, taps) for chat in box.chats(person_id)],
        "notes": [_note(index, tap) for index, tap in enumerate(taps) if tap.text],
        "commands": _commands(world),
        "down": any(fault.calls is None for fault in box.faults.ahead),
    }


def _chat(world: World, chat: Chat, person_id: int, taps: Sequence[Callback]) -> Json:
    busy = {tap.message_id: tap.button for tap in taps if tap.chat_id == chat.id and _is_busy(world, tap)}
    return {
        "id": chat.id,
        "title": world.name if chat.kind is ChatKind.PRIVATE else chat.title,
        "private": chat.kind is ChatKind.PRIVATE,
        "people": len(chat.members),
        "started": chat.started and bool(chat.messages),
        "blocked": chat.blocked,
        "busy_until": wire.seconds(chat.action_until) if chat.action_until > world.clock() else 0,
        "messages": [_message(world, item, person_id, busy.get(item.id)) for item in chat.messages.values()],
    }


def _is_busy(world: World, tap: Callback) -> bool:
    return not tap.answered and tap.tapped_at >= world.clock() - CALLBACK_SECONDS * 1_000_000


def _message(world: World, message: Message, person_id: int, busy: int | None) -> Json:
    sender = world.name if message.sender_id == world.bot_id else world.people[message.sender_id].first_name
    return {
        "id": message.id,
        "mine": message.sender_id == person_id,
        "bot": message.sender_id == world.bot_id,
        "sender": sender,
        "text": message.text,
        "entities": [wire.entity(item) for item in message.entities],
        "at": wire.seconds(message.sent_at),
        "edited": message.shows_edited,
        "edit": message.edited_at or 0,
        "reply_to": message.reply_to,
        "force_reply": message.force_reply,
        "busy": busy,
        "rows": [[{"text": item.text, "url": item.url} for item in row] for row in message.rows],
    }


def _note(index: int, tap: Callback) -> Json:
    return {"id": index, "text": tap.text, "alert": tap.alert}


def _commands(world: World) -> list[dict[str, str]]:
    wanted = ("all_private_chats", "default")
    lists = {json.loads(scope)["type"]: items for (scope, _), items in world.commands.items()}
    return next((lists[kind] for kind in wanted if kind in lists), [])
