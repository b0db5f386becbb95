"""Dead letters, read from the rows where something was given up; nothing is kept twice."""
# ruff: noqa: S608 - the statements are built from the constants of this module and of `tables`

from enum import StrEnum
from heapq import merge
from itertools import islice
from typing import Any

from sqlalchemy import bindparam as p
from sqlalchemy import select, text, update

from answerback.store.query import Either, Query, both
from answerback.store.tx import Row, Tx
from answerback.tables import (
    DAMAGED,
    FAILED,
    UNGIVEN,
    UNREAD,
    UNSENT,
    UNTOLD,
    DeliveryRow,
    InteractionRow,
    LetterRow,
    ReplyRow,
    RunRow,
)

D, X = DeliveryRow.__table__, InteractionRow.__table__  # type: ignore[attr-defined]
P, G = ReplyRow.__table__, LetterRow.__table__  # type: ignore[attr-defined]
R = RunRow.__table__  # type: ignore[attr-defined]


class Kind(StrEnum):
    """What was given up."""

    DELIVERY = "delivery"  # a message that could not be sent
    REPLY = "reply"  # an event that came in and could not be read or matched
    ANSWER = "answer"  # an accepted answer that could not be given to its agent
    RUN = "run"  # a run that failed
    INTERACTION = "interaction"  # a question whose record is damaged
    STOP = "stop"  # a run that was cancelled without its agent being told


_COLUMNS = ("at", "error", "agent", "run_id", "interaction_id", "provider", "contact_id", "subject", "state")
_ITS_RUN = "LEFT JOIN run ON run.id = it.run_id"
_RUN_GOES_ON = "coalesce(run.status, '') <> 'cancelled'"
_ASKED_OTHERWISE = """it.interaction_id <> '' AND EXISTS (
  SELECT 1 FROM delivery other
  WHERE other.interaction_id = it.interaction_id AND other.contact_id = it.contact_id AND other.id <> it.id
    AND other.provider <> 'form' AND other.kind IN ('question', 'reminder')
    AND other.status IN ('queued', 'sent', 'delivered', 'read'))"""
_TOLD_OTHERWISE = """it.notice_id <> '' AND EXISTS (
  SELECT 1 FROM delivery other
  WHERE other.notice_id = it.notice_id AND other.notice_id <> '' AND other.contact_id = it.contact_id
    AND other.id <> it.id AND other.status IN ('queued', 'sent', 'delivered', 'read'))"""
_BECAUSE_OF_AN_ANSWER = f"""EXISTS (
  SELECT 1 FROM (SELECT * FROM interaction WHERE {UNGIVEN}) given_up
  WHERE given_up.run_id = it.id AND replace(it.error, given_up.resume_error, '') <> it.error
    AND NOT EXISTS (SELECT 1 FROM letter WHERE letter.id = given_up.id))"""


def _given_up(table: str, predicate: str, joined: str = "", /, **columns: str) -> str:
    """What was given up in one table; of all of them with the same columns."""
    nothing = "''"
    listed = ", ".join(f"{columns.get(name, nothing)} AS {name}" for name in _COLUMNS)
    return f"SELECT it.id, {listed} FROM (SELECT * FROM {table} WHERE {predicate}) it {joined}"


def _letters(table: str, predicate: str, joined: str = "", /, **columns: str) -> str:
    """The letters among it: what is done with is none any more."""
    found = _given_up(table, predicate, joined, **columns)
    return f"{found} WHERE NOT EXISTS (SELECT 1 FROM letter WHERE letter.id = it.id)"


