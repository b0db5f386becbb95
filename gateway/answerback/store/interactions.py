"""Interactions: asked, answered once, expired, cancelled, resumed."""

from sqlalchemy import and_, delete, func, insert, null, or_, select, text, update
from sqlalchemy import bindparam as p

from answerback.metrics import Metric, Time
from answerback.model import Answer, Interaction, InteractionStatus, Json
from answerback.standing import is_program
from answerback.store import audit, ids
from answerback.store.codec import answer_out, dumps, interaction_in, loads, questions_out
from answerback.store.query import Either, Query
from answerback.store.tx import Row, Tx
from answerback.tables import PENDING, STANDS, AnswerRow, InteractionRow, InteractionStateRow

X, N, S = InteractionRow.__table__, AnswerRow.__table__, InteractionStateRow.__table__  # type: ignore[attr-defined]
STILL_PENDING = text("interaction." + PENDING)

ADD = Query(insert(X).values({c.name: p(c.name) for c in X.c}))
_one = select(X).where(X.c.id == p("id"))
GET = Query(_one)
HELD = Either(sqlite=_one, postgresql=_one.with_for_update())
BY_KEY = Query(select(X).where(X.c.idempotency_key == p("key"), text("idempotency_key <> ''")))
OF_RUN = Query(select(X).where(X.c.run_id == p("run_id")).order_by(X.c.id))
_live = (  # of a thread: the last says the same as the text, and leads SQLite to the index that holds no past
    *(X.c.agent == p("agent"), X.c.thread_id == p("thread_id")),
    text(STANDS),
    X.c.interrupt_id > "",
)
_of_thread = select(X).where(*_live, STILL_PENDING).order_by(X.c.id)
OF_THREAD = Query(_of_thread)
HELD_OF_THREAD = Either(sqlite=_of_thread, postgresql=_of_thread.with_for_update())
_with_others = select(X).where(or_(X.c.id == p("id"), and_(*_live, STILL_PENDING))).order_by(X.c.id)
HELD_WITH_OTHERS = Either(sqlite=_with_others, postgresql=_with_others.with_for_update())
_live_of = select(X).where(*_live).order_by(X.c.id)
LIVE_OF = Either(sqlite=_live_of, postgresql=_live_of.with_for_update())
LIST = Query(select(X).where(X.c.id > p("after")).order_by(X.c.id).limit(p("limit")))
LIST_PENDING = Query(select(X).where(X.c.id > p("after"), STILL_PENDING).order_by(X.c.id).limit(p("limit")))
LIST_BY = Query(
    select(X).where(X.c.id > p("after"), X.c.status == p("status")).order_by(X.c.id).limit(p("limit"))
)
_OF_USER = (X.c.asked_by == p("user"), text("asked_by <> ''"), X.c.id > p("after"))
LIST_OF = Query(select(X).where(*_OF_USER).order_by(X.c.id).limit(p("limit")))
LIST_OF_BY = Query(select(X).where(*_OF_USER, X.c.status == p("status")).order_by(X.c.id).limit(p("limit")))
_some_pending = select(X.c.id).where(STILL_PENDING).limit(p("most")).subquery()
PENDING_NOW = Query(select(func.count().label("number")).select_from(_some_pending))
COMPLETE = Query(  # law 2: one conditional UPDATE decides
    update(X)
    .where(X.c.id == p("key"), STILL_PENDING, or_(X.c.closes_at.is_(None), X.c.closes_at > p("at")))
    .values(
        status="completed",
        answer=p("answer_"),
        answered_by=p("by_"),
        answered_via=p("via_"),
        answered_at=p("now_"),
        next_action_at=null(),
        resume_next_at=p("resume_at"),
        resume_attempts=p("attempts"),
    )
)
CLOSE = Query(
    update(X)
    .where(X.c.id == p("key"), STILL_PENDING)
    .values(
        status=p("new_status"),
        reason=p("why"),
        answer=p("answer_"),
        next_action_at=null(),
        resume_next_at=p("resume_at"),
    )
)
AGAIN = Query(
    update(X).where(X.c.id == p("key"), STILL_PENDING).values(route=p("new_route"), next_action_at=p("at"))
)
NEXT_AT = Query(update(X).where(X.c.id == p("key"), STILL_PENDING).values(next_action_at=p("at")))
END_NOW = Query(  # nobody is left to be asked: its deadline is now
    update(X).where(X.c.id == p("key"), STILL_PENDING).values(expires_at=p("at"), next_action_at=p("at"))
)
FALL_BACK = Query(  # its default cannot be used: silence means what `auto` means
    update(X)
    .where(X.c.id == p("key"), STILL_PENDING)
    .values(on_expire="auto", default_value="null", closes_at=p("closes_at_"))
)
OVERDUE = Query(
    update(X)
    .where(X.c.id == p("key"), STILL_PENDING)
    .values(overdue_at=p("at"), next_action_at=p("again_at"))
)
DUE = Query(
    select(X)
    .where(STILL_PENDING, X.c.next_action_at.is_not(None), X.c.next_action_at <= p("now"))
    .order_by(X.c.next_action_at)
    .limit(p("limit"))
)
_next_action = select(func.min(X.c.next_action_at)).where(STILL_PENDING, X.c.next_action_at.is_not(None))
NEXT_ACTION_AT = _next_action.scalar_subquery().label("action")
UNRESUMED = Query(
    select(X.c.id, X.c.agent, X.c.thread_id)
    .where(X.c.resume_next_at.is_not(None), X.c.resume_next_at <= p("now"))
    .order_by(X.c.resume_next_at)
    .limit(p("limit"))
)
_next_resume = select(func.min(X.c.resume_next_at)).where(X.c.resume_next_at.is_not(None))
NEXT_RESUME_AT = _next_resume.scalar_subquery().label("resume")
BEGUN = Query(
    update(X)
    .where(X.c.id == p("key"), X.c.resume_next_at.is_not(None))
    .values(resume_attempts=X.c.resume_attempts + 1, resume_next_at=p("again_at"))
)
RESUMED = Query(
    update(X)
    .where(X.c.id == p("key"))
    .values(resumed_at=p("at"), resume_next_at=null(), resume_error=p("error"))
    .returning(audit.last_of(p("key")))
)
_still_due = X.c.id == p("key"), X.c.resume_next_at.is_not(None), X.c.resume_next_at <= p("now")
STILL_DUE = Query(select(X).where(*_still_due))
LOOK_LATER = Query(update(X).where(*_still_due).values(resume_next_at=p("at")))
AT_ONCE = Query(update(X).where(X.c.resume_next_at > p("now")).values(resume_next_at=p("now")))
REVIVE = Query(  # answers that were accepted and then set aside, because the agent could not be given them
    update(X)
    .where(
        X.c.run_id == p("run"), X.c.resumed_at.is_(None), X.c.resume_next_at.is_(None), X.c.resume_error != ""
    )
    .where(text("status IN ('completed', 'expired')"), X.c.resume_error != p("gone"))
    .values(resume_next_at=p("at"), resume_attempts=1)
)
NOT_BEGUN = Query(  # somebody else has the thread: this one was no attempt
    update(X).where(X.c.id == p("key")).values(resume_next_at=p("at"), resume_attempts=p("attempts"))
)
POSTPONE = Query(update(X).where(X.c.id == p("key")).values(resume_next_at=p("at"), resume_error=p("error")))
ADD_ANSWER = Query(insert(N).values({c.name: p(c.name) for c in N.c}))
ADD_STATE = Query(insert(S).values(interaction_id=p("interaction_id"), state=p("state")))
STATE = Query(select(S.c.state).where(S.c.interaction_id == p("id")))
DROP_STATE = Query(delete(S).where(S.c.interaction_id == p("interaction")))

