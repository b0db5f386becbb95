"""states: what an asker has kept with its question, and when it may let go of that."""

from answerback.errors import Conflict, NotFound
from answerback.model import InteractionStatus
from answerback.outbox import CALLER
from answerback.store import Tx, deliveries, interactions


def release(tx: Tx, id: str) -> None:
    """Delete it; again is as good. Raises `NotFound`, or `Conflict` while it is still needed."""
    record = interactions.held(tx, id)
    if record is None:
        raise NotFound("There is no interaction with this id.")
    if record.status is InteractionStatus.PENDING:
        raise Conflict("This question is still open: its state is kept until it has ended. Cancel it first.")
    if is_to_be_posted(tx, id):
        raise Conflict(
            "How it ended has still to be posted to its callback_url, with the state. "
            "Once that is taken, the state is deleted by itself."
        )
    tx.run(interactions.DROP_STATE, interaction=id)


def is_to_be_posted(tx: Tx, id: str) -> bool:
    """Whether how it ended is still on its way to its `callback_url`."""
    found = tx.all(deliveries.OF, interaction_id=id)
    return any(row["provider"] == CALLER and row["status"] == "queued" for row in found)