_OF = {
    # `subject`: what a delivery says, or how an event is known. `state`: of its question, if it asks one.
    Kind.DELIVERY: _letters(
        "delivery",
        UNSENT,
        "LEFT JOIN interaction asked ON asked.id = it.interaction_id "
        f"LEFT JOIN notice told ON told.id = it.notice_id {_ITS_RUN}",
        at="it.created_at",
        error="it.error",
        agent="coalesce(asked.agent, told.agent, run.agent, '')",
        run_id="it.run_id",
        interaction_id="it.interaction_id",
        provider="it.provider",
        contact_id="it.contact_id",
        subject="it.kind",
        state="it.status",
    ),
    Kind.REPLY: _letters("reply", UNREAD, at="it.received_at", error="it.error", provider="it.provider"),
    Kind.ANSWER: _letters(
        "interaction",
        UNGIVEN,
        _ITS_RUN,
        at="coalesce(it.answered_at, it.expires_at, it.created_at)",
        error="it.resume_error",
        agent="it.agent",
        run_id="it.run_id",
        interaction_id="it.id",
        contact_id="it.answered_by",
        state="it.status",
    )
    + f" AND it.status IN ('completed', 'expired') AND {_RUN_GOES_ON}",
    Kind.RUN: _letters("run", FAILED, at="it.updated_at", error="it.error", agent="it.agent", run_id="it.id")
    + f" AND NOT {_BECAUSE_OF_AN_ANSWER}",
    Kind.INTERACTION: _letters(
        "interaction",
        DAMAGED,
        _ITS_RUN,
        at="it.created_at",
        error="it.reason",
        agent="it.agent",
        run_id="it.run_id",
        interaction_id="it.id",
        state="it.status",
    )
    + f" AND {_RUN_GOES_ON}",
    # Its own mark says when it is done with: the same run may have been discarded before, as one that failed.
    Kind.STOP: _given_up(
        "run", UNTOLD, at="it.updated_at", error="it.error", agent="it.agent", run_id="it.id"
    )
    + " WHERE it.status = 'cancelled'",
}
# What is not worth showing, though it may still be asked for by its id.
_MATTERS = {
    Kind.DELIVERY: f""" AND (asked.reason IS NULL OR NOT asked.{DAMAGED})
      AND NOT ({_TOLD_OTHERWISE})
      AND (it.kind NOT IN ('question', 'reminder')
        OR asked.status IN ('pending', 'expired') AND NOT ({_ASKED_OTHERWISE}))"""
}
_PAGE = {
    kind: f"{found}{_MATTERS.get(kind, '')} AND it.id > :after ORDER BY it.id LIMIT :limit"
    for kind, found in _OF.items()
}
PAGE = {kind: Query(text(page)) for kind, page in _PAGE.items()}
COUNT = {kind: Query(text(f"SELECT count(*) AS n FROM ({page}) found")) for kind, page in _PAGE.items()}
FIND = {kind: Query(text(f"{found} AND it.id = :id")) for kind, found in _OF.items()}


def _held(table: Any, *given_up: Any) -> Either:
    one = select(table.c.id).where(table.c.id == p("id"), *given_up)
    return Either(sqlite=one, postgresql=one.with_for_update())


HOLD = {  # until the commit: of two who deal with it at once, the second sees what became of it
    Kind.DELIVERY: _held(D),
    Kind.REPLY: _held(P, text(UNREAD)),  # it has an index of these only
    Kind.ANSWER: _held(X),
    Kind.RUN: _held(R),
    Kind.INTERACTION: _held(X),
    Kind.STOP: _held(R),
}
EVENT = Query(select(P).where(P.c.id == p("id"), text(UNREAD)))
SEND_AGAIN = Query(  # its patience and its attempts begin anew
    update(D)
    .where(D.c.id == p("key"), text(UNSENT))
    .values(
        status="queued",
        attempts=0,
        error="",
        created_at=p("at"),
        next_attempt_at=p("at"),
        lease_owner="",
        address_id=p("address"),
        external_id=p("external"),
        place=p("to_place"),
    )
)
GIVE_AGAIN = Query(  # an attempt was begun: the agent is asked first whether it consumed the answer
    update(X).where(X.c.id == p("key"), text(UNGIVEN)).values(resume_next_at=p("at"), resume_attempts=1)
)
_values: dict[str, Any] = {c.name: p(c.name) for c in G.c}
DONE = both(lambda insert: insert(G).values(_values).on_conflict_do_nothing())


def page(tx: Tx, kind: Kind | None, limit: int, after: str) -> list[tuple[Kind, Row]]:
    """Keyset-paged, oldest first, of one kind or of all."""
    found = (
        [(one, row) for row in tx.all(PAGE[one], after=after, limit=limit)]
        for one in ([kind] if kind else Kind)
    )
    return list(islice(merge(*found, key=lambda letter: letter[1]["id"]), limit))


def count(tx: Tx, most: int) -> int:
    """How many there are, counted up to `most` of each kind."""
    return sum(tx.all(query, after="", limit=most)[0]["n"] for query in COUNT.values())


def find(tx: Tx, id: str) -> tuple[Kind, Row] | None:
    for kind, query in FIND.items():
        row = tx.one(query, id=id)
        if row is not None:
            return kind, row
    return None


def still(tx: Tx, kind: Kind, id: str) -> bool:
    """Whether it is one, and stays one until the commit but for what this transaction does with it."""
    tx.one(HOLD[kind], id=id)
    return tx.one(FIND[kind], id=id) is not None


def done(tx: Tx, id: str, how: str, by: str) -> bool:
    """From now on it is none any more; False when somebody else was quicker."""
    return tx.run(DONE, id=id, done=how, by=by, at=tx.now) == 1