_DEFAULTS: Row = {
    column.name: column.default.arg if column.default is not None and column.default.is_scalar else None
    for column in X.c
} | {"answer": "", "reason": "", "resume_error": "", "checkpoint": "", "held_until": None, "erased_at": None}

# The kinds of answerers in the metrics, and what is counted where there was none.
PERSON, PROGRAM, PRESET, API = "person", "stand-in", "default", "api"
ENDED = {InteractionStatus.EXPIRED: Metric.EXPIRED, InteractionStatus.CANCELLED: Metric.CANCELLED}

new_id = ids.new_id


def add(
    tx: Tx, record: Interaction, *, closes_at: int | None, next_action_at: int | None, **more: object
) -> str:
    """Insert a pending interaction; its questions, as they are stored.

    `more` are the columns that the record does not carry.
    """
    questions = questions_out(record.questions)
    row = _DEFAULTS | {
        "id": record.id,
        "code": record.code,
        "status": str(record.status),
        "agent": record.agent,
        "run_id": record.run_id,
        "thread_id": record.thread_id,
        "interrupt_id": record.interrupt_id,
        "digest": record.digest,
        "checkpoint": record.checkpoint,
        "title": record.title,
        "questions": questions,
        "context": record.context,
        "route": dumps(record.route),
        "on_expire": str(record.on_expire),
        "default_value": dumps(record.default),
        "expirable": int(record.expirable),
        "sensitive": int(record.sensitive),
        "callback_url": record.callback_url,
        "asked_by": record.user,
        "created_at": tx.now,
        "expires_at": record.expires_at,
        "closes_at": closes_at,
        "next_action_at": next_action_at,
        **more,
    }
    tx.later(ADD, **row)
    tx.count(Metric.ASKED, record.agent)
    return questions


