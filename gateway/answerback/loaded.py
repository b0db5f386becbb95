"""loaded: what a delivery needs to be put into words, remembered from when it was made, or looked up."""

import time
from dataclasses import dataclass

from answerback.context import Context
from answerback.known import Known
from answerback.model import Interaction, InteractionStatus, Json
from answerback.outbox import SHOWN
from answerback.steps import left_of, step_of
from answerback.store import Row, Tx, contacts, deliveries, gone, interactions
from answerback.store.codec import loads
from answerback.wording import Told


@dataclass(frozen=True, slots=True)
class Loaded:
    """What a delivery needs to be put into words."""

    record: Interaction | None
    told: Told
    as_of: int  # when `told.now` was, by this process's timer, microseconds
    thread: tuple[str, ...]  # ids of our earlier messages at the same place about the same thing
    needless: bool = False  # it stands in for a message that has arrived after all
    lost: bool = False  # where it goes is not its person's account any more


def remembered(row: Row) -> Loaded | None:
    """What was known when the delivery was made, if that was a moment ago."""
    known: Known | None = row.get("known")
    if known is None or time.monotonic() > known.until:
        return None
    names = {known.who.id: known.who.name} if known.who is not None else {}
    return Loaded(known.record, Told(known.person, names, known.at), known.as_of, known.thread)


def load(tx: Tx, context: Context, row: Row) -> Loaded:
    """Everything, from the database."""
    record = interactions.get(tx, row["interaction_id"]) if row["interaction_id"] else None
    person = contacts.person(tx, row["contact_id"])
    who = contacts.person(tx, record.answered_by) if record is not None else None
    names = {who.id: who.name} if who is not None else {}
    picks = _pick_tokens(tx, row, context)
    told = Told(person, names, tx.now, picks)
    return Loaded(record, told, tx.as_of, _thread(tx, row), has_arrived(tx, row), gone.is_lost(tx, row))


def needless(row: Row, record: Interaction | None) -> bool:
    """Whether it asks what nobody can answer any more, at all or there."""
    asks = row["kind"] in ("question", "reminder")
    return asks and (record is None or record.status is not InteractionStatus.PENDING or not row["open"])


def has_arrived(tx: Tx, row: Row) -> bool:
    """Whether the message that this one stands in for, because it may have been lost, was not lost."""
    instead_of = loads(row["content"]).get("unless", "")
    earlier = tx.one(deliveries.GET, id=instead_of) if instead_of else None
    return earlier is not None and earlier["status"] in SHOWN


def _thread(tx: Tx, row: Row) -> tuple[str, ...]:
    """Ids of the messages that this one edits, answers or follows."""
    if row["of_delivery"]:
        earlier = tx.one(deliveries.GET, id=row["of_delivery"])
        return tuple(loads(earlier["message_ids"])) if earlier else ()
    if row["kind"] == "reminder":
        same = [
            d
            for d in tx.all(deliveries.OF, interaction_id=row["interaction_id"])
            if d["provider"] == row["provider"] and d["place"] == row["place"] and d["kind"] == "question"
        ]
        return tuple(id for d in same for id in loads(d["message_ids"]))
    return ()


def _pick_tokens(tx: Tx, row: Row, context: Context) -> Json:
    """For "which one?": the open questions of this account, each with the token of its own delivery.

    Of several that are asked one by one, those that are left: whoever reads the first, and it is answered
    already, would pick what they do not mean.
    """
    content = loads(row["content"])
    found = []
    for id in content.get("args", {}).get("deliveries", ()):
        delivery = tx.one(deliveries.GET, id=id)
        record = interactions.get(tx, delivery["interaction_id"]) if delivery else None
        if delivery and record is not None and record.status is InteractionStatus.PENDING:
            found.append((left_of(record, step_of(delivery, record)), context.tokens.of(id)))
    return found
