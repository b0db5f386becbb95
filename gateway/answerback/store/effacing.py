"""Takes what one person said, and what names them, out of single rows. Their contact id stays."""

import re
from dataclasses import replace

from sqlalchemy import and_, delete, or_, select, text, update
from sqlalchemy import bindparam as p

from answerback.model import Answer
from answerback.store import audit, contacts, deliveries, erasing, interactions, letters, parked, unnamed
from answerback.store.codec import answer_in, answer_out, loads, salvaged
from answerback.store.erasing import REPLY, Kind
from answerback.store.query import Query
from answerback.store.tx import Row, Tx
from answerback.tables import (
    AnswerRow,
    AuditRow,
    DeliveryRow,
    InteractionRow,
    MessageRow,
    PaceRow,
    ReplyRow,
)

X, N = InteractionRow.__table__, AnswerRow.__table__  # type: ignore[attr-defined]
D, M = DeliveryRow.__table__, MessageRow.__table__  # type: ignore[attr-defined]
R, P, A = ReplyRow.__table__, PaceRow.__table__, AuditRow.__table__  # type: ignore[attr-defined]
FORM = "form"  # the provider of what came with a form, as in `outbox`

_theirs = N.c.interaction_id == p("interaction"), N.c.contact_id == p("contact")
ANSWERS = Query(select(N.c.content).where(*_theirs))
DROP_ANSWERS = Query(delete(N).where(*_theirs))
ANSWER = Query(
    update(X)
    .where(X.c.id == p("key"), text("status <> 'pending' AND resume_next_at IS NULL AND erased_at IS NULL"))
    .values(answer=p("left"), resume_error="", erased_at=p("at"))
)
SALT = Query(
    update(A)
    .where(A.c.interaction_id == p("interaction"), A.c.actor == p("contact"), text("event = 'answered'"))
    .values(salt="")
)
MESSAGE = Query(
    update(M)
    .where(M.c.provider == p("of"), M.c.message_id == p("its_id"))
    .values(message_id=p("hash"), parked="")
)
WAITING = Query(
    delete(M).where(M.c.provider == p("of"), M.c.message_id == p("its_id"), M.c.delivery_id == "")
)
DELIVERY = Query(
    update(D)
    .where(D.c.id == p("key"))
    .values(
        address_id="",
        external_id="",
        place="",
        content="{}",
        message_ids="[]",
        token_hash="",
        code_hash="",
        code_until=None,
        open=0,
        lease_owner="",
        next_attempt_at=None,
        status=p("new_status"),
        error=p("why"),
    )
)
EVENT = Query(
    update(R)
    .where(R.c.provider == p("of"), R.c.event_id == p("event"))
    .values(event_id=p("hash"), raw=b"", error="")
)
RAW = Query(select(R.c.raw).where(R.c.provider == p("provider"), R.c.event_id == p("event_id")))
# Before what LIKE would read otherwise. No backslash: SQLAlchemy 2.0 doubles one on PostgreSQL.
AS_IT_IS = "!"
PACE = Query(
    delete(P).where(
        or_(
            and_(
                P.c.account.in_([p("provider"), p("stranger"), p("void")]),
                P.c.place.in_([p("who"), p("there")]),
            ),
            and_(P.c.account == p("whose"), P.c.place.like(p("ends"), escape=AS_IT_IS)),
        )
    )
)
LEFT = Query(delete(contacts.C).where(contacts.C.c.id == p("key")))
ERASED = "erased"  # the event of the audit, and what became of a dead letter


def question(tx: Tx, row: Row, contact: str, by: str) -> bool:
    """Their part in a question that has ended; all of it where nobody else had one."""
    id = row["id"]
    for content in tx.all(ANSWERS, interaction=id, contact=contact):
        _uploads(tx, salvaged(content["content"], answer_in, None))
    if row["alone"] and erasing.erase(tx, Kind.INTERACTION, row, by):
        return True
    dropped = tx.run(DROP_ANSWERS, interaction=id, contact=contact)
    return _decision(tx, id, contact, by) if row["answered"] else dropped > 0


