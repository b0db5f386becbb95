"""Another secret for the installation: every delivery gets its token from it, and the old ones are gone."""

from collections.abc import Callable

from sqlalchemy import bindparam as p
from sqlalchemy import select, text, update

from answerback.store import meta
from answerback.store.deliveries import D
from answerback.store.query import Query
from answerback.store.tx import Tx

PAGE = 1000
_has_one = text("token_hash <> ''")
NEXT = Query(select(D.c.id).where(_has_one, D.c.id > p("after")).order_by(D.c.id).limit(PAGE))
SET = Query(update(D).where(D.c.id == p("key")).values(token_hash=p("hash")))


def renew(tx: Tx, fingerprint: str, token_hash: Callable[[str], str]) -> int:
    """How many links do not work any more. `token_hash`: of a delivery's id, by the new secret.

    All or nothing, so that no message can be sent again with a token that nobody would know.
    """
    changed, after = 0, ""
    while rows := tx.all(NEXT, after=after):
        for row in rows:
            tx.later(SET, key=row["id"], hash=token_hash(row["id"]))
        changed, after = changed + len(rows), rows[-1]["id"]
    meta.take_secret(tx, fingerprint)
    return changed
