"""Confirmations and reviews from a text: only a listed phrase, and only if it is all of the text."""

import re

from answerback.model import Question
from answerback.read import phrases
from answerback.read.normal import bare, digits
from answerback.read.result import Read, Unclear, Value
from answerback.sentences import say

REASON = re.compile(r"\s*([^:：\n]{1,40})[:：](.*)", re.DOTALL)
DEFAULT = ("approve", "reject")


def read_confirm(question: Question, text: str, language: str, *, typed: bool, numbered: bool) -> Read:
    """True or False. `numbered`: the person saw "1. Yes" and "2. No"."""
    unclear = Unclear("unclear_confirm", {"question": question.text, "text": text})
    if numbered and digits(bare(text)) in (1, 2):
        return Value(digits(bare(text)) == 1, text)
    if typed:
        found = phrases.yes_or_no(text, language)
        return unclear if found is None else Value(found, text)
    labels = {say("yes", language): True, say("no", language): False}
    return Value(labels[text], text) if text in labels else unclear


def read_review(question: Question, text: str, language: str, *, typed: bool, numbered: bool) -> Read:
    """A decision; "reject: reason" rejects so; other words are a reply where one is allowed."""
    allowed = question.decisions or DEFAULT
    at_once = [each for each in DEFAULT if each in allowed]  # the numbered ones, in the order of the buttons
    place = digits(bare(text)) if numbered else None
    found: str | None
    if place is not None and 1 <= place <= len(at_once):
        found = at_once[place - 1]
    elif typed:
        found = phrases.decision(text, language)
    else:
        found = next((each for each in allowed if say(each, language) == text), None)
    message = ""
    if found is None and typed:
        found, message = _with_reason(text, language)
    if found is None and typed and "respond" in allowed:
        return Value({"decision": "respond", "message": text}, text)
    return _decided(question, allowed, found, message, text, language)


def _with_reason(text: str, language: str) -> tuple[str | None, str]:
    """Rejecting is the safe side, so a reason may follow it; an approval with an addition is none."""
    split = REASON.fullmatch(text)
    if split and phrases.decision(split[1], language) == "reject" and split[2].strip():
        return "reject", split[2].strip()
    return None, ""


def _decided(
    question: Question, allowed: tuple[str, ...], found: str | None, message: str, text: str, language: str
) -> Read:
    if found is None:
        shown = question.action.name if question.action else question.text
        return Unclear("unclear_review", {"question": shown, "text": text})
    if found not in allowed:
        options = ", ".join(say(each, language).rstrip("…") for each in allowed)
        return Unclear("not_offered", {"options": options})
    if found == "edit":
        return Unclear("edit_needs_form")
    if found == "respond":
        return Unclear("write_reply")
    return Value({"decision": found, "message": message} if message else {"decision": found}, text)
