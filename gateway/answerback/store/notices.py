"""Notices: what was told, under which key, and what became of it at each address."""

from typing import Any

from sqlalchemy import bindparam as p
from sqlalchemy import null, select, text, update

from answerback.store.deliveries import QUEUED
from answerback.store.query import Either, Query, both
from answerback.store.tx import Row, Tx
from answerback.tables import DeliveryRow, NoticeRow

N, D = NoticeRow.__table__, DeliveryRow.__table__  # type: ignore[attr-defined]

_values: dict[str, Any] = {c.name: p(c.name) for c in N.c}
ADD = both(lambda insert: insert(N).values(_values).on_conflict_do_nothing())
_one = select(N).where(N.c.id == p("id"))
GET = Query(_one)
HELD = Either(sqlite=_one, postgresql=_one.with_for_update())
BY_KEY = Query(select(N).where(N.c.idempotency_key == p("key"), text("idempotency_key <> ''")))
OF = Query(select(D).where(D.c.notice_id == p("notice_id"), text("notice_id <> ''")).order_by(D.c.id))
DROP = Query(  # another try, at another address, of what has arrived meanwhile
    update(D)
    .where(
        D.c.notice_id == p("notice"),
        text("notice_id <> ''"),
        D.c.contact_id == p("person"),
        D.c.id != p("key"),
        QUEUED,
        text("attempts > 0 AND lease_owner IN ('', 'its turn')"),
    )
    .values(status="failed", error="no longer needed", next_attempt_at=null())
)


def get(tx: Tx, id: str) -> Row | None:
    return tx.one(GET, id=id)


def held(tx: Tx, id: str) -> Row | None:
    """The same; until the commit nobody else has it told at a further address."""
    return tx.one(HELD, id=id)


def add(tx: Tx, **row: object) -> Row | None:
    """Insert a notice: its row; None when its idempotency key is taken."""
    full = {"created_at": tx.now, "erased_at": None, **row}
    return full if tx.run(ADD, **full) == 1 else None


def deliveries_of(tx: Tx, id: str) -> list[Row]:
    """In the order in which they were made."""
    return tx.all(OF, notice_id=id)


def arrived(tx: Tx, row: Row) -> None:
    """One of a notice's deliveries was taken: what still tries to reach the same person can stop."""
    tx.run(DROP, notice=row["notice_id"], person=row["contact_id"], key=row["id"])
