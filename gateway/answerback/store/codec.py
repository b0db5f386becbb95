"""Values to columns and back: questions, answers and records as canonical JSON."""

import json
from collections.abc import Callable
from dataclasses import asdict, replace
from functools import lru_cache
from typing import Any, TypeVar

from answerback import values
from answerback.model import (
    Action,
    Address,
    Answer,
    Attachment,
    Choice,
    Interaction,
    InteractionStatus,
    OnExpire,
    Question,
    QuestionKind,
    Written,
)
from answerback.store.tx import Row

T = TypeVar("T")
dumps, loads = values.dumps, json.JSONDecoder().decode  # what json.loads ends up in, for texts


def salvaged(text: str, read: Callable[[str], T], otherwise: T) -> T:
    """What was stored, for whoever takes it out; `otherwise`, if it is damaged and cannot be read."""
    try:
        return read(text)
    except (ValueError, TypeError, KeyError, AttributeError):
        return otherwise


def questions_out(questions: tuple[Question, ...]) -> str:
    return dumps([_question_out(question) for question in questions])


def _question_out(question: Question) -> dict[str, Any]:
    row: dict[str, Any] = {"id": question.id, "text": question.text, "kind": str(question.kind)}
    if question.choices:
        row["choices"] = [[choice.id, choice.label] for choice in question.choices]
    for key in ("minimum", "maximum"):
        if getattr(question, key) is not None:
            row[key] = getattr(question, key)
    for key in ("free_text", "whole"):
        if getattr(question, key):
            row[key] = True
    if not question.required:
        row["required"] = False
    if question.action is not None:
        row["action"] = {"name": question.action.name, "args": list(question.action.args.items())}
    if question.decisions:
        row["decisions"] = list(question.decisions)
    if question.demands is not None:
        row["demands"] = question.demands
    if question.written:
        row["written"] = str(question.written)
    if not question.files:
        row["files"] = False
    return row


@lru_cache(maxsize=64)  # one interaction is read several times on its way, and agents ask the same again
def questions_in(text: str) -> tuple[Question, ...]:
    return tuple(_question_in(row) for row in loads(text))


def _question_in(row: dict[str, Any]) -> Question:
    action = row.get("action")
    return Question(
        id=row["id"],
        text=row["text"],
        kind=QuestionKind(row["kind"]),
        choices=tuple(Choice(*choice) for choice in row.get("choices", ())),
        free_text=row.get("free_text", False),
        required=row.get("required", True),
        minimum=row.get("minimum"),
        maximum=row.get("maximum"),
        whole=row.get("whole", False),
        action=Action(action["name"], dict(action["args"])) if action else None,
        decisions=tuple(row.get("decisions", ())),
        demands=row.get("demands"),
        written=Written(row.get("written", "")),
        files=row.get("files", True),
    )


_ANSWER_KEYS = ("values", "text", "by", "via", "at", "expired", "no_response", "default_used")


def answer_out(answer: Answer) -> str:
    row: dict[str, Any] = {key: getattr(answer, key) for key in _ANSWER_KEYS}
    if answer.attachments:
        row["attachments"] = attachments_out(answer.attachments)
    return dumps(row)


def answer_in(text: str) -> Answer | None:
    if not text:
        return None
    row = loads(text)
    if "attachments" in row:
        row["attachments"] = attachments_in(row["attachments"])
    return Answer(**row)


def attachments_out(found: tuple[Attachment, ...]) -> list[dict[str, Any]]:
    return [asdict(each) for each in found]


def attachments_in(rows: list[dict[str, Any]]) -> tuple[Attachment, ...]:
    return tuple(Attachment(**row) for row in rows)


def interaction_in(row: Row) -> Interaction:
    """A row of `interaction`, with all of its columns, as a record. A damaged one must stop no other."""
    try:
        return _whole(row)
    except (ValueError, TypeError, KeyError, AttributeError, LookupError):
        names = (
            "id",
            "code",
            "title",
            "agent",
            "run_id",
            "thread_id",
            "interrupt_id",
            "digest",
            "callback_url",
            "created_at",
        )
        known = {name: row[name] for name in names}
        status = InteractionStatus(row["status"])
        user = row["asked_by"]
        return Interaction(**known, user=user, status=status, questions=(), context="", readable=False)


def _whole(row: Row) -> Interaction:
    return Interaction(
        id=row["id"],
        code=row["code"],
        status=InteractionStatus(row["status"]),
        questions=questions_in(row["questions"]),
        context=row["context"],
        title=row["title"],
        agent=row["agent"],
        run_id=row["run_id"],
        thread_id=row["thread_id"],
        interrupt_id=row["interrupt_id"],
        digest=row["digest"],
        checkpoint=row["checkpoint"],
        route=loads(row["route"]),
        on_expire=OnExpire(row["on_expire"]),
        default=loads(row["default_value"]),
        expirable=bool(row["expirable"]),
        sensitive=bool(row["sensitive"]),
        callback_url=row["callback_url"],
        user=row["asked_by"],
        created_at=row["created_at"],
        expires_at=row["expires_at"],
        overdue_at=row["overdue_at"],
        answered_by=row["answered_by"],
        answered_via=row["answered_via"],
        answered_at=row["answered_at"],
        answer=answer_in(row["answer"]),
        reason=row["reason"],
        resumed_at=row["resumed_at"],
        resume_attempts=row["resume_attempts"],
        resume_error=row["resume_error"],
        erased_at=row["erased_at"],
    )


def address_in(row: Row) -> Address:
    address = Address(row["provider"], row["external_id"], row["place"], row["contact_id"], row["id"])
    return replace(address, unreachable=row["unreachable"]) if row.get("unreachable") else address
