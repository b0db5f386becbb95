"""known: what the transaction that made a delivery knew of it, so that it can be sent without a look."""

import time
from collections.abc import Callable
from dataclasses import dataclass

from answerback.model import Contact, Interaction
from answerback.store import Row, Tx, contacts
from answerback.store.codec import loads

FRESH = 1.0  # seconds that what was known when a delivery was made may be relied on


@dataclass(frozen=True, slots=True)
class Known:
    """What the transaction that made a delivery knew of it: sent at once, it needs no look at the database.

    `person` is told, `who` answered; `thread` are the ids of the messages that this one edits or follows.
    """

    record: Interaction | None
    person: Contact | None
    who: Contact | None
    thread: tuple[str, ...]
    at: int  # database time, microseconds
    as_of: int  # the same moment, or one before, by this process's timer, microseconds
    until: float  # monotonic time, seconds


Know = Callable[[], Known]  # only what is sent at once needs it


def known_of(tx: Tx, contact_id: str, record: Interaction | None, of: Row | None = None) -> Known:
    """Looked up now, for whoever is told; `of` is the delivery that is edited or followed."""
    person = contacts.person(tx, contact_id)
    who = contacts.person(tx, record.answered_by) if record is not None else None
    thread = tuple(loads(of["message_ids"])) if of is not None else ()
    return Known(record, person, who, thread, tx.now, tx.as_of, time.monotonic() + FRESH)
