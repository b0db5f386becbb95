"""What is taken from somebody: one account, or all of them, and then they are no contact any more."""

from sqlalchemy import bindparam as p
from sqlalchemy import null, update

from answerback.store.contacts import REMOVED, A, C, L
from answerback.store.query import Query
from answerback.store.tx import Row, Tx

_accounts = A.delete().where(A.c.contact_id == p("contact_id")).returning(A.c.provider, A.c.external_id)
_codes = L.delete().where(L.c.contact_id == p("contact_id"))
TAKE_ALL = Query(_accounts)
TAKE = Query(_accounts.where(A.c.provider == p("provider")))
DROP_ALL_CODES = Query(_codes)
DROP_CODES = Query(_codes.where(L.c.provider == p("provider")))
LEAVE = Query(update(C).where(C.c.id == p("key")).values(source=REMOVED, quiet_until=null()))


def accounts(tx: Tx, contact_id: str, provider: str) -> list[Row]:
    """Take somebody's account on one provider; a code that would link one there again is worth nothing."""
    tx.run(DROP_CODES, contact_id=contact_id, provider=provider)
    return tx.all(TAKE, contact_id=contact_id, provider=provider)


def person(tx: Tx, contact_id: str) -> list[Row]:
    """Take all accounts and codes of a contact, who can be asked no more; what they are called stays."""
    tx.run(DROP_ALL_CODES, contact_id=contact_id)
    tx.run(LEAVE, key=contact_id)
    for known in ("contact", "still"):
        tx.memo.pop((known, contact_id), None)
    return tx.all(TAKE_ALL, contact_id=contact_id)
