"""What a service says later of a message that it took: moves a delivery forward, never back."""

from answerback.provider import Receipt
from answerback.store import Tx, deliveries

RANK = {"queued": 0, "unknown": 1, "sent": 2, "delivered": 3, "read": 4}


def note(tx: Tx, provider: str, receipt: Receipt) -> None:
    """Receipts come out of order and twice: only a higher rank counts, and a failure of what is not read."""
    row = tx.one(deliveries.BY_MESSAGE, provider=provider, message_id=receipt.message_id)
    if row is None or row["status"] == "failed":
        return
    higher = RANK.get(receipt.status, -1) > RANK[row["status"]]
    if higher or (receipt.status == "failed" and row["status"] != "read"):
        tx.run(
            deliveries.RECEIPT,
            key=row["id"],
            old=row["status"],
            new_status=receipt.status,
            why=receipt.reason,
        )
