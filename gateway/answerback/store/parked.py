"""The services' message ids, and the receipts that came before their message was known: they wait for it."""

from typing import Any

from sqlalchemy import bindparam as p
from sqlalchemy import update

from answerback.store.query import Query, both
from answerback.store.tx import Tx
from answerback.tables import MessageRow

M = MessageRow.__table__  # type: ignore[attr-defined]
_message: dict[str, Any] = {
    "provider": p("provider"),
    "message_id": p("message_id"),
    "delivery_id": p("delivery_id"),
    "parked": p("parked"),
}
_named = ["provider", "message_id"]
KNOWN = both(  # one that was heard of before it was known gets its delivery now
    lambda insert: (
        insert(M)
        .values(_message)
        .on_conflict_do_update(
            index_elements=_named, set_={"delivery_id": p("delivery_id")}, where=M.c.delivery_id == ""
        )
        .returning(M.c.parked)
    )
)
PARK = both(  # below what waits already
    lambda insert: (
        insert(M)
        .values(_message)
        .on_conflict_do_update(
            index_elements=_named,
            set_={"parked": M.c.parked + "\n" + p("parked")},
            where=M.c.delivery_id == "",
        )
    )
)


LEADS = Query(
    update(M)
    .where(M.c.provider == p("of"), M.c.message_id == p("its_id"))
    .values(delivery_id=p("to_delivery"))
)


def known(tx: Tx, provider: str, message_id: str, delivery_id: str) -> list[str] | None:
    """From now on this id leads to this delivery; the receipts that waited for it, in their order.

    None: it is known already, and leads where it did.
    """
    names = {"provider": provider, "message_id": message_id, "delivery_id": delivery_id}
    row = tx.one(KNOWN, **names, parked="")
    return None if row is None else row["parked"].splitlines()


def leads(tx: Tx, provider: str, message_id: str, delivery_id: str) -> None:
    """An id that has just become known leads to another delivery."""
    tx.run(LEADS, of=provider, its_id=message_id, to_delivery=delivery_id)


def park(tx: Tx, provider: str, message_id: str, receipt: str) -> bool:
    """Have a receipt, a line of JSON, wait for its message; False if that is known by now."""
    names = {"provider": provider, "message_id": message_id, "delivery_id": ""}
    return tx.run(PARK, **names, parked=receipt) == 1
