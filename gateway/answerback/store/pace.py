"""How fast a provider is spoken to: the next free moment is a row, so that all processes share one rate."""

import math
from dataclasses import dataclass
from typing import Any

from sqlalchemy import bindparam as p
from sqlalchemy import case, select, update

from answerback.store.query import Query, both
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
NEXT = Query(select(P.c.next_send_at).where(P.c.account == p("account"), P.c.place == p("place")))
BEGIN_ANEW = Query(update(P).where(P.c.next_send_at > p("now")).values(next_send_at=p("now")))
PUSH = Query(
    update(P).where(P.c.account == p("account_"), P.c.place == p("place_")).values(next_send_at=p("at"))
)


@dataclass(frozen=True, slots=True)
class Turn:
    """When something may be sent. Not `reserved`: that is only when to ask again."""

    at: int
    reserved: bool = True


def turn(tx: Tx, account: str, place: str, per_second: float, place_per_second: float) -> Turn:
    """The next turn of an account at one of its places; rates are messages a second, 0 means no limit.

    An account's turns are given out in advance, one after the other. A place that is busy is only asked
    again later: a turn of the account that was given out for then would be kept from others until then,
    or be used together with somebody else's.
    """
    gap = _gap(place_per_second) if place else 0
    if gap and not once(tx, account, place, gap):
        row = tx.one(NEXT, account=account, place=place)
        return Turn(max(tx.now + 1, row["next_send_at"] if row else 0), reserved=False)
    at = reserve(tx, account, "", per_second)
    if gap and at > tx.now:
        tx.run(PUSH, account_=account, place_=place, at=at + gap)
    return Turn(at)


def reserve(tx: Tx, account: str, place: str, per_second: float) -> int:
    """Take the next slot; when it begins (now, or later). No rate: now."""
    if per_second <= 0:
        return tx.now
    gap = _gap(per_second)
    row = tx.one(RESERVE, account=account, place=place, first=tx.now + gap, now=tx.now, gap=gap)
    assert row is not None
    return int(row["next_send_at"]) - gap


def once(tx: Tx, account: str, place: str, gap: int) -> bool:
    """Whether this may happen now: at most once in `gap` microseconds. Asking again does not postpone it."""
    return tx.one(ONCE, account=account, place=place, next=tx.now + gap, now=tx.now) is not None


def _gap(per_second: float) -> int:
    """Microseconds between two messages; rounded up, so that a rate is never exceeded."""
    return math.ceil(1_000_000 / per_second) if per_second > 0 else 0
