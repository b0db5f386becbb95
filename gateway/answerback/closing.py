"""closing: takes back questions and ends runs, and refuses what comes after that. In a transaction."""

from typing import NoReturn

from answerback.context import Context
from answerback.errors import AlreadyAnswered, Closed
from answerback.model import Interaction, InteractionStatus
from answerback.store import Row, Tx, audit, interactions, leases, runs, stops
from answerback.store.codec import interaction_in


def withdraw(tx: Tx, context: Context, record: Interaction, reason: str) -> list[Row]:
    """Cancel a pending interaction and tell those who saw it."""
    if not interactions.close(tx, record, InteractionStatus.CANCELLED, reason):
        return []
    audit.add(tx, record.id, "cancelled", content=reason)
    return context.outbox.outcomes(tx, record)


def cancel_run(tx: Tx, context: Context, run_id: str, reason: str) -> list[Row]:
    """End a run, unless it has ended, and withdraw what it still asks."""
    return cancelled(tx, context, run_id, reason) or []


def cancelled(tx: Tx, context: Context, run_id: str, reason: str) -> list[Row] | None:
    """The same; None if it had ended before. After the commit its agent is told (`signals.stop`), by us or,

    should we die, by another: that is marked.

    Unless somebody works on its thread, nobody does until then: neither is a later run there stopped with it,
    nor is what the agent still waits for taken for somebody else's question.
    """
    run = tx.one(runs.GET, id=run_id)
    if run is None:
        return None
    interactions.hold_asked(tx, run["agent"], run["thread_id"])
    # Before the run itself, like whoever writes down where its thread stands.
    lease = leases.take(tx, run["agent"], run["thread_id"], context.stopper)
    if not stops.cancel(tx, run_id, reason, context.stopper):
        if lease is not None:
            leases.release(tx, lease)
        return None
    rows: list[Row] = []
    for row in tx.all(interactions.OF_RUN, run_id=run_id):
        if row["status"] == "pending":
            rows += withdraw(tx, context, interaction_in(row), reason)
    return rows


def refuse_closed(record: Interaction) -> None:
    """Raise what a caller must hear when the interaction is not pending."""
    if not record.readable:
        raise Closed("The record of this question is damaged: no answer can be taken. Please ask again.")
    if record.status is InteractionStatus.COMPLETED:
        raise AlreadyAnswered(f"This question was answered through {record.answered_via}. Nothing changed.")
    if record.status is not InteractionStatus.PENDING:
        raise Closed(f"This question is {record.status}. No answer is taken any more.")


def refuse_late(record: Interaction) -> NoReturn:
    """Raise why an answer did not win."""
    refuse_closed(record)
    raise Closed("The deadline of this question has passed. No answer is taken any more.")
