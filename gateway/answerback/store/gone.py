"""What was sent, or is to be sent, to somebody at an account that is not theirs any more."""

from sqlalchemy import null, or_, select, text, update

from answerback.store.deliveries import NEEDLESS, QUEUED, D, X
from answerback.store.query import Query
from answerback.store.tx import Row, Tx
from answerback.tables import AddressRow

A = AddressRow.__table__  # type: ignore[attr-defined]
_NOT_THEIRS = (
    D.c.contact_id != "",
    ~select(A.c.id)
    .where(A.c.provider == D.c.provider, A.c.external_id == D.c.external_id, A.c.contact_id == D.c.contact_id)
    .exists(),
)
SHUT = Query(
    update(D)
    .where(
        D.c.interaction_id.in_(select(X.c.id).where(text("interaction.status = 'pending'"))),
        text("delivery.kind IN ('question', 'reminder')"),
        or_(text("delivery.open = 1"), D.c.token_hash != ""),
        *_NOT_THEIRS,
    )
    .values(open=0, token_hash="")
    .returning(*D.c)
)
DROP = Query(  # what is on its way ends by itself
    update(D)
    .where(
        QUEUED,
        text("delivery.lease_owner IN ('', 'its turn')"),
        text("delivery.kind IN ('question', 'reminder', 'notice')"),
        *_NOT_THEIRS,
    )
    .values(status="failed", error=NEEDLESS, next_attempt_at=null(), token_hash="")
    .returning(*D.c)
)


def shut(tx: Tx) -> tuple[list[Row], list[Row]]:
    """What asked there takes no answer, its links lead nowhere, and what waits is not sent.

    Gives back what asked there, and what was to tell something there, each as it is now.
    """
    asked = tx.all(SHUT)
    dropped = tx.all(DROP)
    return asked, [row for row in dropped if row["kind"] == "notice"]
