"""What a service says of a message that it took: moves a delivery forward, or sends it another way."""

from dataclasses import asdict

from answerback.backoff import AWAY, pause
from answerback.model import InteractionStatus
from answerback.outbox import SHOWN, Follows, Outbox
from answerback.provider import Receipt
from answerback.store import (
    Row,
    Tx,
    audit,
    claimed,
    contacts,
    deliveries,
    gone,
    interactions,
    notices,
    parked,
    places,
)
from answerback.store.codec import dumps, loads
from answerback.succession import gave_up
from answerback.tokens import hashed

RANK = {"unknown": 1, "sent": 2, "delivered": 3, "read": 4}
ARRIVED = frozenset({"delivered", "read"})
ASKS = frozenset({"question", "reminder"})
AT_ONCE = 250_000  # microseconds in which nobody has seen a message, and most services have said they took it
CLOSED = "it takes a template only, until this person writes again"


def sent(tx: Tx, outbox: Outbox, row: Row, ids: tuple[str, ...]) -> Follows:
    """The service took a message; what follows from receipts that were faster, too.

    When its question was closed while this copy was on its way, the copy is told how it ended. One that was
    sent by two, because a claim had lapsed, is two copies.
    """
    taken = claimed.sent(tx, row, ids)
    if row["notice_id"]:
        notices.arrived(tx, row)
    copy = row | {"message_ids": dumps(list(ids)), "open": taken.is_open}
    asks = row["kind"] in ASKS and bool(taken.news or taken.ids)
    if asks and not taken.news:
        interactions.held(tx, row["interaction_id"])  # closed before the copy is there, nobody would tell it
        copy = claimed.twice(tx, row, taken.ids, lambda id: hashed(outbox.tokens.of(id)))
    follows = Follows()
    for receipt in taken.parked:
        _join(follows, note(tx, outbox, row["provider"], Receipt(**loads(receipt))))
    if not asks:
        return follows
    audit.add(tx, row["interaction_id"], "delivered", actor=row["provider"])
    if copy["open"]:
        return follows
    record = interactions.get(tx, row["interaction_id"])
    closed = record is not None and record.status is not InteractionStatus.PENDING
    if record is not None and closed and not gone.is_lost(tx, row):
        follows.rows = [outbox.outcome(tx, record, copy)]
    return follows


def note(tx: Tx, outbox: Outbox, provider: str, receipt: Receipt) -> Follows:
    """Receipts come out of order, twice, or before we know the message: then they wait for it.

    Only a higher rank counts, and a failure of what was not read. What failed for good goes to the person's
    next address, what has to wait or needs a template goes out again.
    """
    row = _taken(tx, provider, receipt)
    if row is None:
        if parked.park(tx, provider, receipt.message_id, dumps(asdict(receipt))):
            return Follows()
        row = _taken(tx, provider, receipt)  # another process has just written down that it was sent
    if row is None:
        return Follows()
    if row["status"] == "queued":
        return _unsure(tx, outbox, row, receipt)
    if row["status"] == "failed":
        return _after_all(tx, outbox, row, receipt)
    if receipt.status in RANK:
        if RANK[receipt.status] > RANK[row["status"]]:
            _becomes(tx, row, receipt.status, receipt.reason)
        return Follows()
    return Follows() if row["status"] == "read" else _failed(tx, outbox, row, receipt)


def tapped(tx: Tx, outbox: Outbox, row: Row, message_id: str) -> Follows:
    """Somebody tapped a message of this delivery that nobody knew of: its `send` never heard that it arrived.

    If another copy arrived since, this is one more. Either way it is told how its question ends.
    """
    if row["status"] == "queued" and _has_just_begun(tx, row):
        return Follows()  # whoever sends it will know in a moment
    record = interactions.held(tx, row["interaction_id"])  # first, as who answers does
    if row["status"] == "queued":
        return sent(tx, outbox, row, (message_id,))
    if row["status"] not in SHOWN | {"unknown"}:
        return note(tx, outbox, row["provider"], Receipt("", message_id, "delivered", delivery_id=row["id"]))
    if parked.known(tx, row["provider"], message_id, row["id"]) is None:
        return Follows()  # another tap on it was quicker
    copy = claimed.twice(tx, row, (message_id,), lambda id: hashed(outbox.tokens.of(id)))
    if record is None or record.status is InteractionStatus.PENDING:
        return Follows()
    return Follows([outbox.outcome(tx, record, copy)])


def answered(tx: Tx, outbox: Outbox, row: Row) -> Follows:
    """Somebody answers in words what nobody knows to have arrived: so it has, whatever its id may be."""
    if row["kind"] not in ASKS or row["status"] != "queued" or _has_just_begun(tx, row):
        return Follows()
    interactions.held(tx, row["interaction_id"])  # first, as who answers does
    return sent(tx, outbox, row, ())


def _has_just_begun(tx: Tx, row: Row) -> bool:
    until = row["next_attempt_at"] or 0
    is_first = bool(row["lease_owner"]) and row["attempts"] == 1
    return is_first and bool(tx.now <= until - deliveries.LEASE + AT_ONCE)