def get(tx: Tx, id: str) -> Interaction | None:
    row = tx.one(GET, id=id)
    return None if row is None else interaction_in(row)


def held(tx: Tx, id: str) -> Interaction | None:
    """As it stands now; until the commit no other process changes it."""
    row = tx.one(HELD, id=id)
    return None if row is None else interaction_in(row)


def held_with_others(tx: Tx, id: str) -> Interaction | None:
    """The same, with whatever else its run asks: for who may withdraw that too, or ends the run.

    In the order of their ids, like `hold_live`, so that of two who do so neither waits for the other.
    """
    seen = get(tx, id)
    if seen is None or not seen.run_id:
        return held(tx, id)
    rows = tx.all(HELD_WITH_OTHERS, id=id, agent=seen.agent, thread_id=seen.thread_id)
    return next((interaction_in(row) for row in rows if row["id"] == id), None)


def hold_asked(tx: Tx, agent: str, thread: str) -> None:
    """Let nobody answer what a thread asks until the commit.

    For who ends its run: an answer takes its question first, then the thread's lease and the run. In another
    order each of the two would wait for the other.
    """
    tx.all(HELD_OF_THREAD, agent=agent, thread_id=thread)


def hold_live(tx: Tx, agent: str, thread: str) -> list[Row]:
    """What stands for a thread's interrupts, until it is withdrawn or its answer was consumed.

    For who writes down where the thread stands, before they touch its lease: some of it may be withdrawn, and
    whoever answers takes the question first.
    """
    return tx.all(LIVE_OF, agent=agent, thread_id=thread)


def state(tx: Tx, id: str) -> Json:
    """What is kept for a caller without a checkpointer; None if nothing is, or not any more."""
    row = tx.one(STATE, id=id)
    return None if row is None else loads(row["state"])


def page(tx: Tx, status: str | None, limit: int, after: str, user: str = "") -> list[Interaction]:
    """Keyset-paged, oldest first; `user`: only what was asked for them."""
    if user:
        query = LIST_OF_BY if status else LIST_OF
    else:
        query = {None: LIST, "pending": LIST_PENDING}.get(status, LIST_BY)
    values = {"status": status} if query in (LIST_BY, LIST_OF_BY) else {}
    values |= {"user": user} if user else {}
    return [interaction_in(row) for row in tx.all(query, after=after, limit=limit, **values)]


def complete(
    tx: Tx, record: Interaction, answer: Answer, content: str, *, at: int, begun_until: int | None
) -> bool:
    """Law 2: whether this answer (`content`: as it is stored) won.

    `at`: when it counts as given (a trusted service time, or now).
    `begun_until`: when somebody else may hand it to the agent, if whoever has the lease now does not; None:
    there is no agent.
    """
    won = tx.run(
        COMPLETE,
        key=record.id,
        at=at,
        answer_=content,
        by_=answer.by,
        via_=answer.via,
        now_=tx.now,
        resume_at=begun_until,
        attempts=record.resume_attempts + (begun_until is not None),
    )
    if won != 1:
        return False
    kind = PROGRAM if is_program(answer.by) else API if answer.via == API else PERSON
    tx.count(Metric.ANSWERED, record.agent, kind)
    tx.time(Time.ANSWER, tx.now - record.created_at, record.agent, kind)
    return True


def keep(tx: Tx, record: Interaction, answer: Answer, content: str, *, won: bool) -> None:
    """Every answer that was given is kept, also one that did not count."""
    tx.later(
        ADD_ANSWER,
        id=new_id(),
        interaction_id=record.id,
        contact_id=answer.by,
        state="won" if won else "cast",
        content=content,
        via=answer.via,
        at=tx.now,
    )


def resumed(tx: Tx, id: str, *, at: int | None, error: str) -> None:
    """Its agent has it, or never will (`at`: None)."""
    row = tx.one(RESUMED, key=id, at=at, error=error)
    if row is not None:
        audit.known(tx, id, row["audited"])


def again(tx: Tx, record: Interaction, at: int | None) -> None:
    """Keep who wants to be asked again (`record.route`), and when to look at it next."""
    tx.run(AGAIN, key=record.id, new_route=dumps(record.route), at=at)


def close(
    tx: Tx, record: Interaction, status: InteractionStatus, reason: str = "", answer: Answer | None = None
) -> bool:
    """End a pending interaction without a person's answer; `answer` is what the agent is resumed with."""
    resume_at = tx.now if answer is not None and record.interrupt_id else None
    text_ = answer_out(answer) if answer is not None else ""
    values = {"new_status": str(status), "why": reason, "answer_": text_, "resume_at": resume_at}
    if tx.run(CLOSE, key=record.id, **values) != 1:
        return False
    if answer is not None and answer.default_used:
        tx.count(Metric.ANSWERED, record.agent, PRESET)
    else:
        tx.count(ENDED[status], record.agent)
    return True
