"""What run and resume share: holding a thread's lease while its agent works, and writing down the end."""

import asyncio
import contextlib
import logging
from collections.abc import Callable, Iterator

from answerback.agent import State
from answerback.backoff import LONGEST
from answerback.context import Context
from answerback.model import NOT_YET, Interaction
from answerback.settle import Settled, settle
from answerback.signals import Handed
from answerback.store import Row, Tx, audit, interactions, leases, runs
from answerback.store.codec import interaction_in
from answerback.store.leases import Lease

log = logging.getLogger("answerback.threads")
Concluded = tuple[Settled, Handed | None]
DATABASE_AWAY = "The database could not be used."


def kept(context: Context, lease: Lease) -> contextlib.AbstractContextManager[None]:
    """Renew a lease for as long as the block runs. If that fails, the fence decides."""
    return renewed(context, lambda tx: leases.renew(tx, lease))


@contextlib.contextmanager
def renewed(context: Context, renewing: Callable[[Tx], object]) -> Iterator[None]:
    """Have what lasts `leases.SPAN` renewed for as long as the block runs."""
    loop = asyncio.get_running_loop()
    timer: asyncio.TimerHandle

    def renew() -> None:
        nonlocal timer
        context.store.write_soon(renewing)
        timer = loop.call_later(leases.SPAN / 3e6, renew)

    timer = loop.call_later(leases.SPAN / 3e6, renew)
    try:
        yield
    finally:
        timer.cancel()


def hand_over(tx: Tx, context: Context, record: Interaction, *, begun: bool = False) -> Handed | None:
    """Take the thread of an interaction that this transaction holds; None while somebody else has it.

    `begun`: that this attempt has begun is written already, and taken back if it has not.
    """
    lease = leases.take(tx, record.agent, record.thread_id, context.owner)
    if lease is None:
        not_begun(tx, record, leases.SPAN // 2)
        return None
    return Handed(record, lease, record.resume_attempts > 0) if begun else _begin(tx, record, lease)


def not_begun(tx: Tx, record: Interaction, after: int) -> None:
    """What was written of an attempt to give this answer, before it could begin, is taken back.

    The next one is due after so many microseconds.
    """
    at = tx.now + after
    tx.run(interactions.NOT_BEGUN, key=record.id, at=at, attempts=record.resume_attempts)


def held_back(tx: Tx, record: Interaction) -> None:
    """It was no attempt either: something else is asked first.

    When that has been answered, `write_down` gives this answer next; should that be missed, time does.
    """
    after = round(LONGEST * 1e6)
    not_begun(tx, record, after)
    tx.run(interactions.POSTPONE, key=record.id, at=tx.now + after, error=NOT_YET)


def take_due(tx: Tx, context: Context, due: Row) -> Handed | None:
    """Take the thread of an answer that was found due; None if it is not any more, or has to wait.

    Its question comes first, as wherever both are taken. The lease comes before the look: whoever had the
    thread has written down what became of the answer when it is free, and may have been quicker.
    """
    interactions.held(tx, due["id"])
    lease = leases.take(tx, due["agent"], due["thread_id"], context.owner)
    if lease is None:
        tx.run(interactions.LOOK_LATER, key=due["id"], now=tx.now, at=tx.now + leases.SPAN // 2)
        return None
    row = tx.one(interactions.STILL_DUE, key=due["id"], now=tx.now)
    if row is None or not _goes_on(tx, record := interaction_in(row)):
        leases.release(tx, lease)
        return None
    return _begin(tx, record, lease)


def _begin(tx: Tx, record: Interaction, lease: Lease) -> Handed:
    tx.run(interactions.BEGUN, key=record.id, again_at=tx.now + leases.SPAN)
    return Handed(record, lease, record.resume_attempts > 0)


def _goes_on(tx: Tx, record: Interaction) -> bool:
    """Whether an answer that had to wait can be given: not one that is damaged, nor to a cancelled run."""
    if not record.readable or record.answer is None:
        interactions.resumed(tx, record.id, at=None, error="Its record cannot be read.")
        return False
    run = tx.one(runs.GET, id=record.run_id) if record.run_id else None
    if run is not None and run["status"] == "cancelled":
        interactions.resumed(tx, record.id, at=None, error="Its run was cancelled.")
        audit.add(tx, record.id, "not resumed", content="cancelled")
        return False
    return True


def still_goes_on(tx: Tx, handed: Handed) -> bool:
    """Whether an answer that had to wait for its turn can still be given; if not, nothing is held."""
    interactions.held(tx, handed.record.id)
    if not leases.renew(tx, handed.lease):
        return False
    if _goes_on(tx, handed.record):
        return True
    leases.release(tx, handed.lease)
    return False


def conclude(tx: Tx, context: Context, lease: Lease, state: State) -> Concluded | None:
    """Give the lease back and write down `state`; the thread's next answer, if one waits.
    None when the lease was lost meanwhile: then another process has this thread, and nothing is written.
    """
    live = interactions.hold_live(tx, lease.agent, lease.thread_id)
    if not leases.release(tx, lease):
        return None
    return write_down(tx, context, lease, state, live)


def write_down(
    tx: Tx, context: Context, lease: Lease, state: State, live: list[Row], *, holds_back: bool = False
) -> Concluded:
    """`state` and the thread's next answer, in a transaction that holds `live` and gave the lease back.

    `holds_back`: the agent has just held one back, so that all that are held back wait on.
    """
    waits = [row for row in live if row["resume_next_at"] is not None]
    if holds_back:
        waits = [row for row in waits if row["resume_error"] != NOT_YET]
    done = settle(tx, context, lease.agent, lease.thread_id, state, live, goes_on=bool(waits))
    if done.stopped:  # nobody else has the thread until it was told
        leases.take(tx, lease.agent, lease.thread_id, done.stopped)
        return done, None
    if not waits:
        return done, None
    following = interaction_in(min(waits, key=lambda row: (row["answered_at"] or 0, row["id"])))
    return done, hand_over(tx, context, following) if _goes_on(tx, following) else None


def announce(context: Context, concluded: Concluded | None, lease: Lease) -> None:
    """After the commit: go on, send, wake."""
    if concluded is None:
        log.warning(
            "the lease of a thread was lost: another process goes on with it", extra={"agent": lease.agent}
        )
        return
    done, following = concluded
    if done.stopped:
        context.signals.stop((lease.agent, lease.thread_id))
    if following is not None:
        context.signals.resume(following)
    context.dispatch(done.rows)
    for id in done.changed:
        context.signals.changed(id)
    context.signals.rearm()
