"""How fast a provider is spoken to: the next free moment is a row, so that all processes share one rate."""

from typing import Any

from sqlalchemy import bindparam as p
from sqlalchemy import case

from answerback.store.query import both
from answerback.store.tx import Tx
from answerback.tables import PaceRow

P = PaceRow.__table__  # type: ignore[attr-defined]


def _reserve(insert: Any) -> Any:
    statement = insert(P).values(account=p("account"), place=p("place"), next_send_at=p("first"))
    later = case((P.c.next_send_at > p("now"), P.c.next_send_at), else_=p("now")) + p("gap")
    return statement.on_conflict_do_update(
        index_elements=["account", "place"], set_={"next_send_at": later}
    ).returning(P.c.next_send_at)


def _once(insert: Any) -> Any:
    statement = insert(P).values(account=p("account"), place=p("place"), next_send_at=p("next"))
    return statement.on_conflict_do_update(
        index_elements=["account", "place"],
        set_={"next_send_at": p("next")},
        where=P.c.next_send_at <= p("now"),
    ).returning(P.c.next_send_at)


RESERVE, ONCE = both(_reserve), both(_once)


def reserve(tx: Tx, account: str, place: str, per_second: float) -> int:
    """Take the next slot; when it begins (now, or later). No rate: now."""
    if per_second <= 0:
        return tx.now
    gap = round(1_000_000 / per_second)
    row = tx.one(RESERVE, account=account, place=place, first=tx.now + gap, now=tx.now, gap=gap)
    assert row is not None
    return int(row["next_send_at"]) - gap


def once(tx: Tx, account: str, place: str, gap: int) -> bool:
    """Whether this may happen now: at most once in `gap` microseconds. Asking again does not postpone it."""
    return tx.one(ONCE, account=account, place=place, next=tx.now + gap, now=tx.now) is not None
