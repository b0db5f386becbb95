"""When the next thing falls due, of whatever kind: one look of the clock is one statement."""

from dataclasses import dataclass

from sqlalchemy import select

from answerback.store import deliveries, interactions, leases, pace, restored, runs, stops
from answerback.store.query import Query
from answerback.store.tx import Tx

NEXT = Query(  # each column is the first entry of a partial index, and the last one that of the audit's
    select(
        deliveries.NEXT_AT,
        interactions.NEXT_ACTION_AT,
        interactions.NEXT_RESUME_AT,
        runs.NEXT_AT,
        stops.NEXT_AT,
        restored.newest.scalar_subquery().label("newest"),
    )
)
APART = 5_000_000  # microseconds by which the clocks of several servers may differ


@dataclass(frozen=True, slots=True)
class Look:
    """The database's time, the first moment of each kind that has one, and when the last event was."""

    now: int
    times: tuple[int, ...]
    newest: int

    @property
    def is_put_back(self) -> bool:
        """Whether the database's time is earlier than it was already."""
        return self.newest > self.now + APART


def look(tx: Tx) -> Look:
    row = tx.one(NEXT) or {}
    newest = row.pop("newest", None)
    return Look(tx.now, tuple(at for at in row.values() if at is not None), newest or 0)


def at_once(tx: Tx) -> None:
    """Of the only process on its database, at its start: what a dead one was at work on is due now."""
    for query in (interactions.AT_ONCE, runs.AT_ONCE, stops.AT_ONCE):
        tx.run(query, now=tx.now)


def put_back(tx: Tx) -> None:
    """The database's time was put back: what has its next moment by the time before would wait for as long.

    Nothing waits longer than it would from now on. What a person or an asker set (deadlines, reminders,
    quiet hours) stays as it was set. Whoever does this twice, or too often, only begins some of it earlier.
    """
    at_once(tx)
    tx.run(pace.BEGIN_ANEW, now=tx.now)
    tx.run(deliveries.AGAIN_FROM_NOW, now=tx.now)
    tx.run(deliveries.CLAIMED_UNTIL, until=tx.now + deliveries.LEASE)
    tx.run(leases.LAST_UNTIL, latest=tx.now + leases.SPAN)
