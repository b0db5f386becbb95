"""Runs: one execution of an agent on one thread."""

from dataclasses import dataclass

from sqlalchemy import ColumnElement, case, exists, func, insert, or_, select, text, union, update
from sqlalchemy import bindparam as p

from answerback.metrics import Metric
from answerback.model import Json, RunStatus
from answerback.store.codec import dumps, loads
from answerback.store.positions import Next
from answerback.store.query import Either, Query
from answerback.store.tx import Row, Tx
from answerback.tables import ONGOING, DeliveryRow, InteractionRow, RunRow, ThreadLeaseRow

R = RunRow.__table__  # type: ignore[attr-defined]
X, T, D = InteractionRow.__table__, ThreadLeaseRow.__table__, DeliveryRow.__table__  # type: ignore[attr-defined]
ADOPTED = "adopt"  # how the intent of a run begins whose thread somebody else made
LOOKED_AT = 1000  # runs, those that began, asked or ended last, where what works for somebody is looked for
RUNNING = text("run.status = 'running'")


def _intent(intent: str) -> ColumnElement[str]:
    """What is to be done with a run when it is taken up again. Whose its thread is stays said."""
    own = intent if intent != "retry" else ""
    return case((R.c.intent.like(f"{ADOPTED}%"), f"{ADOPTED} {own}".strip()), else_=intent)


@dataclass(frozen=True, slots=True)
class Run:
    """A run as callers see it. `result` is JSON once it is completed."""

    id: str
    agent: str
    thread_id: str
    status: RunStatus
    result: Json
    error: str
    interactions: tuple[str, ...]
    created_at: int
    updated_at: int
    erased_at: int | None = None  # since when it holds no result any more
    user: str = ""  # for whom it was started, and what it asks is asked


ADD = Query(insert(R).values({c.name: p(c.name) for c in R.c} | {"position": Next(R)}))
_one = select(R).where(R.c.id == p("id"))
GET = Query(_one)
HELD = Either(sqlite=_one, postgresql=_one.with_for_update())  # until the commit nobody else changes it
_GOES_ON = f"run.{ONGOING}"
_all_of_thread = (
    select(R).where(R.c.agent == p("agent"), R.c.thread_id == p("thread_id")).order_by(R.c.id.desc())
)
_of_thread = _all_of_thread.where(text(_GOES_ON))
OF_THREAD = Query(_of_thread)
OR_TO_STOP = Query(_all_of_thread.where(text(f"({_GOES_ON} OR run.stop_at IS NOT NULL)")))  # these too
# Until the commit nobody ends it: what is asked for it is there to be withdrawn, or is not asked at all.
HELD_OF_THREAD = Either(sqlite=_of_thread, postgresql=_of_thread.with_for_update())
LARGE_PAGE = 1 << 20  # characters of results
PORTION = 4  # runs read at once: the result of one may take several MiB
LIST = Query(select(R).where(R.c.id > p("after")).order_by(R.c.id).limit(p("limit")))
LIST_BY = Query(
    select(R).where(R.c.id > p("after"), R.c.status == p("status")).order_by(R.c.id).limit(p("limit"))
)
INTERACTIONS = Query(select(X.c.id).where(X.c.run_id == p("run_id")).order_by(X.c.id))
ending = (
    update(R)
    .where(R.c.id == p("key"), text("run.status NOT IN ('completed', 'cancelled')"))
    .values(
        status=p("new_status"),
        result=p("new_result"),
        error=p("new_error"),
        next_attempt_at=None,
        updated_at=p("at"),
        position=Next(R),
    )
)
SET = Query(ending)
FINISH = Query(ending.returning(R.c.agent))
FAIL = Query(ending.values(intent=_intent("retry")).returning(R.c.agent))
GOES_ON = Query(  # nobody who follows along is told: they hear of the answer
    update(R).where(R.c.id == p("key"), R.c.status == "waiting").values(status="running", updated_at=p("at"))
)
STATUS = Query(
    update(R)
    .where(R.c.id == p("key"), R.c.status == p("old"))
    .values(status=p("new_status"), updated_at=p("at"), position=Next(R))
)
_again = (
    update(R)
    .where(R.c.id == p("key"), R.c.status == "failed")
    .values(
        status="running",
        error="",
        attempts=0,
        next_attempt_at=p("at"),
        updated_at=p("at"),
        position=Next(R),
    )
)
RETRY = Query(_again)
REASK = Query(_again.values(intent=_intent("reask")))
# From here on whoever takes it up goes on with it, and ends nothing any more.
REPLACED = Query(update(R).where(R.c.id == p("key"), R.c.intent == "replace").values(intent="start"))
LATEST = Query(_all_of_thread.limit(1))
AT_ONCE = Query(update(R).where(RUNNING, R.c.next_attempt_at > p("now")).values(next_attempt_at=p("now")))
POSTPONE = Query(update(R).where(R.c.id == p("key"), RUNNING).values(next_attempt_at=p("at"), error=p("why")))
_due = (RUNNING, R.c.next_attempt_at.is_not(None))
_still_due = R.c.id == p("key"), *_due, R.c.next_attempt_at <= p("now")
TAKE_UP = Query(update(R).where(*_still_due).values(next_attempt_at=p("at"), attempts=R.c.attempts + 1))
NOT_BEGUN = Query(
    update(R).where(R.c.id == p("key"), RUNNING).values(next_attempt_at=p("at"), attempts=R.c.attempts - 1)
)
LOOK_LATER = Query(update(R).where(*_still_due).values(next_attempt_at=p("at")))
DUE = Query(
    select(R).where(*_due, R.c.next_attempt_at <= p("now")).order_by(R.c.next_attempt_at).limit(p("limit"))
)
# What works for somebody: they started it by a message, or were asked in it at this address.
_latest = select(R.c.id).order_by(R.c.position.desc()).limit(LOOKED_AT).subquery("latest")
_answered = select(X.c.run_id).where(text("resume_next_at IS NOT NULL"))  # an answer is being given to it
_theirs = select(D.c.id).where(
    D.c.contact_id == p("contact"), D.c.provider == p("on"), D.c.external_id == p("external")
)
_asked = _theirs.join_from(X, D, D.c.interaction_id == X.c.id).where(X.c.run_id == R.c.id)
WORKING_FOR = Query(
    select(R.c.id, R.c.agent, R.c.thread_id)
    .where(RUNNING, R.c.id.in_(union(select(_latest.c.id), _answered)))
    .where(or_(exists(_theirs.where(D.c.id == R.c.told)), exists(_asked)))
    .order_by(R.c.id)
)
NEXT_AT = select(func.min(R.c.next_attempt_at)).where(*_due).scalar_subquery().label("run")


