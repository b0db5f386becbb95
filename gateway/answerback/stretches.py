"""stretches: a stretch of an erasure: some rows of one table in one transaction, and how far it is then."""

import re
from dataclasses import asdict, replace

from answerback import unfinished
from answerback.context import Context
from answerback.store import Row, Tx, deliveries, effacing, erasing, interactions, personal, unnamed
from answerback.store.codec import loads, salvaged
from answerback.store.erasing import Kind
from answerback.store.personal import Step
from answerback.unfinished import Job
from answerback.values import dumps
from answerback.whose import accounts_in, names

# What a word may stand behind: no letter, or a sign that JSON writes with one, as a line break.
_BEFORE = r"(?:(?<!\w)|(?<=\\[bfnrt])|(?<=\\u[0-9A-Fa-f]{4}))"


def stretch(tx: Tx, context: Context, id: str, most: int) -> bool:
    """Take somebody out of `most` rows; whether it has to wait, because a message is just being sent."""
    job = unfinished.held(tx, id)
    if job is None or job.step in (Step.EVENTS, Step.RUNS):
        return False  # another process has gone on meanwhile
    at = job.behind or personal.start(job.step)
    known = {"contact": id, "began": job.began, "named": dumps(job.name)[1:-1]}
    rows, behind = personal.look(tx, job.step, at, most, **known)
    if job.step is Step.ACCOUNTS:
        accounts = accounts_in(rows, id, job.began, job.accounts)
        unfinished.keep(tx, id, replace(job, accounts=accounts), behind)
        return False
    done = 0
    for row in rows:
        taken = _taken(tx, id, job, row)
        if taken is None:
            unfinished.keep(tx, id, job.plus(done), at)
            return True
        done += taken
        at = personal.key_of(job.step, row)
    if job.step is Step.MESSAGES and behind is None:
        _forget_paces(tx, context, job)
    unfinished.keep(tx, id, job.plus(done), behind)
    return False


def _taken(tx: Tx, id: str, job: Job, row: Row) -> bool | None:
    """Whether there was something of theirs in a row; None: it cannot be taken just now."""
    match job.step:
        case Step.QUESTIONS:
            return bool(row["answered"] or row["asked"]) and effacing.question(tx, row, id, job.by)
        case Step.NOTICES:
            mine = row["due"] and salvaged(row["route"], _told, None) == [id]
            return bool(mine) and erasing.erase(tx, Kind.NOTICE, row)
        case Step.IDS:
            theirs = _is_of_them(id, job, row) and not row["message_id"].startswith(unnamed.PREFIX)
            if theirs:
                effacing.message(tx, row)
            return theirs
        case _:
            if _is_theirs(id, job, row):
                return effacing.delivery(tx, row["id"], job.by) or None
            if row["named"] and _is_about(tx, row["id"], job.name):
                effacing.about(tx, row["id"])
            return False


def _told(route: str) -> object:
    """Whom a notice's route names."""
    return loads(route).get("ask")


def _is_of_them(id: str, job: Job, row: Row) -> bool:
    """Of what a service calls a message; of one that is not known (yet), by the receipt that waits for it."""
    if row["created_at"] is not None:
        return _is_theirs(id, job, row)
    mine = [each for each in job.accounts if each.provider == row["provider"]]
    return names(f"{row['message_id']} {row['parked']}".encode(), mine, job.began)


def _is_theirs(id: str, job: Job, row: Row) -> bool:
    """Of what was sent: to them, or as to a stranger at an account of theirs. What is erased has none."""
    if not row["external_id"] or row["created_at"] > job.began:
        return False
    if row["contact_id"]:
        return bool(row["contact_id"] == id)
    at = row["provider"], row["external_id"], row["created_at"]
    return any(each.is_theirs(*at) for each in job.accounts)


def _is_about(tx: Tx, id: str, name: str) -> bool:
    """Whether a message to somebody else has their name as a word of its own, and nothing waits for it.

    What a message of an open question holds is what its person has answered so far, and they need it.
    """
    row = tx.one(deliveries.GET, id=id)
    if row is None or not re.search(rf"{_BEFORE}{re.escape(dumps(name)[1:-1])}(?!\w)", row["content"]):
        return False
    record = interactions.get(tx, row["interaction_id"]) if row["interaction_id"] else None
    return record is None or record.status != "pending"


def _forget_paces(tx: Tx, context: Context, job: Job) -> None:
    for each in job.accounts:
        shared = context.outbox.is_shared(asdict(each))
        effacing.paces(tx, each.provider, each.external_id, "" if shared else each.place)


__all__ = ["stretch"]
