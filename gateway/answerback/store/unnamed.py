"""Ids of events and messages that may name somebody who is erased: kept as keyed hashes, to be known again.

The key stands in the database, made with the first erasure: it outlives a renewed secret, and law 4 with it.
Whoever has the database can try an id on it; nobody can read one out of it.
"""

import hashlib
import hmac
import os

from sqlalchemy import bindparam as p
from sqlalchemy import select

from answerback.store import meta
from answerback.store.query import Query
from answerback.store.tx import Row, Tx
from answerback.tables import DeliveryRow, MessageRow, MetaRow

D, M = DeliveryRow.__table__, MessageRow.__table__  # type: ignore[attr-defined]
V = MetaRow.__table__  # type: ignore[attr-defined]
NAME = "erased.key"
PREFIX = "erased:"  # before the hash, in place of the id
# For another statement's RETURNING: the key, null where nobody was ever erased. So to ask costs no statement.
KEY = select(V.c.value).where(V.c.key == NAME).scalar_subquery().label("unnamed_by")
_MEMO = ("unnamed", "key")
MESSAGE = Query(select(M.c.delivery_id).where(M.c.provider == p("provider"), M.c.message_id == p("hash")))
DELIVERY = Query(select(D.c.contact_id, D.c.external_id).where(D.c.id == p("id")))


def make_key(tx: Tx) -> None:
    """There is one from now on. Committed before an id is hashed, so that no other process misses it."""
    meta.keep_first(tx, NAME, os.urandom(32).hex())


def note_key(tx: Tx, key: str | None) -> None:
    """Another statement of this transaction brought the key along."""
    tx.memo[_MEMO] = key


def key_of(tx: Tx) -> str | None:
    """None: nobody was ever erased."""
    if _MEMO not in tx.memo:
        tx.memo[_MEMO] = meta.get(tx, NAME)
    return tx.memo[_MEMO]  # type: ignore[no-any-return]


def hashed(tx: Tx, provider: str, id: str) -> str | None:
    """What stands in place of an id of a provider's once that is erased; None: nothing is erased."""
    key = key_of(tx)
    if not key:
        return None
    return PREFIX + hmac.new(bytes.fromhex(key), f"{provider}\x1f{id}".encode(), hashlib.sha256).hexdigest()


def is_of_erased(tx: Tx, provider: str, message_id: str, delivery_id: str = "") -> bool:
    """Whether a message, by the service's id or by ours, was to somebody who is erased."""
    hash = hashed(tx, provider, message_id)
    if hash is None:
        return False
    if tx.one(MESSAGE, provider=provider, hash=hash) is not None:
        return True
    row: Row | None = tx.one(DELIVERY, id=delivery_id or message_id)
    return row is not None and bool(row["contact_id"]) and not row["external_id"]


def is_erased(tx: Tx, seen: Row) -> bool:
    """Whether a delivery that went to an account when it was `seen` has been erased since."""
    row = tx.one(DELIVERY, id=seen["id"])
    return bool(seen["external_id"]) and row is not None and not row["external_id"]