def add(
    tx: Tx,
    id: str,
    agent: str,
    thread_id: str,
    input: Json,
    route: Json,
    due_at: int | None,
    intent: str = "start",
    told: str = "",
    user: str = "",
) -> None:
    """Insert a running run; `due_at` is when somebody else may take it up if we die, who begin it now.

    `told` is the delivery that says to somebody that it has started; `user`: for whom, as of an interaction.
    """
    tx.later(
        ADD,
        id=id,
        agent=agent,
        thread_id=thread_id,
        status="running",
        input=dumps(input),
        result="null",
        error="",
        route=dumps(route),
        intent=intent,
        attempts=int(due_at is not None and due_at > tx.now),
        next_attempt_at=due_at,
        created_at=tx.now,
        updated_at=tx.now,
        erased_at=None,
        told=told,
        asked_by=user,
        stop_at=None,
        stop_by="",
        stop_attempts=0,
    )


def result_of(row: Row) -> tuple[Json, str]:
    """What came out of a run; a damaged one is none, and that is said."""
    try:
        return loads(row["result"]), ""
    except (ValueError, TypeError):
        return None, "Its result is damaged."


def view(tx: Tx, row: Row) -> Run:
    ids = tuple(found["id"] for found in tx.all(INTERACTIONS, run_id=row["id"]))
    result, damage = result_of(row)
    return Run(
        row["id"],
        row["agent"],
        row["thread_id"],
        RunStatus(row["status"]),
        result,
        row["error"] or damage,
        ids,
        row["created_at"],
        row["updated_at"],
        row["erased_at"],
        row["asked_by"],
    )


def page(tx: Tx, status: str | None, limit: int, after: str) -> tuple[tuple[Run, ...], bool]:
    """Oldest first, and whether there may be more: a page ends early where their results are large."""
    query, values = (LIST_BY, {"status": status}) if status else (LIST, {})
    found: list[Run] = []
    size = 0
    while len(found) < limit and size < LARGE_PAGE:
        wanted = min(PORTION, limit - len(found))
        rows = tx.all(query, after=found[-1].id if found else after, limit=wanted, **values)
        found += [view(tx, row) for row in rows]
        size += sum(len(row["result"]) for row in rows)
        if len(rows) < wanted:
            return tuple(found), False
    return tuple(found), True


def get(tx: Tx, id: str) -> Run | None:
    row = tx.one(GET, id=id)
    return None if row is None else view(tx, row)


def stands(tx: Tx, id: str, status: RunStatus) -> None:
    """Set where a run stands that goes on."""
    tx.later(SET, **standing(tx, id, status))


def goes_on(tx: Tx, id: str) -> None:
    """A run that waited has its answer."""
    tx.later(GOES_ON, key=id, at=tx.now)


def goes_on_there(tx: Tx, agent: str, thread_id: str) -> bool:
    """Whether a run works or waits on a thread."""
    found = tx.all(OF_THREAD, agent=agent, thread_id=thread_id)
    return any(row["status"] != RunStatus.FAILED for row in found)


def finish(tx: Tx, id: str, status: RunStatus, *, result: Json = None, error: str = "") -> bool:
    """Set where the run stands; False when it had ended before. Its intent is kept, for another try."""
    return _end(tx, FINISH, standing(tx, id, status, result, error))


def fail(tx: Tx, id: str, error: str) -> bool:
    """A step of it failed, which can be retried; False when it had ended before."""
    return _end(tx, FAIL, standing(tx, id, RunStatus.FAILED, error=error))


def _end(tx: Tx, query: Query, values: Row) -> bool:
    row = tx.one(query, **values)
    if row is not None:
        tx.count(Metric.RUNS, row["agent"], values["new_status"])
    return row is not None


def standing(tx: Tx, id: str, status: RunStatus, result: Json = None, error: str = "") -> Row:
    """The parameters of `ending`."""
    return {
        "key": id,
        "new_status": str(status),
        "new_result": dumps(result),
        "new_error": error,
        "at": tx.now,
    }
