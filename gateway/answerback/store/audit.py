"""What happened, append-only, chained per interaction; contents only as salted hashes."""

import hashlib
import os
from typing import Any

from sqlalchemy import Integer, String, cast, insert, select, tuple_, update
from sqlalchemy import bindparam as p

from answerback.store.ids import new_id
from answerback.store.positions import Next
from answerback.store.query import Query
from answerback.store.tx import Entry, Row, Tx
from answerback.tables import AuditRow

A = AuditRow.__table__  # type: ignore[attr-defined]
LAST = Query(
    select(A.c.hash, A.c.seq)
    .where(A.c.interaction_id == p("interaction_id"))
    .order_by(A.c.seq.desc())
    .limit(1)
)


def last_of(interaction: Any) -> Any:
    """For another statement's columns: where the chain of an interaction ends, as `known` reads it.

    Behind RETURNING give a parameter: SQLAlchemy names no tables there, and a column would mean the audit's.
    """
    end = cast(A.c.seq, String) + ":" + A.c.hash
    found = select(end).where(A.c.interaction_id == interaction).order_by(A.c.seq.desc()).limit(1)
    return found.scalar_subquery().label("audited")


ADD = Query(insert(A).values({c.name: p(c.name) for c in A.c} | {"position": Next(A)}))
ERASE = Query(update(A).where(A.c.interaction_id == p("interaction"), A.c.salt != "").values(salt=""))
THERE = Query(
    select(A.c.seq).where(
        A.c.interaction_id == p("interaction_id"), A.c.seq == p("seq"), A.c.hash == p("hash")
    )
)
OF = Query(select(A).where(A.c.interaction_id == p("interaction_id")).order_by(A.c.seq))
CHAINS = Query(
    select(A.c.interaction_id)
    .where(A.c.interaction_id > p("after"))
    .distinct()
    .order_by(A.c.interaction_id)
    .limit(p("most"))
)
BETWEEN = Query(
    select(A)
    .where(A.c.interaction_id > p("after"), A.c.interaction_id <= p("last"))
    .order_by(A.c.interaction_id, A.c.seq)
)
PAGE = Query(
    select(A)
    .where(tuple_(A.c.interaction_id, A.c.seq) > tuple_(p("after", type_=String), p("seq", type_=Integer)))
    .order_by(A.c.interaction_id, A.c.seq)
    .limit(p("most"))
)


def add(
    tx: Tx, interaction_id: str, event: str, *, actor: str = "", content: str = "", first: bool = False
) -> None:
    """Append one row. `content` is hashed with a salt of the row's own. `first`: the chain starts here."""
    seq, previous = (0, "") if first else _last(tx, interaction_id)
    row: Row = {
        "id": new_id(),
        "interaction_id": interaction_id,
        "at": tx.now,
        "event": event,
        "actor": actor,
        "seq": seq + 1,
        "previous": previous,
    }
    row["salt"] = os.urandom(16).hex() if content else ""
    row["content_hash"] = _sha(row["salt"], content) if content else ""
    row["hash"] = link(row)
    tx.later(ADD, **row)
    tx.memo["audit", interaction_id] = row["seq"], row["hash"]
    tx.entry = Entry(interaction_id, row["seq"], row["hash"], tx.now)


def known(tx: Tx, interaction_id: str, last: str | None) -> None:
    """Another statement brought along where a chain ends (`last_of`): it need not be read for itself.

    Should another process add to the chain meanwhile, the unique index refuses ours: then it is done again.
    """
    seq, _, hash = (last or "0:").partition(":")
    tx.memo["audit", interaction_id] = int(seq), hash


def _last(tx: Tx, interaction_id: str) -> tuple[int, str]:
    """Position and hash of a chain's last row."""
    if ("audit", interaction_id) not in tx.memo:
        row = tx.one(LAST, interaction_id=interaction_id)
        tx.memo["audit", interaction_id] = (row["seq"], row["hash"]) if row else (0, "")
    return tx.memo["audit", interaction_id]  # type: ignore[no-any-return]


def link(row: Row) -> str:
    """The hash that a row must carry: over its own columns and the hash before it."""
    keys = ("previous", "id", "seq", "interaction_id", "at", "event", "actor", "content_hash")
    return _sha(*(str(row[key]) for key in keys))


def is_of(row: Row, content: str) -> bool:
    """Whether a row was written about this content; nobody can tell any more once its salt is erased."""
    return bool(row["salt"]) and bool(row["content_hash"] == _sha(row["salt"], content))


def erase(tx: Tx, interaction_id: str) -> None:
    """Make the contents' hashes say nothing. The chain is over the hashes, and stays whole."""
    tx.run(ERASE, interaction=interaction_id)


def is_there(tx: Tx, entry: Entry) -> bool:
    """Whether an entry that was committed still is."""
    return tx.one(THERE, interaction_id=entry.chain, seq=entry.seq, hash=entry.hash) is not None


def of(tx: Tx, interaction_id: str) -> list[Row]:
    return tx.all(OF, interaction_id=interaction_id)


def chains(tx: Tx, after: str, most: int) -> list[str]:
    """Whose chains there are behind an id, in the order of these ids."""
    return [row["interaction_id"] for row in tx.all(CHAINS, after=after, most=most)]


def between(tx: Tx, after: str, last: str) -> dict[str, list[Row]]:
    """The chains behind one id and up to another, each whole."""
    found: dict[str, list[Row]] = {}
    for row in tx.all(BETWEEN, after=after, last=last):
        found.setdefault(row["interaction_id"], []).append(row)
    return found


def page(tx: Tx, after: str, seq: int, most: int) -> list[Row]:
    """The entries behind one of them, chain by chain."""
    return tx.all(PAGE, after=after, seq=seq, most=most)


def _sha(*parts: str) -> str:
    return hashlib.sha256("\x1f".join(parts).encode()).hexdigest()
