"""failing: what ends with a stand-in that failed, where its configuration says `on_error: fail`."""

import logging

from answerback.closing import withdraw
from answerback.context import Context
from answerback.model import Interaction, InteractionStatus, RunStatus
from answerback.outbox import Follows
from answerback.store import Row, Tx, interactions, runs
from answerback.store.codec import interaction_in
from answerback.succession import is_asked_otherwise

log = logging.getLogger("answerback.deliver")


def failed(tx: Tx, context: Context, row: Row, why: str) -> Follows:
    """End what the delivery `row` asked: nobody is asked in place of the stand-in, and nothing is answered.

    The run that asks has failed, so that it can be tried again once the cause is mended, and whatever else
    it asks is withdrawn. Whoever was asked before the stand-in can still answer: then nothing ends. What it
    asks is held (`hold_asker`).
    """
    record = interactions.get(tx, row["interaction_id"])
    if record is None or record.status is not InteractionStatus.PENDING or not record.readable:
        return Follows()
    if is_asked_otherwise(tx, row):
        return Follows()
    reason = f"the stand-in {row['provider']} failed: {why.strip().rstrip('.')}"
    tx.log(log.warning, "a question ends: %s", reason, interaction=record.id)
    if record.run_id and runs.fail(tx, record.run_id, reason):
        return _run_failed(tx, context, record, reason)
    return Follows(withdraw(tx, context, record, reason), ended=[record.id])


def hold_asker(tx: Tx, row: Row) -> None:
    """Let nobody answer what a delivery asks, or what else its run asks, until the commit.

    For who then writes to the delivery: an answer takes its question before what carries it, and in another
    order each of the two would wait for the other.
    """
    if row["interaction_id"]:
        interactions.held_with_others(tx, row["interaction_id"])


def has_ended(tx: Tx, run: Row) -> bool:
    """Whether a run failed with its stand-in, and was not tried again since: what was asked has been

    withdrawn, and people were told. An answer that was on its way then changes nothing about that.
    """
    if run["status"] != RunStatus.FAILED or not run["error"]:
        return False
    asked = tx.all(interactions.OF_RUN, run_id=run["id"])
    return any(row["status"] == "cancelled" and row["reason"] == run["error"] for row in asked)


def _run_failed(tx: Tx, context: Context, record: Interaction, reason: str) -> Follows:
    """Everybody who was asked in the run, or started it by a message, hears how it ended."""
    follows = Follows()
    for row in tx.all(interactions.OF_RUN, run_id=record.run_id):
        if row["status"] == InteractionStatus.PENDING:
            follows.rows += withdraw(tx, context, interaction_in(row), reason)
            follows.ended.append(row["id"])
    run = tx.one(runs.GET, id=record.run_id)
    assert run is not None  # it has just been written to
    content = {"kind": "failed", "agent": run["agent"], "error": reason}
    follows.rows += context.outbox.notices(tx, run["id"], content, run["told"])
    return follows
