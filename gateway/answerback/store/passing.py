"""One of several questions is answered at an address: its copies there take no other answer any more."""

from sqlalchemy import bindparam as p
from sqlalchemy import null, text, update

from answerback.store.deliveries import NEEDLESS, QUEUED, D
from answerback.store.query import Query
from answerback.store.tx import Row, Tx

PASS_ON = Query(update(D).where(D.c.id == p("key"), text("delivery.open = 1")).values(open=0))
HERE = (
    D.c.interaction_id == p("interaction"),
    D.c.provider == p("of"),
    D.c.external_id == p("who"),
    D.c.place == p("there"),
)
SHUT_HERE = Query(
    update(D)
    .where(*HERE, text("delivery.open = 1"))
    .values(open=0)
    .returning(D.c.id, D.c.kind, D.c.status, D.c.message_ids)
)
DROP_HERE = Query(
    update(D)
    .where(*HERE, QUEUED, text("delivery.open = 0"), text("lease_owner IN ('', 'its turn')"))
    .where(text("kind IN ('question', 'reminder')"))
    .values(status="failed", error=NEEDLESS, next_attempt_at=null())
)


def pass_on(tx: Tx, row: Row) -> list[Row] | None:
    """One of several questions is answered at its address: its copies there take no answer any more.

    Those that were seen, this one included; None when it had been answered before: whoever is first counts.
    """
    if tx.run(PASS_ON, key=row["id"]) == 0:
        return None
    here = {
        "interaction": row["interaction_id"],
        "of": row["provider"],
        "who": row["external_id"],
        "there": row["place"],
    }
    others = tx.all(SHUT_HERE, **here)
    tx.run(DROP_HERE, **here)
    return [row, *(row | other for other in others)]
