"""What happened to one question, in order: from the audit, the messages and the events that came in."""

from dataclasses import dataclass

from answerback.context import Context
from answerback.errors import NotFound
from answerback.store import Row, Tx, audit, deliveries, interactions, replies

DELIVERED = "delivered"  # in the audit; what became of each message stands with the message
DECLINED = "declined"  # its actor is a provider
REPLY = "reply"


@dataclass(frozen=True, slots=True)
class Event:
    """One thing that happened, or is planned. Of what was said it tells nothing.

    `event` is an event of the audit, `reply`, or the status of a message (`queued`, `sent`, `failed`, …);
    `kind` is then what message it is, or what became of the reply; `error` is a sentence.
    """

    at: int
    event: str
    actor: str = ""  # a contact; an agent for `asked`; an API key for what an operator did
    provider: str = ""
    kind: str = ""
    error: str = ""


@dataclass(frozen=True, slots=True)
class History:
    """All events of an interaction, oldest first, and when the gateway does something by itself next."""

    events: tuple[Event, ...]
    next_at: int | None


class Historian:
    """Reads only."""

    def __init__(self, context: Context) -> None:
        self._context = context

    async def of(self, id: str) -> History:
        """What happened to a question. Raises `NotFound`."""
        return await self._context.store.snapshot(lambda tx: _of(tx, id))


def _of(tx: Tx, id: str) -> History:
    row = tx.one(interactions.GET, id=id)
    if row is None:
        raise NotFound("There is no interaction with this id.")
    sent = tx.all(deliveries.OF, interaction_id=id)
    steps = [_step(row) for row in audit.of(tx, id) if row["event"] != DELIVERED]
    events = [  # of the same moment, in the order of what follows from what
        *steps[:1],
        *map(_reply, tx.all(replies.ABOUT, interaction_id=id)),
        *steps[1:],
        *map(_message, sent),
    ]
    planned = [row["next_action_at"], row["resume_next_at"], *(each["next_attempt_at"] for each in sent)]
    return History(
        tuple(sorted(events, key=lambda event: event.at)),
        min((at for at in planned if at is not None), default=None),
    )


def _step(row: Row) -> Event:
    if row["event"] == DECLINED:
        return Event(row["at"], row["event"], provider=row["actor"])
    return Event(row["at"], row["event"], row["actor"])


def _message(row: Row) -> Event:
    at = row["sent_at"] or row["created_at"]
    return Event(at, row["status"], row["contact_id"], row["provider"], row["kind"], row["error"])


def _reply(row: Row) -> Event:
    return Event(row["received_at"], REPLY, provider=row["provider"], kind=row["outcome"], error=row["error"])
