"""Places that moved, closed or opened again, and what was or will be sent there."""

from sqlalchemy import bindparam as p
from sqlalchemy import select, text, update

from answerback.store import meta
from answerback.store.deliveries import QUEUED
from answerback.store.query import Query
from answerback.store.tx import Row, Tx
from answerback.tables import AddressRow, DeliveryRow

A, D = AddressRow.__table__, DeliveryRow.__table__  # type: ignore[attr-defined]
OPEN = text("delivery.open = 1")

MOVE_ADDRESSES = Query(
    update(A).where(A.c.provider == p("provider_"), A.c.place == p("old")).values(place=p("new"))
)
# Two statements, so that each finds its rows by its own partial index.
MOVE_OPEN = Query(
    update(D).where(D.c.provider == p("provider_"), D.c.place == p("old"), OPEN).values(place=p("new"))
)
MOVE_QUEUED = Query(
    update(D).where(D.c.provider == p("provider_"), D.c.place == p("old"), QUEUED).values(place=p("new"))
)
REACHED = Query(
    update(A).where(A.c.provider == p("provider_"), A.c.place == p("where_")).values(unreachable=p("why"))
)
HOME = Query(select(A.c.place).where(A.c.id == p("address")))
ASKED_AT = Query(
    select(D).where(D.c.provider == p("provider"), D.c.place == p("where_"), OPEN).order_by(D.c.id)
)


def move(tx: Tx, provider: str, old: str, new: str) -> None:
    """A place has a new id: addresses, and deliveries that are queued or can be answered, follow it.

    The old id stays known, because what was sent there can still be tapped there.
    """
    if old == new:
        return
    tx.run(meta.TOUCH, key=_key(provider, old), value=new)
    for query in (MOVE_ADDRESSES, MOVE_OPEN, MOVE_QUEUED):
        tx.run(query, provider_=provider, old=old, new=new)


def today(tx: Tx, provider: str, place: str) -> str:
    """The id that a place has now."""
    row = tx.one(meta.GET, key=_key(provider, place))
    return place if row is None else str(row["value"])


def reached(tx: Tx, provider: str, place: str, why_not: str = "") -> None:
    """Whether anybody is reached at a place; `why_not` is the reason when nobody is."""
    tx.run(REACHED, provider_=provider, where_=place, why=why_not)


def asked_at(tx: Tx, provider: str, place: str) -> list[Row]:
    """What was sent to a place and can still be answered there, oldest first."""
    return tx.all(ASKED_AT, provider=provider, where_=place)


def home(tx: Tx, row: Row) -> str:
    """Where messages to the address of a delivery go as a rule; its own place, if that is not known."""
    found = tx.one(HOME, address=row["address_id"]) if row["address_id"] else None
    return str(found["place"] if found else row["place"])


def _key(provider: str, place: str) -> str:
    return f"moved:{provider}:{place}"
