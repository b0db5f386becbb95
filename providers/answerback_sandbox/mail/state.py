"""What there is in the world of mail: mailboxes, and letters as they lie in them. Times in microseconds."""

from collections.abc import Mapping
from dataclasses import dataclass, field
from enum import StrEnum


class Style(StrEnum):
    """Whose way of quoting and of writing headers a reply has."""

    GMAIL = "gmail"
    OUTLOOK = "outlook"
    APPLE = "apple"


@dataclass(frozen=True, slots=True)
class Link:
    """A link or a button in a mail's HTML; http and https only."""

    label: str
    url: str


@dataclass(frozen=True, slots=True)
class File:
    """A file in a mail."""

    name: str
    content_type: str
    content: bytes = field(repr=False)


@dataclass(frozen=True, slots=True)
class Letter:
    """One mail as its reader sees it. `uid` is its number in the mailbox; `mine`: its owner sent it.

    `headers` are all others by lower-case name, the topmost of each; `raw` the octets as they were
    delivered. `at` is when it was delivered.
    """

    uid: int
    message_id: str
    sender: str
    sender_name: str
    to: str
    reply_to: str
    subject: str
    text: str
    html: str
    at: int
    mine: bool = False
    read: bool = False
    links: tuple[Link, ...] = ()
    files: tuple[File, ...] = ()
    headers: Mapping[str, str] = field(default_factory=dict, repr=False)
    raw: bytes = field(default=b"", repr=False)


@dataclass(slots=True)
class Kept:
    """One mail in a mailbox: its flags are IMAP's; one with `mine` was sent from here, and IMAP hides it."""

    uid: int
    raw: bytes = field(repr=False)
    at: int
    mine: bool = False
    flags: set[str] = field(default_factory=set)


@dataclass(slots=True)
class Mailbox:
    """Somebody's mail. `away` answers all that comes; `bounces` takes mail and then sends it back."""

    address: str
    name: str
    validity: int
    away: str = ""
    bounces: bool = False
    kept: dict[int, Kept] = field(default_factory=dict)
    next_uid: int = 1

    @property
    def inbox(self) -> list[Kept]:
        """What came in, oldest first."""
        return [item for item in self.kept.values() if not item.mine]