def _decision(tx: Tx, id: str, contact: str, by: str) -> bool:
    """What they answered goes; that they did, when and through what stays, and so does what was asked."""
    record = interactions.get(tx, id)
    assert record is not None
    left = replace(record.answer, values={}, text="", attachments=()) if record.answer is not None else None
    _uploads(tx, record.answer)
    if tx.run(ANSWER, key=id, left=answer_out(left) if left is not None else "", at=tx.now) == 0:
        return False
    tx.run(SALT, interaction=id, contact=contact)
    audit.add(tx, id, ERASED, actor=by)
    return True


def _uploads(tx: Tx, answer: Answer | None) -> None:
    """The files that came with a form are kept as events of it."""
    for file in answer.attachments if answer is not None else ():
        if file.provider == FORM:
            tx.run(REPLY, of=FORM, event=file.id)


def message(tx: Tx, row: Row) -> None:
    """A service's message id, which may hold the number of a chat: from now on it is known by its hash."""
    hash = unnamed.hashed(tx, row["provider"], row["message_id"])
    tx.run(MESSAGE, of=row["provider"], its_id=row["message_id"], hash=hash)


def waiting(tx: Tx, provider: str, message_id: str) -> None:
    """A message that is not known, and its receipts, which wait for it: both are known by its hash now."""
    if tx.run(WAITING, of=provider, its_id=message_id):
        parked.known(tx, provider, unnamed.hashed(tx, provider, message_id) or "", "")


def delivery(tx: Tx, id: str, by: str) -> bool:
    """A message to them: where it went and what it said. False while somebody is just sending it."""
    row = tx.one(deliveries.HELD, id=id)
    assert row is not None
    queued = row["status"] == "queued"
    claimed = row["lease_owner"] not in ("", deliveries.ITS_TURN)
    if queued and claimed and row["next_attempt_at"] is not None and row["next_attempt_at"] > tx.now:
        return False
    needless = queued or row["error"] == deliveries.NEEDLESS
    if row["status"] in ("failed", "unknown") and not needless:
        letters.done(tx, id, ERASED, by)
    # Sent since the ids were gone through, it may have new ones.
    for known_as in salvaged(row["message_ids"], _ids, list[str]()):
        message(tx, {"provider": row["provider"], "message_id": known_as})
    why, status = deliveries.NEEDLESS if needless else "", "failed" if queued else row["status"]
    tx.run(DELIVERY, key=id, new_status=status, why=why)
    return True


def _ids(text: str) -> list[str]:
    return [str(id) for id in loads(text)]


def about(tx: Tx, id: str) -> None:
    """A message to somebody else that names them."""
    erasing.erase(tx, Kind.DELIVERY, {"id": id})


def event(tx: Tx, row: Row, by: str) -> None:
    """What they sent: its words, and its id, which is known by its hash from now on (law 4)."""
    if row["error"]:
        letters.done(tx, row["letter"], ERASED, by)
    hash = unnamed.hashed(tx, row["provider"], row["event_id"])
    tx.run(EVENT, of=row["provider"], event=row["event_id"], hash=hash)


def paces(tx: Tx, provider: str, external_id: str, place: str) -> None:
    """When they were last told something, by their account. `place`: their own, "" where others read it."""
    ends = re.sub(rf"([{AS_IT_IS}%_])", rf"{AS_IT_IS}\1", external_id)
    tx.run(
        PACE,
        provider=provider,
        stranger=f"stranger:{provider}",
        void=f"void:{provider}",
        whose=f"whose:{provider}",
        who=external_id,
        there=place or external_id,
        ends=f"%:{ends}",
    )


def person(tx: Tx, contact: str) -> None:
    """What they were called."""
    tx.run(contacts.REMOVE_LINKS, contact_id=contact)
    tx.run(LEFT, key=contact)
    for known in ("contact", "still"):
        tx.memo.pop((known, contact), None)
