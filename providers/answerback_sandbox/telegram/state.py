"""Who and what there is: people, chats, messages, buttons."""

from collections.abc import Mapping
from dataclasses import dataclass, field
from enum import StrEnum


class ChatKind(StrEnum):
    """The kinds of chat; the values are the Bot API's."""

    PRIVATE = "private"
    GROUP = "supergroup"
    BASIC = "group"  # as small groups begin; one day they become supergroups, with another id


@dataclass(frozen=True, slots=True)
class Person:
    """Someone with a phone."""

    id: int
    first_name: str
    username: str | None = None
    language_code: str = "en"


@dataclass(frozen=True, slots=True)
class Entity:
    """A stretch of text with a meaning; offset and length in UTF-16 units, `extra` in the Bot API's words."""

    type: str
    offset: int
    length: int
    extra: Mapping[str, object] = field(default_factory=dict)


@dataclass(frozen=True, slots=True)
class Button:
    """One inline button: a tap sends `data` to the bot, or opens `url`."""

    text: str
    data: str | None = None
    url: str | None = None


Rows = tuple[tuple[Button, ...], ...]


@dataclass(frozen=True, slots=True)
class File:
    """A file that somebody sent. `kind` is the message's field: voice, photo, document or video."""

    id: str
    kind: str
    name: str
    content_type: str
    content: bytes

    @property
    def path(self) -> str:
        """Where it is in the bot's file store."""
        return f"{self.kind}/{self.id}"


@dataclass(frozen=True, slots=True)
class Message:
    """One message as it stands now; times in microseconds since the Unix epoch.

    `id` is unique in its chat only, as in Telegram. `reply_to` is the id of a message of the same chat.
    """

    chat_id: int
    id: int
    sender_id: int
    text: str
    sent_at: int
    entities: tuple[Entity, ...] = ()
    rows: Rows = ()
    reply_to: int | None = None
    edited_at: int | None = None
    shows_edited: bool = False
    force_reply: bool = False
    link_preview: Mapping[str, object] | None = None
    file: File | None = None  # then `text` is its caption
    forwarded: bool = False
    as_chat: int | None = None  # an administrator who writes as the group, or a channel
    marks: Mapping[str, object] = field(default_factory=dict)  # of a service message

    @property
    def buttons(self) -> tuple[Button, ...]:
        """All buttons in reading order."""
        return tuple(button for row in self.rows for button in row)


@dataclass(frozen=True, slots=True)
class Callback:
    """A tap on a button, and what the bot answered to it: a toast, or an alert that has to be closed."""

    id: str
    person_id: int
    chat_id: int
    message_id: int
    button: int
    tapped_at: int
    answered: bool = False
    text: str = ""
    alert: bool = False
    url: str = ""


@dataclass(slots=True)
class Chat:
    """A chat and what stands in it. `started`: the bot may write here. `blocked`: the person shut it out."""

    id: int
    kind: ChatKind
    title: str
    members: tuple[int, ...]
    started: bool = True
    blocked: bool = False
    messages: dict[int, Message] = field(default_factory=dict)
    action: str = ""
    action_until: int = 0
    last_id: int = 0
    moved_to: int | None = None  # the supergroup that it became
