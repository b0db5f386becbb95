"""That the database was put back as it was earlier: what came in since then is not in it.

Whoever answers meanwhile may mean a question that this database never had. So whatever is open is asked
again, and until that is done at a place, a text from there that names no question is taken for none.

A copy says so itself. A standby that took over without the last transactions does not: whoever committed one
of these looks for it.
"""

import logging
from collections.abc import Iterable
from dataclasses import dataclass

from sqlalchemy import bindparam as p
from sqlalchemy import select, update

from answerback.store import audit, meta
from answerback.store.audit import A
from answerback.store.interactions import STILL_PENDING, X
from answerback.store.query import Query
from answerback.store.tx import Entry, Row, Tx

log = logging.getLogger("answerback.store")
COPIED = "copied"  # on a copy nobody has gone on with yet: as of when it is
RESTORED = "restored"  # since when it is gone on with, and as of when it was
UNSURE = 60_000_000  # microseconds in which everybody who lives has looked whether something is lost
CHAIN = "database"  # in the audit, where no question is called that
ASK_AGAIN = Query(update(X).where(STILL_PENDING).values(next_action_at=p("at")))
newest = select(A.c.at).order_by(A.c.position.desc()).limit(1)
NEWEST = Query(newest)


@dataclass(frozen=True, slots=True)
class Restored:
    """Since when the database is gone on with, as of when it was, microseconds since the epoch; and how many

    questions were open then.
    """

    since: int
    of: int
    open: int = 0


def begin(tx: Tx) -> Restored | None:
    """Notice, once, that this is a copy; None if it is none, or that was noticed before."""
    of = meta.get(tx, COPIED)
    if of is None:
        return None
    meta.drop(tx, COPIED)
    return _gone_on_with(tx, int(of))


def said(tx: Tx) -> Restored:
    """Somebody says that it was put back. As of when is that of the last event in it."""
    meta.drop(tx, COPIED)
    return _gone_on_with(tx, _newest(tx))


def look_back(tx: Tx, entry: Entry) -> None:
    """Notice that the database was put back, if it lacks what was committed, and nobody was quicker."""
    if audit.is_there(tx, entry):
        return
    back = last(tx)
    if back is not None and entry.at <= back.since:
        return
    _gone_on_with(tx, min(entry.at, _newest(tx)))
    tx.log(log.warning, "the database lacks what was committed to it; what is open is asked again")


def last(tx: Tx) -> Restored | None:
    """When that was the last time; None: never."""
    value = meta.get(tx, RESTORED)
    if value is None:
        return None
    since, of = map(int, value.split())
    return Restored(since, of)


def lost_since(back: Restored | None, asked_at: int) -> int:
    """Since when answers are lost, for somebody who was asked at `asked_at` and not since; 0: none are."""
    return back.of if back is not None and asked_at < back.since else 0


def may_mislead(tx: Tx, rows: Iterable[Row]) -> bool:
    """Whether one of these open questions has not been asked again since.

    Just after a connection was lost nobody knows yet whether the database was put back: others who committed
    what is lost have to look first.
    """
    found = last(tx)
    since = found.since if found is not None else 0
    if tx.now < tx.moved_at + UNSURE:
        since = max(since, tx.moved_at)
    return any((row["sent_at"] or 0) < since for row in rows)


def _newest(tx: Tx) -> int:
    """When the last event in it was; now, if there is none."""
    row = tx.one(NEWEST)
    return int(row["at"]) if row is not None else tx.now


def _gone_on_with(tx: Tx, of: int) -> Restored:
    meta.keep(tx, RESTORED, f"{tx.now} {of}")
    audit.add(tx, CHAIN, RESTORED)
    return Restored(tx.now, of, tx.run(ASK_AGAIN, at=tx.now))
