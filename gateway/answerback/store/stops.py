"""Stops: a mark on a cancelled run, from the cancel until its agent has heard of it or must not any more.

`stop_by` is who tells the agent now, for as long as `stop_at` has not come; else `stop_at` is when somebody
may. `stop_attempts` proves a claim in every later write. A mark that was given up stays, with a `stop_at`
that never comes, as a dead letter: until somebody replays or discards it, or a later run has the thread.
"""

from sqlalchemy import bindparam as p
from sqlalchemy import func, select, text, update

from answerback.metrics import Metric
from answerback.model import Json, RunStatus
from answerback.store import runs
from answerback.store.codec import dumps
from answerback.store.leases import SPAN
from answerback.store.query import Query
from answerback.store.tx import Row, Tx
from answerback.tables import NEVER, UNTOLD, RunRow

R = RunRow.__table__  # type: ignore[attr-defined]
NOT_TOLD = " (its agent was not told: "  # how what is added to a run's error begins
_MARKED = text(f"run.stop_at < {NEVER}")
_GIVEN_UP = text(f"run.{UNTOLD}")
CANCEL = Query(runs.ending.values(stop_at=p("until"), stop_by=p("by"), stop_attempts=0).returning(R.c.agent))
OF = Query(  # the last term follows from `_MARKED`, and leads to the index that holds no past of a thread
    select(R.c.id, R.c.stop_at, R.c.stop_by, R.c.stop_attempts, R.c.updated_at)
    .where(R.c.agent == p("agent"), R.c.thread_id == p("thread_id"), _MARKED, text("run.stop_at IS NOT NULL"))
    .order_by(R.c.id.desc())
)
DUE = Query(
    select(R.c.id, R.c.agent, R.c.thread_id, R.c.stop_at)
    .where(_MARKED, R.c.stop_at <= p("now"))
    .order_by(R.c.stop_at)
    .limit(p("limit"))
)
NEXT_AT = select(func.min(R.c.stop_at)).where(_MARKED).scalar_subquery().label("stop")
AT_ONCE = Query(update(R).where(_MARKED, R.c.stop_at > p("now")).values(stop_at=p("now"), stop_by=""))
TAKE_UP = Query(
    update(R)
    .where(R.c.id == p("key"), _MARKED, R.c.stop_at == p("was"))
    .values(stop_at=p("until"), stop_by=p("by"))
)
_as_it_was = update(R).where(R.c.id == p("key"), _MARKED, R.c.stop_attempts == p("attempts"))
CLAIM = Query(_as_it_was.values(stop_at=p("until"), stop_by=p("by"), stop_attempts=R.c.stop_attempts + 1))
_ours = _as_it_was.where(R.c.stop_by == p("whose"))
RENEW = Query(_ours.values(stop_at=p("until")))
HEARD = Query(_ours.values(stop_at=None, stop_by=""))
LATER = Query(_ours.values(stop_at=p("at"), stop_by=""))
SET_ASIDE = Query(_ours.values(stop_at=NEVER, stop_by="", error=R.c.error + p("why")))
TELL_AGAIN = Query(  # its patience and its attempts begin anew
    update(R)
    .where(R.c.id == p("key"), _GIVEN_UP)
    .values(stop_at=p("at"), stop_attempts=0, updated_at=p("at"), error=p("said"))
)
FORGET = Query(update(R).where(R.c.id == p("key"), _GIVEN_UP).values(stop_at=None))
MARK = Query(
    update(R)
    .where(R.c.id == p("key"), R.c.status == "cancelled")
    .values(stop_at=p("until"), stop_by=p("by"), stop_attempts=R.c.stop_attempts + 1, error=p("said"))
)
DROP = Query(  # what was given up too
    update(R)
    .where(R.c.agent == p("of_agent"), R.c.thread_id == p("of_thread"), text("run.stop_at IS NOT NULL"))
    .values(stop_at=None, stop_by="")
)
KEEP = Query(  # what was finished first: who hears of it again may have nothing left to tell
    update(R)
    .where(R.c.id == p("key"), R.c.status == "cancelled", R.c.erased_at.is_(None), R.c.result == "null")
    .values(result=p("new_result"))
)


