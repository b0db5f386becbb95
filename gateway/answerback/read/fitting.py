"""Whether a value from the API or the form answers its question: as it is, or not at all."""

import datetime
import math
from collections.abc import Sequence

from answerback.errors import DoesNotFit
from answerback.model import Json, Question, QuestionKind
from answerback.read.decisions import DEFAULT
from answerback.read.demanded import unmet
from answerback.values import canonical


def validate(question: Question, value: Json) -> Json:
    """The canonical value, or `DoesNotFit` with a sentence that says what would fit.

    Nothing is read into it: "yes" is not true, "2" is not 2, and a label is not its id.
    """
    canonical(value)
    if value is None and not question.required:
        return None
    found = _CHECKS[question.kind](question, value)
    if found is None:
        raise DoesNotFit(
            f"This does not answer the question. It needs {expected(question)}.{_hint(question, value)}"
        )
    if lacks := unmet(question, found):
        raise DoesNotFit(f"This does not fit what is asked for: {lacks.said}.")
    return found


def _hint(question: Question, value: Json) -> str:
    """Forms ask for lists and objects too, and take them as people write them."""
    is_structure = question.kind is QuestionKind.TEXT and isinstance(value, (list, dict))
    return " A list or an object is sent as a text that holds its JSON." if is_structure else ""


def expected(question: Question) -> str:
    """What would fit a question, as the end of a sentence; English, for whoever calls the API."""
    match question.kind:
        case QuestionKind.TEXT:
            return "a text that is not empty"
        case QuestionKind.CONFIRM:
            return "a yes or a no (true or false)"
        case QuestionKind.CHOICE:
            return f"one of these ids: {_ids(question)}" + (", or a text" if question.free_text else "")
        case QuestionKind.CHOICES:
            return f"a list of some of these ids, each once: {_ids(question)}"
        case QuestionKind.NUMBER:
            return _expected_number(question)
        case QuestionKind.DATE:
            return 'an ISO 8601 date ("2026-12-03"), or a date and time with its offset'
        case QuestionKind.REVIEW:
            return _expected_review(question)


def _expected_number(question: Question) -> str:
    low = "" if question.minimum is None else f", {question.minimum:g} or more"
    high = "" if question.maximum is None else f", {question.maximum:g} or less"
    return f"a {'whole ' if question.whole else ''}number{low}{high}"


def _expected_review(question: Question) -> str:
    allowed = question.decisions or DEFAULT
    needs = {
        "edit": ' with "args" (an object of all the call\'s own arguments, changed or not)',
        "respond": ' with "message" (a text)',
    }
    ways = [f'"{each}"{needs.get(each, "")}' for each in allowed]
    return 'an object whose "decision" is ' + ", or ".join(ways)


def _ids(question: Question) -> str:
    return ", ".join(f'"{choice.id}"' for choice in question.choices)


def _text(question: Question, value: Json) -> Json:
    fits = isinstance(value, str) and (value.strip() or not question.required)
    return value if fits else None


def _confirm(question: Question, value: Json) -> Json:
    return value if isinstance(value, bool) else None


def _choice(question: Question, value: Json) -> Json:
    if not isinstance(value, str):
        return None
    listed = any(choice.id == value for choice in question.choices)
    return value if listed or (question.free_text and value.strip()) else None


def _choices(question: Question, value: Json) -> Json:
    ids = {choice.id for choice in question.choices}
    if not isinstance(value, list) or not all(isinstance(each, str) and each in ids for each in value):
        return None
    return value if len(set(value)) == len(value) and (value or may_be_none(question)) else None


def may_be_none(question: Question) -> bool:
    """Whether none of the choices is an answer to a question for several: its asker says so."""
    least = question.demands.get("minItems") if isinstance(question.demands, dict) else None
    return not question.required or least == 0


def _number(question: Question, value: Json) -> Json:
    if isinstance(value, bool) or not isinstance(value, (int, float)) or not math.isfinite(value):
        return None
    if question.whole and isinstance(value, float):
        if not value.is_integer():
            return None
        value = int(value)
        canonical(value)
    low = question.minimum is None or value >= question.minimum
    return value if low and (question.maximum is None or value <= question.maximum) else None


def _date(question: Question, value: Json) -> Json:
    if not isinstance(value, str):
        return None
    try:
        if len(value) == len("2026-12-03"):
            return datetime.date.fromisoformat(value).isoformat()
        found = datetime.datetime.fromisoformat(value)
    except ValueError:
        return None
    return found.isoformat() if found.tzinfo else None


def _review(question: Question, value: Json) -> Json:
    if not isinstance(value, dict) or value.keys() - {"decision", "args", "message"}:
        return None
    decision, message = value.get("decision"), value.get("message", "")
    if decision not in (question.decisions or DEFAULT) or not isinstance(message, str):
        return None
    if ("args" in value) != (decision == "edit") or (decision == "respond" and not message.strip()):
        return None
    return value if decision != "edit" or _edits(question, value["args"]) else None


def _edits(question: Question, args: Json) -> bool:
    """The arguments that the call has: nothing is added to what was reviewed, or left out of it unseen."""
    known = question.action.args if question.action else None
    return isinstance(args, dict) and bool(args) and (known is None or args.keys() == known.keys())


_CHECKS = {
    QuestionKind.TEXT: _text,
    QuestionKind.CONFIRM: _confirm,
    QuestionKind.CHOICE: _choice,
    QuestionKind.CHOICES: _choices,
    QuestionKind.NUMBER: _number,
    QuestionKind.DATE: _date,
    QuestionKind.REVIEW: _review,
}


def by_question(questions: Sequence[Question], response: Json) -> dict[str, Json]:
    """Raw values by question id: a bare value for one question, an object for several.

    Raises `DoesNotFit` for ids that are not asked and for required questions without a value.
    """
    ids = [question.id for question in questions]
    if len(ids) == 1 and not (isinstance(response, dict) and set(response) == {ids[0]}):
        return {ids[0]: response}
    if not isinstance(response, dict):
        raise DoesNotFit(f"There are {len(ids)} questions: send an object with a value for {_join(ids)}.")
    if set(response) - set(ids):
        raise DoesNotFit(f"The response has ids that are not asked. The questions are: {_join(ids)}.")
    missing = [each.id for each in questions if each.required and each.id not in response]
    if missing:
        raise DoesNotFit(f"The response has no value for: {_join(missing)}.")
    return response


def _join(ids: Sequence[str]) -> str:
    return ", ".join(f'"{each}"' for each in ids)
