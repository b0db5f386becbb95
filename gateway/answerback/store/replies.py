"""Inbound events, each stored once, and how far polled providers have been read."""

from typing import Any

from sqlalchemy import bindparam as p
from sqlalchemy import delete, select, update

from answerback.store import unnamed
from answerback.store.ids import new_id
from answerback.store.query import Query, both
from answerback.store.tx import Row, Tx
from answerback.tables import CursorRow, ReplyRow

R, C = ReplyRow.__table__, CursorRow.__table__  # type: ignore[attr-defined]


def _add(insert: Any) -> Any:
    values: dict[str, Any] = {c.name: p(c.name) for c in R.c}
    return insert(R).values(values).on_conflict_do_nothing().returning(unnamed.KEY)


ADD = both(_add)
FIRST = Query(select(R).where(R.c.provider == p("provider"), R.c.event_id == p("event_id")))
ABOUT = Query(  # what came in for a question; it has no index, and is read from end to end
    select(R.c.provider, R.c.outcome, R.c.error, R.c.received_at).where(
        R.c.interaction_id == p("interaction_id")
    )
)
_EVENT = (R.c.provider == p("of"), R.c.event_id == p("event"))
DECIDED = Query(
    update(R).where(*_EVENT).values(outcome=p("what"), interaction_id=p("interaction"), error=p("why"))
)
TAKE_BACK = Query(delete(R).where(*_EVENT))
CUT = Query(update(R).where(*_EVENT).values(raw=p("left")))
POSITION = Query(select(C.c.position).where(C.c.provider == p("provider")))


def _move(insert: Any) -> Any:
    statement = insert(C).values(provider=p("provider"), position=p("position"))
    return statement.on_conflict_do_update(index_elements=["provider"], set_={"position": p("position")})


MOVE = both(_move)


def add(tx: Tx, provider: str, event_id: str, raw: bytes, *, outcome: str = "", error: str = "") -> bool:
    """Store an event; False when it was stored before (law 4), also if that is known by its hash only."""
    added = tx.one(
        ADD,
        id=new_id(),
        provider=provider,
        event_id=event_id,
        raw=raw,
        outcome=outcome,
        interaction_id="",
        error=error,
        received_at=tx.now,
    )
    if added is None:
        return False
    unnamed.note_key(tx, added["unnamed_by"])
    if _erased(tx, provider, event_id) is None:
        return True
    tx.run(TAKE_BACK, of=provider, event=event_id)
    return False


def first(tx: Tx, provider: str, event_id: str) -> Row | None:
    """What was stored when the event came first."""
    return tx.one(FIRST, provider=provider, event_id=event_id) or _erased(tx, provider, event_id)


def _erased(tx: Tx, provider: str, event_id: str) -> Row | None:
    """What is left of an event of somebody who is erased."""
    hash = unnamed.hashed(tx, provider, event_id)
    return None if hash is None else tx.one(FIRST, provider=provider, event_id=hash)


def decided(
    tx: Tx, provider: str, event_id: str, outcome: str, interaction_id: str = "", error: str = ""
) -> None:
    tx.later(DECIDED, of=provider, event=event_id, what=outcome, interaction=interaction_id, why=error)


def cut(tx: Tx, provider: str, event_id: str, left: bytes) -> None:
    """Keep that an event came, and no more than this of what it said."""
    tx.run(CUT, of=provider, event=event_id, left=left)


def position(tx: Tx, provider: str) -> str:
    row = tx.one(POSITION, provider=provider)
    return "" if row is None else str(row["position"])


def move(tx: Tx, provider: str, position: str) -> None:
    tx.run(MOVE, provider=provider, position=position)
