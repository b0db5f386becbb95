"""Who and what there is on Twilio's side: handsets, messages, templates, files. Times in microseconds."""

from collections.abc import Mapping
from dataclasses import dataclass, field
from enum import StrEnum


class Status(StrEnum):
    """https://www.twilio.com/docs/messaging/api/message-resource#message-status-values"""

    QUEUED = "queued"
    SENT = "sent"
    DELIVERED = "delivered"
    READ = "read"
    FAILED = "failed"
    UNDELIVERED = "undelivered"
    RECEIVED = "received"


@dataclass(frozen=True, slots=True)
class QuickReply:
    """A button under a message: `payload` goes back to the sender of the message."""

    title: str
    payload: str


@dataclass(frozen=True, slots=True)
class File:
    """A file in a message."""

    sid: str
    content_type: str
    content: bytes


@dataclass(frozen=True, slots=True)
class Content:
    """A content resource: `approved` ones are taken outside the 24 hours too."""

    sid: str
    friendly_name: str
    language: str
    variables: Mapping[str, str]
    types: Mapping[str, Mapping[str, object]]
    created_at: int
    approved: bool = False


@dataclass(frozen=True, slots=True)
class Note:
    """One WhatsApp message as it stands now; `mine` is from the handset's owner to the sender."""

    sid: str
    handset: str
    mine: bool
    body: str
    at: int
    status: Status
    error: int = 0
    buttons: tuple[QuickReply, ...] = ()
    files: tuple[File, ...] = ()
    reply_to: str = ""
    tapped: QuickReply | None = None
    content_sid: str = ""
    callback: str = field(default="", repr=False)


@dataclass(frozen=True, slots=True)
class Call:
    """One call of the REST API and what it was answered with, so that both can be held against a description.

    `answer` is empty where the connection was cut. A body and an answer hold what people write.
    """

    method: str
    path: str
    query: tuple[tuple[str, str], ...] = field(repr=False)
    content_type: str
    body: bytes = field(repr=False)
    signed_in: bool
    status: int
    answer: bytes = field(repr=False)


@dataclass(slots=True)
class Handset:
    """Someone with WhatsApp. `address` is their number, or the opaque id of someone who shows none."""

    address: str
    name: str
    blocked: bool = False
    last_wrote_at: int | None = None
    notes: dict[str, Note] = field(default_factory=dict)
