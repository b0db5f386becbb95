"""What ended long ago, table by table, and taking out of it what was said.

Ids, times, who answered and how it ended stay, and so do the keys of events and interrupts (law 4) and the
chain of the audit.
"""
# ruff: noqa: S608 - the statements are built from the constants of this module and of `tables`

from dataclasses import dataclass, replace
from enum import StrEnum
from typing import Any

from sqlalchemy import and_, delete, func, or_, select, text, update
from sqlalchemy import bindparam as p

from answerback.store import audit, deliveries, interactions
from answerback.store.codec import answer_out, loads
from answerback.store.query import Either, Query
from answerback.store.tx import Row, Tx
from answerback.store.walking import flag, stretch
from answerback.tables import (
    DAMAGED,
    UNGIVEN,
    UNREAD,
    UNSENT,
    AnswerRow,
    DeliveryRow,
    InteractionRow,
    NoticeRow,
    ReplyRow,
    RunRow,
)

X, N = InteractionRow.__table__, AnswerRow.__table__  # type: ignore[attr-defined]
R, D = RunRow.__table__, DeliveryRow.__table__  # type: ignore[attr-defined]
P, T = ReplyRow.__table__, NoticeRow.__table__  # type: ignore[attr-defined]

BY = "retention"  # who it was, in the audit and on dead letters
_DONE_WITH = "EXISTS (SELECT 1 FROM letter WHERE letter.id = it.id)"
OVER = "(run.status IN ('completed', 'cancelled') AND run.stop_at IS NULL)"  # and its agent knows
# Parts of the conditions below; what is a dead letter whose content would be needed again is held back.
_ITS_RUN_IS_OVER = f"""(it.run_id = '' OR EXISTS (
  SELECT 1 FROM run WHERE run.id = it.run_id AND {OVER} AND run.updated_at < :ended))"""
_ITS_QUESTION_IS_ERASED = """EXISTS (SELECT 1 FROM interaction
  WHERE interaction.id = it.interaction_id AND interaction.erased_at IS NOT NULL
    AND interaction.questions = '[]')"""
_IS_LEFT = "(erased_at IS NULL OR questions <> '[]')"  # of one whose answerer was erased, what was asked is
GIVEN_UP = f"""(({UNGIVEN} OR {DAMAGED}) AND NOT {_DONE_WITH}
  AND NOT EXISTS (SELECT 1 FROM run WHERE run.id = it.run_id AND run.status = 'cancelled'))"""


def _queued(column: str) -> str:
    partly = " AND delivery.notice_id <> ''" if column == "notice_id" else ""  # leads to its partial index
    return f"""EXISTS (SELECT 1 FROM delivery
  WHERE delivery.{column} = it.id{partly} AND delivery.status = 'queued')"""


class Kind(StrEnum):
    """What is gone through, in this order: messages and events go with what they were for."""

    INTERACTION = "interaction"
    RUN = "run"
    NOTICE = "notice"
    DELIVERY = "delivery"
    REPLY = "reply"


_DUE = {
    Kind.INTERACTION: f"""{_IS_LEFT} AND it.created_at < :ended
  AND it.status <> 'pending' AND it.resume_next_at IS NULL
  AND {_ITS_RUN_IS_OVER} AND NOT {GIVEN_UP} AND NOT {_queued("interaction_id")}
  AND coalesce((SELECT max(audit.at) FROM audit WHERE audit.interaction_id = it.id), 0) < :ended""",
    Kind.RUN: """it.erased_at IS NULL AND it.status IN ('completed', 'cancelled') AND it.stop_at IS NULL
  AND it.updated_at < :ended""",
    Kind.NOTICE: f"it.erased_at IS NULL AND it.created_at < :ended AND NOT {_queued('notice_id')}",
    Kind.DELIVERY: f"""it.content <> '{{}}' AND it.created_at < :ended AND it.status <> 'queued'
  AND CASE
    WHEN it.interaction_id <> '' THEN {_ITS_QUESTION_IS_ERASED}
    WHEN it.notice_id <> '' THEN EXISTS (
      SELECT 1 FROM notice WHERE notice.id = it.notice_id AND notice.erased_at IS NOT NULL)
    WHEN it.run_id <> '' THEN EXISTS (
      SELECT 1 FROM run WHERE run.id = it.run_id AND run.erased_at IS NOT NULL)
    ELSE 1 = 1 END""",
    Kind.REPLY: f"""length(it.raw) > 0 AND it.received_at < :ended AND (NOT it.{UNREAD} OR {_DONE_WITH})
  AND (it.interaction_id = '' OR {_ITS_QUESTION_IS_ERASED})""",
}
_KEYS: dict[Kind, tuple[str, ...]] = dict.fromkeys(Kind, ("id",)) | {Kind.REPLY: ("provider", "event_id")}
_MORE = {Kind.RUN: ", it.agent, it.thread_id, it.intent"}


