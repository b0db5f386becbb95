"""What a question demands beyond its kind, as its asker set it: whether a value of its kind fits that too."""

from answerback.demands import Need, first, one_a_line
from answerback.errors import DoesNotFit
from answerback.model import Json, Question, QuestionKind, Written
from answerback.read.result import Unclear
from answerback.sentences import need
from answerback.values import parse

FORMATS = {"date": "day", "date-time": "clock"}  # and what a date has too much or too little for them


def unmet(question: Question, value: Json) -> Need | None:
    """What a value of the question's kind lacks; None if it fits."""
    if value is None or (question.demands is None and not question.written):
        return None
    if question.kind is QuestionKind.REVIEW:
        if not isinstance(value, dict) or value.get("decision") != "edit":
            return None
        value = value.get("args")
    try:
        meant = _meant(question, value)
    except DoesNotFit:
        return Need("json")
    found = first(meant, question.demands) if question.demands is not None else None
    if found is not None and question.kind is QuestionKind.DATE:
        return Need(FORMATS.get(question.demands.get("format"), found.key), found.args)
    return found


def unfit(question: Question, value: Json, text: str, language: str) -> Unclear | None:
    """The same for the person who wrote `text`: what is wrong, and what to write."""
    found = unmet(question, value)
    return Unclear("unfit", {"text": text, "need": need(found, language)}) if found else None


def _meant(question: Question, value: Json) -> Json:
    """A text as its question says that it is meant. Raises `DoesNotFit` for one that is not JSON."""
    if not question.written or not isinstance(value, str):
        return value
    lines = one_a_line(value) if question.written is Written.LINES else None
    return parse(value) if lines is None else [*lines]