def cancel(tx: Tx, id: str, reason: str, by: str) -> bool:
    """End a run, and mark that `by` tells its agent now; False when it had ended before."""
    standing = runs.standing(tx, id, RunStatus.CANCELLED, error=reason)
    row = tx.one(CANCEL, **standing, by=by, until=tx.now + SPAN)
    if row is not None:
        tx.count(Metric.RUNS, row["agent"], RunStatus.CANCELLED)
    return row is not None


def of(tx: Tx, agent: str, thread_id: str) -> list[Row]:
    """The marks on a thread, of the newest run first."""
    return tx.all(OF, agent=agent, thread_id=thread_id)


def is_given_up(run: Row) -> bool:
    """Whether nobody tells the agent any more, though it has not heard."""
    return bool(run["stop_at"] == NEVER)


def set_aside(tx: Tx, id: str, attempts: int, whose: str, why: str) -> bool:
    """Give up what `whose` tells; False when somebody else has done something about it meanwhile."""
    return tx.run(SET_ASIDE, key=id, attempts=attempts, whose=whose, why=f"{NOT_TOLD}{why})") == 1


def tell_again(tx: Tx, run: Row) -> None:
    """What was given up is due now. Nothing in the run's error says any more that its agent was not told."""
    said, _ = parted(run["error"])
    tx.run(TELL_AGAIN, key=run["id"], at=tx.now, said=said)


def forget(tx: Tx, id: str) -> None:
    """What was given up stays untold, and is no dead letter any more."""
    tx.run(FORGET, key=id)


def parted(error: str) -> tuple[str, str]:
    """A run's error without what `set_aside` has added to it, and the reason in that, "" if there is none."""
    said, added, why = error.rpartition(NOT_TOLD)
    return (said, why.removesuffix(")")) if added else (error, "")


def is_claimed(tx: Tx, mark: Row) -> bool:
    """Whether somebody tells the agent at this moment."""
    return bool(mark["stop_by"]) and bool(mark["stop_at"] > tx.now)


def take_up(tx: Tx, by: str, limit: int) -> list[tuple[str, str]]:
    """The threads, (agent, thread), whose agents are due to be told; from now on `by` does it."""
    due = tx.all(DUE, now=tx.now, limit=limit)
    return [
        (row["agent"], row["thread_id"])
        for row in due
        if tx.run(TAKE_UP, key=row["id"], was=row["stop_at"], by=by, until=tx.now + SPAN) == 1
    ]


def claim(tx: Tx, mark: Row, by: str) -> bool:
    """Have `by` tell it, once more; False when somebody else has done something about it meanwhile."""
    return tx.run(CLAIM, key=mark["id"], attempts=mark["stop_attempts"], by=by, until=tx.now + SPAN) == 1


def again(tx: Tx, agent: str, thread_id: str, by: str, *, waits: bool) -> str:
    """Who tells the agent of a cancelled run that has just stopped working, "" if it has heard.

    `waits`: it waits for an answer all the same, so whatever it was told came too early. Who is just telling
    it does so once more; else `by` does.
    """
    marks = of(tx, agent, thread_id)
    if not marks:
        run = tx.one(runs.LATEST, agent=agent, thread_id=thread_id) if waits else None
        if run is None:
            return ""
        said, _ = parted(run["error"])
        return by if tx.run(MARK, key=run["id"], by=by, until=tx.now + SPAN, said=said) == 1 else ""
    for mark in marks:
        claimed = is_claimed(tx, mark)
        by = mark["stop_by"] if claimed else by
        if waits or not claimed:
            claim(tx, mark, by)
    return by


def drop(tx: Tx, agent: str, thread_id: str) -> None:
    """The agent must not be told any more: a later run has the thread."""
    tx.run(DROP, of_agent=agent, of_thread=thread_id)


def keep(tx: Tx, id: str, result: Json) -> None:
    """What a cancelled run had finished."""
    tx.run(KEEP, key=id, new_result=dumps(result))
