"""again: a failed run's step is tried once more: who may say so, and the mark that has it done."""

from answerback.model import GONE
from answerback.render import called
from answerback.store import Row, Tx, audit, interactions, runs

FAILED, NEWER = "failed", "again_newer"
# What is said instead, by what has become of the run meanwhile.
SAID = {
    "running": "run_working",
    "waiting": "run_waiting",
    "completed": "run_done",
    "cancelled": "run_cancelled",
}


def refusal(told: Row, run: Row) -> str:
    """The sentence of why a run is not tried again by whom the delivery `told` told of its end; "" if it is.

    A failure and those who are told of it are of one transaction: each message is good for one try, and of a
    run that failed once more only the newest.
    """
    if run["status"] != FAILED:
        return SAID[run["status"]]
    return "" if told["created_at"] == run["updated_at"] else NEWER


def tried(tx: Tx, told: Row, run: Row) -> tuple[str, dict[str, str]]:
    """Mark a failed run to be tried again at once, by the person who was told; the sentence to say, and its

    gaps. Somebody has to look at what is due after the commit. One conditional UPDATE decides.
    """
    said = refusal(told, run)
    if not said:
        done = revived(tx, run["id"]) or _marked(tx, run["id"])
        said = "again_begun" if done else "run_working"
        if done:
            audit.add(tx, run["id"], "replayed", actor=told["contact_id"])
    return said, {"who": called(run["agent"])}


def revived(tx: Tx, id: str) -> bool:
    """Whether an accepted answer waits that the agent could not be given: then that is what to retry."""
    if tx.run(interactions.REVIVE, run=id, gone=GONE, at=tx.now) == 0:
        return False
    tx.run(runs.STATUS, key=id, old=FAILED, new_status="running", at=tx.now)
    return True


def _marked(tx: Tx, id: str) -> bool:
    return tx.run(runs.RETRY, key=id, at=tx.now) == 1
