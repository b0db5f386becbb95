"""When the next thing falls due, of whatever kind: one look of the clock is one statement."""

from sqlalchemy import select

from answerback.store import deliveries, interactions, runs, stops
from answerback.store.query import Query
from answerback.store.tx import Tx

NEXT = Query(  # each column is the first entry of a partial index
    select(
        deliveries.NEXT_AT,
        interactions.NEXT_ACTION_AT,
        interactions.NEXT_RESUME_AT,
        runs.NEXT_AT,
        stops.NEXT_AT,
    )
)


def next_times(tx: Tx) -> list[int]:
    """The first moment of each kind, microseconds; of those that have one."""
    row = tx.one(NEXT) or {}
    return [at for at in row.values() if at is not None]


def at_once(tx: Tx) -> None:
    """Of the only process on its database, at its start: what a dead one was at work on is due now."""
    for query in (interactions.AT_ONCE, runs.AT_ONCE, stops.AT_ONCE):
        tx.run(query, now=tx.now)
