"""What a tapped button says: `{question}.{choice}`, `{question}.y`, `{question}.approve` and the like."""

import re
from collections.abc import Sequence

from answerback.model import Json, Question, QuestionKind
from answerback.read.decisions import DEFAULT
from answerback.sentences import say

PAYLOAD = re.compile(r"(\d{1,4})\.(\d{1,4}|[a-z]{1,12})", re.ASCII)
CONFIRM = {"y": ("yes", True), "n": ("no", False)}
AT_ONCE = ("approve", "reject")
SAID = {"other": "write_answer", "edit": "edit_needs_form", "respond": "write_reply"}


def read_payload(
    questions: Sequence[Question], payload: str, language: str = "en"
) -> tuple[Question, Json, str] | None:
    """The question, the canonical value and the label that was tapped.

    None if the payload decides nothing: it is not one of ours, or asks for words (`wants_text`).
    """
    found = _question(questions, payload)
    if not found:
        return None
    question, what = found
    if question.kind is QuestionKind.CONFIRM and what in CONFIRM:
        label, value = CONFIRM[what]
        return question, value, say(label, language)
    if question.kind is QuestionKind.REVIEW and what in AT_ONCE and what in (question.decisions or DEFAULT):
        return question, {"decision": what}, say(what, language)
    if question.kind is QuestionKind.CHOICE and what.isdecimal() and int(what) < len(question.choices):
        choice = question.choices[int(what)]
        return question, choice.id, choice.label
    return None


def wants_text(questions: Sequence[Question], payload: str) -> tuple[Question, str] | None:
    """For "Something else…" and the like: the question, and the key of the sentence that asks for words."""
    found = _question(questions, payload)
    return (found[0], SAID[found[1]]) if found and found[1] in SAID else None


def _question(questions: Sequence[Question], payload: str) -> tuple[Question, str] | None:
    match = PAYLOAD.fullmatch(payload)
    if not match or int(match[1]) >= len(questions):
        return None
    return questions[int(match[1])], match[2]
