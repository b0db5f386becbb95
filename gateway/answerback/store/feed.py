"""What happened, in the order in which it was committed: each entry of the audit, and where each run stands.

A time would not do: who began earlier may commit later, and whoever had read past it would never see it.
"""

from dataclasses import dataclass
from typing import Any

from sqlalchemy import BigInteger, select, update
from sqlalchemy import bindparam as p

from answerback.store.positions import HORIZON, UNSEEN, newest
from answerback.store.query import Either, Query
from answerback.store.tx import Row, Tx
from answerback.tables import AuditRow, InteractionRow, RunRow

A, R, X = AuditRow.__table__, RunRow.__table__, InteractionRow.__table__  # type: ignore[attr-defined]
_after, _at = p("after", type_=BigInteger), p("position", type_=BigInteger)


@dataclass(frozen=True, slots=True)
class Place:
    """How far the feed has been read: the last position of the audit, and that of the runs."""

    audit: int = 0
    runs: int = 0


_entries = select(
    A.c.position, A.c.event, A.c.actor, A.c.at, X.c.id, X.c.agent, X.c.run_id, X.c.thread_id, X.c.status
).select_from(A.outerjoin(X, X.c.id == A.c.interaction_id))
_runs = select(R.c.position, R.c.updated_at, R.c.id, R.c.agent, R.c.thread_id, R.c.status)


def _behind(listed: Any, table: Any) -> Either:
    """Some rows behind a position, of transactions before which none is still open."""
    order = table.c.position, *table.primary_key
    some = listed.where(table.c.position > _after).order_by(*order).limit(p("most"))
    return Either(sqlite=some, postgresql=some.where(table.c.position < HORIZON))


def _exactly(listed: Any, table: Any) -> Query:
    return Query(listed.where(table.c.position == _at).order_by(*table.primary_key))


AUDIT, RUNS = _behind(_entries, A), _behind(_runs, R)
AUDIT_AT, RUNS_AT = _exactly(_entries, A), _exactly(_runs, R)
END = Either(
    sqlite=select(newest(A).label("audit"), newest(R).label("runs")),
    postgresql=select((HORIZON - 1).label("audit"), (HORIZON - 1).label("runs")),
)
FOREIGN = tuple(  # a table's rows of another PostgreSQL, from which this database was restored
    Query(update(table).where(table.c.position >= UNSEEN).values(position=0)) for table in (A, R)
)


def end(tx: Tx) -> Place:
    """Behind all that everybody sees by now."""
    row = tx.one(END) or {}
    return Place(row["audit"] or 0, row["runs"] or 0)


def entries(tx: Tx, after: int, most: int) -> list[Row]:
    """Audit entries behind a position, each with what it is about (null if there is no such question)."""
    return _whole(tx, tx.all(AUDIT, after=after, most=most), AUDIT_AT, most)


def runs(tx: Tx, after: int, most: int) -> list[Row]:
    """Runs whose standing changed behind a position."""
    return _whole(tx, tx.all(RUNS, after=after, most=most), RUNS_AT, most)


def _whole(tx: Tx, rows: list[Row], at: Query, most: int) -> list[Row]:
    """So that no position is cut in two: whoever goes on behind it would miss the rest."""
    if len(rows) < most:
        return rows
    last = rows[-1]["position"]
    return [row for row in rows if row["position"] != last] or tx.all(at, position=last)


def begin_anew(tx: Tx) -> None:
    """Positions from another PostgreSQL, whose transactions had higher numbers, would hide what comes now."""
    if tx.dialect == "postgresql":
        for query in FOREIGN:
            tx.run(query)
