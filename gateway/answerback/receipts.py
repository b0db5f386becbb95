"""What a service says later of a message that it took: moves a delivery forward, or sends it another way."""

from dataclasses import asdict

from answerback.backoff import AWAY, pause
from answerback.outbox import Outbox
from answerback.provider import Receipt
from answerback.store import Row, Tx, contacts, deliveries
from answerback.store.codec import dumps, loads

RANK = {"unknown": 1, "sent": 2, "delivered": 3, "read": 4}
CLOSED = "it takes a template only, until this person writes again"


def sent(tx: Tx, outbox: Outbox, row: Row, ids: tuple[str, ...]) -> tuple[bool, list[Row]]:
    """The service took a message: whether that was news, and what follows from receipts that were faster."""
    done, parked = deliveries.sent(tx, row, ids)
    rows: list[Row] = []
    for receipt in parked:
        rows += note(tx, outbox, row["provider"], Receipt(**loads(receipt)))
    return done, rows


def note(tx: Tx, outbox: Outbox, provider: str, receipt: Receipt) -> list[Row]:
    """Receipts come out of order, twice, or before we know the message: then they wait for it.

    Only a higher rank counts, and a failure of what was not read. What failed for good goes to the person's
    next address, what has to wait or needs a template goes out again. Returns the deliveries to dispatch.
    """
    row = tx.one(deliveries.BY_MESSAGE, provider=provider, message_id=receipt.message_id)
    if row is None:
        known = {"provider": provider, "message_id": receipt.message_id, "delivery_id": ""}
        tx.run(deliveries.PARK, **known, parked=dumps(asdict(receipt)))
        return []
    if row["status"] in ("failed", "queued"):  # queued: it goes out again, and this is about the first time
        return []
    if receipt.status in RANK:
        if RANK[receipt.status] > RANK[row["status"]]:
            _becomes(tx, row, receipt.status, receipt.reason)
        return []
    return [] if row["status"] == "read" else _failed(tx, outbox, row, receipt)


def _failed(tx: Tx, outbox: Outbox, row: Row, receipt: Receipt) -> list[Row]:
    if receipt.status == "window" and contacts.last_wrote(tx, row["address_id"]) is not None:
        tx.run(contacts.NOT_SEEN, address=row["address_id"])
        return _again(tx, row, tx.now, CLOSED)
    if receipt.status == "wait" and tx.now - row["created_at"] <= AWAY:
        return _again(tx, row, tx.now + round(pause(row["attempts"]) * 1e6), receipt.reason)
    _becomes(tx, row, "failed", receipt.reason)
    return outbox.next_provider(tx, row)


def _becomes(tx: Tx, row: Row, status: str, why: str) -> None:
    tx.run(deliveries.RECEIPT, key=row["id"], old=row["status"], new_status=status, why=why)


def _again(tx: Tx, row: Row, at: int, why: str) -> list[Row]:
    tx.run(deliveries.AGAIN, key=row["id"], old=row["status"], at=at, why=why)
    return [row | {"lease_owner": ""}]
