"""Facts about the installation."""

from typing import Any

from sqlalchemy import bindparam as p
from sqlalchemy import delete, select, update

from answerback.errors import ConfigurationError
from answerback.store.query import Either, Query, both
from answerback.store.tx import Tx
from answerback.tables import MetaRow

M = MetaRow.__table__  # type: ignore[attr-defined]
GET = Query(select(M.c.value).where(M.c.key == p("key")))
_values: dict[str, Any] = {"key": p("key"), "value": p("value")}
PUT = both(lambda insert: insert(M).values(_values).on_conflict_do_nothing())
TOUCH = both(
    lambda insert: (
        insert(M).values(_values).on_conflict_do_update(index_elements=["key"], set_={"value": p("value")})
    )
)
HELD = Either(
    sqlite=select(M.c.value).where(M.c.key == p("key")),
    postgresql=select(M.c.value).where(M.c.key == p("key")).with_for_update(),
)
LIKE = Query(select(M.c.key).where(M.c.key.like(p("pattern"))).order_by(M.c.key))
DROP = Query(delete(M).where(M.c.key == p("which")))
DUE = Query(update(M).where(M.c.key == p("which"), M.c.value <= p("before")).values(value=p("again")))


def get(tx: Tx, key: str) -> str | None:
    row = tx.one(GET, key=key)
    return None if row is None else str(row["value"])


def held(tx: Tx, key: str) -> str | None:
    """The same; until the commit no other process changes it."""
    row = tx.one(HELD, key=key)
    return None if row is None else str(row["value"])


def keep(tx: Tx, key: str, value: str) -> None:
    """Note a fact, in place of what was noted."""
    tx.run(TOUCH, key=key, value=value)


def keep_first(tx: Tx, key: str, value: str) -> bool:
    """Note a fact unless there is one; whether it was noted."""
    return tx.run(PUT, key=key, value=value) == 1


def drop(tx: Tx, key: str) -> None:
    tx.run(DROP, which=key)


def named(tx: Tx, prefix: str) -> list[str]:
    """The keys that begin so."""
    return [row["key"] for row in tx.all(LIKE, pattern=f"{prefix}%")]


def put(tx: Tx, key: str, at: int) -> None:
    """Note a moment, microseconds since the epoch."""
    tx.run(TOUCH, key=key, value=_moment(at))


def due(tx: Tx, key: str, *, again_at: int) -> bool:
    """Whether a noted moment has come, or none was noted; then it is `again_at`, for one who asks."""
    if tx.run(PUT, key=key, value=_moment(again_at)) == 1:
        return True
    return tx.run(DUE, which=key, before=_moment(tx.now), again=_moment(again_at)) == 1


def _moment(at: int) -> str:
    """In digits that compare as texts."""
    return f"{at:020}"


def probe(tx: Tx) -> None:
    """A write that changes nothing of importance: whether writing is possible."""
    tx.run(TOUCH, key="probe", value=str(tx.now))


def check_secret(tx: Tx, fingerprint: str) -> None:
    """All processes on one database must have the same secret: their tokens must agree."""
    tx.run(PUT, key="secret", value=fingerprint)
    if not has_secret(tx, fingerprint):
        raise ConfigurationError(
            "This database was used with another `secret`. Set the same here, or restore data_dir/secret. If "
            "it is lost, `answerback db renew-secret` starts anew; then the links sent so far do not work "
            "any more."
        )


def has_secret(tx: Tx, fingerprint: str) -> bool:
    """Whether this is the secret that the database has seen."""
    row = tx.one(GET, key="secret")
    return row is not None and row["value"] == fingerprint


def take_secret(tx: Tx, fingerprint: str) -> None:
    """From now on this one, see `renewing`."""
    tx.run(TOUCH, key="secret", value=fingerprint)
