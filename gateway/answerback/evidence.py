"""evidence: what a reply carries, looked up: which of its sender's questions it may be for."""

from answerback.match import Evidence, Open, find_codes
from answerback.model import InteractionStatus, Question
from answerback.provider import Reply
from answerback.store import Row, Tx, deliveries, interactions
from answerback.store.codec import questions_in
from answerback.tokens import hashed

OPEN_LIMIT = 10  # questions offered at "which one?"
SECOND = 1_000_000  # services tell times in whole seconds


def gather(tx: Tx, provider: str, reply: Reply, contact: str) -> Evidence | None:
    """The evidence; None when the reply is about something that this sender may not answer (law 7)."""
    token = by_token(tx, reply)
    referenced = [row for id in reply.references if (row := _by_message(tx, provider, id))]
    if any(
        not _may_answer(row, provider, reply, contact) for row in (*([token] if token else []), *referenced)
    ):
        return None
    codes = find_codes(reply.text)
    coded = [
        row
        for code in codes
        for row in tx.all(deliveries.BY_CODE, code=code, provider=provider, external_id=reply.sender)
        if _may_answer(row, provider, reply, contact)
    ]
    open_ = tx.all(deliveries.OPEN_FOR, provider=provider, external_id=reply.sender, limit=OPEN_LIMIT)
    open_ = [row for row in open_ if row["place"] == reply.place]
    about_questions = _newest(referenced)
    return Evidence(
        token_delivery=_open(tx, token) if token else None,
        referenced_deliveries=tuple(_open(tx, row) for row in about_questions),
        codes=tuple(_open(tx, row) for row in _newest(coded)),
        open_for_sender=tuple(_open(tx, row) for row in _newest(open_)),
        doubtful=bool(codes and not coded)
        or bool(reply.references and not about_questions)
        or any(not _was_read(reply, row) for row in open_),
    )


def asked_in(tx: Tx, evidence: Evidence) -> list[Question]:
    """All that a text could answer: a word that is one of their choices is no command."""
    found = [interactions.get(tx, candidate.interaction_id) for candidate in evidence.open_for_sender]
    return [question for record in found if record is not None for question in record.questions]


def by_token(tx: Tx, reply: Reply) -> Row | None:
    """The delivery whose token came back, in a tapped button or a reply address."""
    token = reply.data.partition(":")[0] or reply.token
    return tx.one(deliveries.BY_TOKEN, hash=hashed(token)) if token else None


def _by_message(tx: Tx, provider: str, message_id: str) -> Row | None:
    return tx.one(deliveries.BY_MESSAGE, provider=provider, message_id=message_id)


def _may_answer(row: Row, provider: str, reply: Reply, contact: str) -> bool:
    """Only the account that was asked, in the place where it was asked, while it is still that person's."""
    asked = row["provider"], row["external_id"], row["place"], row["contact_id"]
    return bool(asked == (provider, reply.sender, reply.place, contact))


def _was_read(reply: Reply, row: Row) -> bool:
    """Whether the question can have been seen by whoever wrote this: a text that waited at the service

    since before it was asked was meant for something else.
    """
    if row["sent_at"] is None:
        return False
    return bool(reply.sent_at is None or reply.sent_at + SECOND > row["sent_at"])


def _open(tx: Tx, row: Row) -> Open:
    record = tx.one(interactions.GET, id=row["interaction_id"])
    assert record is not None
    texts = tuple(question.text for question in questions_in(record["questions"]))
    return Open(row["interaction_id"], row["id"], record["code"], texts, InteractionStatus(record["status"]))


def _newest(rows: list[Row]) -> list[Row]:
    """One delivery an interaction (a reminder repeats its question)."""
    return list({row["interaction_id"]: row for row in rows if row["interaction_id"]}.values())
