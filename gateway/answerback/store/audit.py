"""What happened, append-only, chained per interaction; contents only as salted hashes."""

import hashlib

from sqlalchemy import bindparam as p
from sqlalchemy import insert, select

from answerback.store.ids import new_id
from answerback.store.query import Query
from answerback.store.tx import Row, Tx
from answerback.tables import AuditRow

A = AuditRow.__table__  # type: ignore[attr-defined]
LAST = Query(
    select(A.c.hash, A.c.seq)
    .where(A.c.interaction_id == p("interaction_id"))
    .order_by(A.c.seq.desc())
    .limit(1)
)
ADD = Query(insert(A).values({c.name: p(c.name) for c in A.c}))
OF = Query(select(A).where(A.c.interaction_id == p("interaction_id")).order_by(A.c.seq))


def add(
    tx: Tx, interaction_id: str, event: str, *, actor: str = "", content: str = "", first: bool = False
) -> None:
    """Append one row. `content` is hashed with the row's own id as salt. `first`: the chain starts here."""
    last = None if first else tx.one(LAST, interaction_id=interaction_id)
    row: Row = {
        "id": new_id(),
        "interaction_id": interaction_id,
        "at": tx.now,
        "event": event,
        "actor": actor,
        "seq": last["seq"] + 1 if last else 1,
        "previous": last["hash"] if last else "",
    }
    row["content_hash"] = _sha(row["id"], content) if content else ""
    row["hash"] = link(row)
    tx.run(ADD, **row)


def link(row: Row) -> str:
    """The hash that a row must carry: over its own columns and the hash before it."""
    keys = ("previous", "id", "seq", "interaction_id", "at", "event", "actor", "content_hash")
    return _sha(*(str(row[key]) for key in keys))


def of(tx: Tx, interaction_id: str) -> list[Row]:
    return tx.all(OF, interaction_id=interaction_id)


def _sha(*parts: str) -> str:
    return hashlib.sha256("\x1f".join(parts).encode()).hexdigest()