def _look(kind: Kind) -> Query:
    """The rows behind a key, and whether each is due."""
    return stretch(kind, _KEYS[kind], f"{flag(_DUE[kind])} AS due{_MORE.get(kind, '')}")


LOOK = {kind: _look(kind) for kind in Kind}
THREAD_IN_USE = Query(  # by what goes on, or has ended only lately
    text(
        "SELECT 1 AS found FROM run WHERE run.agent = :agent AND run.thread_id = :thread_id "
        f"AND (NOT {OVER} OR run.updated_at >= :ended) LIMIT 1"
    )
)
THREAD_SHARED = Query(
    select(R.c.id)
    .where(
        *(R.c.agent == p("agent"), R.c.thread_id == p("thread")),
        *(R.c.id != p("run"), R.c.erased_at.is_(None)),
    )
    .limit(1)
)
_of_thread = select(R.c.id).where(R.c.agent == p("agent"), R.c.thread_id == p("thread")).order_by(R.c.id)
HELD_OF_THREAD = Either(sqlite=_of_thread, postgresql=_of_thread.with_for_update())
# What hangs on one question or run and has no index of its own: for the rare case that somebody asks for it.
MESSAGES_OF = Query(
    select(D.c.id).where(
        or_(D.c.interaction_id == p("interaction"), and_(D.c.run_id == p("run"), D.c.run_id != "")),
        D.c.content != "{}",
        D.c.status != "queued",
    )
)
UNSURE = Query(  # what was asked about a reply that could have been for several questions: it holds its text
    select(D.c.id, D.c.provider, D.c.content).where(
        D.c.kind == "conversation", D.c.interaction_id == "", D.c.content != "{}", D.c.status != "queued"
    )
)
EVENTS_OF = Query(
    select(P.c.provider, P.c.event_id).where(
        P.c.interaction_id == p("interaction"), func.length(P.c.raw) > 0, P.c.error == ""
    )
)
INTERACTION = Query(
    update(X)
    .where(X.c.id == p("key"), text(f"{_IS_LEFT} AND status <> 'pending' AND resume_next_at IS NULL"))
    .values(
        title="",
        questions="[]",
        context="",
        default_value="null",
        callback_url="",
        reason=p("why"),
        resume_error="",
        answer=p("left"),
        erased_at=p("at"),
    )
)
ANSWERS = Query(delete(N).where(N.c.interaction_id == p("interaction")))
_EMPTY: dict[str, Any] = {"input": "null", "result": "null", "error": "", "erased_at": p("at")}
RUN = Query(update(R).where(R.c.id == p("key")).values(**_EMPTY))
RUNS_OF_THREAD = Query(
    update(R)
    .where(R.c.agent == p("of_agent"), R.c.thread_id == p("thread"), R.c.erased_at.is_(None), text(OVER))
    .values(**_EMPTY)
)
NOTICE = Query(update(T).where(T.c.id == p("key")).values(title="", content="", erased_at=p("at")))
DELIVERY = Query(  # not of one that is being sent again since it was looked at
    update(D).where(D.c.id == p("key"), D.c.status != "queued").values(content="{}")
)
REPLY = Query(update(P).where(P.c.provider == p("of"), P.c.event_id == p("event")).values(raw=b""))


def _unsent(column: str) -> Query:
    """What could not be sent is no dead letter any more: there is nothing left to send."""
    partly = " AND it.notice_id <> ''" if column == "notice_id" else ""
    return Query(
        text(
            "INSERT INTO letter (id, done, by, at) "
            f"SELECT it.id, 'erased', '{BY}', :at FROM delivery it "
            f"WHERE it.{column} = :key{partly} AND {UNSENT} AND NOT {_DONE_WITH}"
        )
    )


UNSENT_OF_INTERACTION, UNSENT_OF_NOTICE, UNSENT_ITSELF = map(_unsent, ("interaction_id", "notice_id", "id"))