def _taken(tx: Tx, provider: str, receipt: Receipt) -> Row | None:
    """The delivery that a receipt is about, held; None as long as the receipt comes too early for it."""
    row = _delivery(tx, provider, receipt)
    if row is None or _is_too_early(tx, row, receipt):
        return None
    if receipt.status not in RANK and row["interaction_id"]:  # first, as who answers does
        interactions.held(tx, row["interaction_id"])
    row = tx.one(deliveries.HELD, id=row["id"])  # of two receipts at once, the second sees the first's doing
    return None if row is None or _is_too_early(tx, row, receipt) else row


def _delivery(tx: Tx, provider: str, receipt: Receipt) -> Row | None:
    """By its message id; or by its own, where `send` never heard what the message is called."""
    row = tx.one(deliveries.BY_MESSAGE, provider=provider, message_id=receipt.message_id)
    if row is not None:
        return row
    row = tx.one(deliveries.GET, id=receipt.delivery_id or receipt.message_id)
    return row if row is not None and row["provider"] == provider else None


def _is_too_early(tx: Tx, row: Row, receipt: Receipt) -> bool:
    """Whether somebody is sending it right now, and will know its message id in a moment.

    That a message arrived is never too early.
    """
    unowned = row["lease_owner"] in ("", deliveries.ITS_TURN)
    under_way = row["status"] == "queued" and not unowned and bool(row["next_attempt_at"] > tx.now)
    return under_way and receipt.status not in ARRIVED


def _unsure(tx: Tx, outbox: Outbox, row: Row, receipt: Receipt) -> Follows:
    """It waits to go out again. One that was never known to be taken may be the one that this is about;

    of one that the service gave back (it has an id) only that it arrived after all is news.
    """
    given_back = bool(loads(row["message_ids"]))
    if receipt.status in ARRIVED or (receipt.status in RANK and not given_back):
        ids = dict.fromkeys([*loads(row["message_ids"]), receipt.message_id])
        follows = sent(tx, outbox, row, tuple(ids))
        if receipt.status in ARRIVED:
            _becomes(tx, row | {"status": "sent"}, receipt.status, receipt.reason)
        return follows
    if given_back or not row["attempts"]:
        return Follows()
    return _failed(tx, outbox, row, receipt)


def _after_all(tx: Tx, outbox: Outbox, row: Row, receipt: Receipt) -> Follows:
    """It was given up because the question was closed, and had arrived: it is told how that ended."""
    if receipt.status not in ARRIVED or row["error"] != deliveries.NEEDLESS:
        return Follows()
    parked.known(tx, row["provider"], receipt.message_id, row["id"])
    _becomes(tx, row, receipt.status, receipt.reason)
    record = interactions.get(tx, row["interaction_id"])
    if record is None or record.status is InteractionStatus.PENDING or row["kind"] not in ASKS:
        return Follows()
    return Follows([outbox.outcome(tx, record, row | {"message_ids": dumps([receipt.message_id])})])


def _failed(tx: Tx, outbox: Outbox, row: Row, receipt: Receipt) -> Follows:
    if receipt.status == "window" and _may_be_open(tx, row):
        tx.run(contacts.NOT_SEEN, address=row["address_id"])
        return _again(tx, row, tx.now, CLOSED)
    if receipt.status == "wait" and tx.now - row["created_at"] <= AWAY:
        return _again(tx, row, tx.now + round(pause(row["attempts"]) * 1e6), receipt.reason)
    _becomes(tx, row, "failed", receipt.reason)
    return given_up(tx, outbox, row, receipt.reason, dead=receipt.address_dead)


def _may_be_open(tx: Tx, row: Row) -> bool:
    """Whether a message may have gone out as to somebody who had just written: then it is sent otherwise.

    Of several that were on their way at once the first one's receipt makes us forget that they wrote.
    """
    return row["attempts"] <= 1 or contacts.last_wrote(tx, row["address_id"]) is not None


def given_up(tx: Tx, outbox: Outbox, row: Row, why: str, *, dead: bool) -> Follows:
    """A message failed for good: the address is marked if it is dead, and the next one is asked."""
    marks = dead and bool(row["address_id"])
    if marks:
        places.reached(tx, row["provider"], row["place"], why or "the service says so")
    follows = gave_up(outbox, tx, row)
    follows.dead = [row["provider"]] if marks else []
    return follows


def _becomes(tx: Tx, row: Row, status: str, why: str) -> None:
    tx.run(deliveries.RECEIPT, key=row["id"], old=row["status"], new_status=status, why=why)


def _again(tx: Tx, row: Row, at: int, why: str) -> Follows:
    tx.run(deliveries.AGAIN, key=row["id"], old=row["status"], at=at, why=why)
    return Follows([row | {"lease_owner": ""}])


def _join(follows: Follows, more: Follows) -> None:
    follows.rows += more.rows
    follows.unreached += more.unreached
    follows.dead += more.dead
