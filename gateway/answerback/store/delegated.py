"""Somebody handed a question on: their copies take no answer any more, and their links lead nowhere."""

from sqlalchemy import bindparam as p
from sqlalchemy import null, text, update

from answerback.store.deliveries import NEEDLESS, QUEUED, D
from answerback.store.query import Query
from answerback.store.tx import Row, Tx

_THEIRS = D.c.interaction_id == p("interaction"), D.c.contact_id == p("contact")
_asks = text("kind IN ('question', 'reminder')")
SHUT = Query(update(D).where(*_THEIRS, _asks).values(open=0, token_hash="").returning(*D.c))
DROP = Query(
    update(D)
    .where(*_THEIRS, _asks, QUEUED, text("lease_owner IN ('', 'its turn')"))
    .values(status="failed", error=NEEDLESS, next_attempt_at=null())
)


def shut(tx: Tx, interaction_id: str, contact_id: str) -> list[Row]:
    """What asked them, as it was; what was not sent yet is not needed."""
    theirs = {"interaction": interaction_id, "contact": contact_id}
    rows = tx.all(SHUT, **theirs)
    tx.run(DROP, **theirs)
    return rows