@dataclass(frozen=True, slots=True)
class Seen:
    """What one look found: the keys and columns of what is due, and where the next look begins."""

    due: list[Row]
    behind: Row | None  # None: there is nothing behind it


def start(kind: Kind) -> Row:
    """The key before the first."""
    return dict.fromkeys(_KEYS[kind], "")


def look(tx: Tx, kind: Kind, behind: Row, ended: int, most: int) -> Seen:
    """At most `most` rows behind a key; due is what ended before `ended`, microseconds since the epoch."""
    found = tx.all(LOOK[kind], ended=ended, most=most, **behind)
    last = {name: found[-1][name] for name in _KEYS[kind]} if len(found) == most else None
    return Seen([row for row in found if row["due"]], last)


def is_in_use(tx: Tx, agent: str, thread_id: str, ended: int) -> bool:
    """Whether any run of the thread goes on, failed, or ended after `ended`."""
    return tx.one(THREAD_IN_USE, agent=agent, thread_id=thread_id, ended=ended) is not None


def hold_thread(tx: Tx, run: Row) -> None:
    """Keep all runs of a run's thread as they are until the commit.

    Of two that erase its last two runs at once, the second sees then that it has the last one, with which its
    agent has to forget the thread. For who touches neither a question nor the thread's lease after this.
    """
    tx.all(HELD_OF_THREAD, agent=run["agent"], thread=run["thread_id"])


def is_shared(tx: Tx, run: Row) -> bool:
    """Whether the run's thread has other runs that are not erased, ended or not."""
    wanted = {"agent": run["agent"], "thread": run["thread_id"], "run": run["id"]}
    return tx.one(THREAD_SHARED, **wanted) is not None


def traces(tx: Tx, interaction: str, run: str) -> list[tuple[Kind, Row]]:
    """Messages and events of a question and its run that say anything. Reads two tables from end to end."""
    messages = tx.all(MESSAGES_OF, interaction=interaction, run=run)
    events = tx.all(EVENTS_OF, interaction=interaction)
    for row in _which_one(tx, interaction):
        messages.append(row)
        if event := loads(row["content"]).get("args", {}).get("event"):
            events.append({"provider": row["provider"], "event_id": event})
    return [*((Kind.DELIVERY, row) for row in messages), *((Kind.REPLY, row) for row in events)]


def _which_one(tx: Tx, interaction: str) -> list[Row]:
    """The messages that asked which question a text was for, and named this one: it may be its answer."""
    named = [row["id"] for row in tx.all(deliveries.OF, interaction_id=interaction)]
    return [row for row in tx.all(UNSURE) if any(id in row["content"] for id in named)]


def erase(tx: Tx, kind: Kind, row: Row, by: str = BY) -> bool:
    """Take out of one row, and of what hangs on it, what was said. False when there was nothing to take."""
    match kind:
        case Kind.INTERACTION:
            return _interaction(tx, row["id"], by)
        case Kind.RUN:
            tx.run(RUN, key=row["id"], at=tx.now)
        case Kind.NOTICE:
            tx.run(UNSENT_OF_NOTICE, key=row["id"], at=tx.now)
            tx.run(NOTICE, key=row["id"], at=tx.now)
        case Kind.DELIVERY:
            if tx.run(DELIVERY, key=row["id"]) == 0:
                return False
            tx.run(UNSENT_ITSELF, key=row["id"], at=tx.now)
        case Kind.REPLY:
            tx.run(REPLY, of=row["provider"], event=row["event_id"])
    return True


def thread(tx: Tx, agent: str, thread_id: str) -> int:
    """All ended runs of a thread that its agent has forgotten; how many there were."""
    return tx.run(RUNS_OF_THREAD, of_agent=agent, thread=thread_id, at=tx.now)


def _interaction(tx: Tx, id: str, by: str) -> bool:
    record = interactions.get(tx, id)
    assert record is not None
    left = replace(record.answer, values={}, text="", attachments=()) if record.answer is not None else None
    why = record.reason if record.reason == "superseded" else ""  # the others are in somebody's words
    kept = answer_out(left) if left is not None else ""
    if tx.run(INTERACTION, key=id, left=kept, why=why, at=tx.now) == 0:
        return False
    tx.run(ANSWERS, interaction=id)
    tx.run(interactions.DROP_STATE, interaction=id)
    tx.run(UNSENT_OF_INTERACTION, key=id, at=tx.now)
    audit.erase(tx, id)
    audit.add(tx, id, "erased", actor=by)
    return True
