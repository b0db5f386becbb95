"""From the fields of a form to answers: one reader for each kind of question.

The fields of question number i begin with `q{i}`, choices are named by their place: what an agent
calls its questions and choices never becomes a field name.
"""

import re
from collections.abc import Callable
from dataclasses import dataclass, field

from answerback import values
from answerback.errors import DoesNotFit
from answerback.model import Json, Question, QuestionKind
from answerback.read import unfit, unmet, validate
from answerback.read.decisions import DEFAULT
from answerback.read.fitting import may_be_none
from answerback.render import brief
from answerback.sentences import number, say
from answerback.web.arguments import read_arguments, touched
from answerback.web.posted import Posted
from answerback.web.wording import word

QUOTED, LONGEST = {"text": 80}, 400  # characters of what was typed in a sentence, and of anything else
_ISO_DATE = re.compile(r"\d{4}-\d\d-\d\d", re.ASCII)


@dataclass(frozen=True, slots=True)
class Filled:
    """What was filled in: values by question id, texts as typed, and a sentence for each wrong field."""

    values: dict[str, Json] = field(repr=False)
    text: str = field(repr=False)
    errors: dict[str, str]


class _Wrong(Exception):
    """A sentence about one field; `name` is the field if it is not the question's own."""

    def __init__(self, sentence: str, name: str = "") -> None:
        self.sentence, self.name = sentence, name
        super().__init__("a field does not fit")


_Reading = tuple[Json, str]
_NOTHING: _Reading = (None, "")


def fill(questions: tuple[Question, ...], posted: Posted, language: str, read: "TextReader") -> Filled:
    """Read all questions of an interaction. Optional ones that were left empty have no value."""
    found: dict[str, Json] = {}
    errors: dict[str, str] = {}
    texts: list[str] = []
    for place, question in enumerate(questions):
        name = f"q{place}"
        try:
            value, text = _READERS[question.kind](question, name, posted, language, read)
            _storable(value, text, language)
            if value is not None:
                _demanded(question, value, text, language)
                value = validate(question, value)
        except _Wrong as wrong:
            errors[wrong.name or name] = wrong.sentence
            continue
        except DoesNotFit as refusal:
            errors[name] = refusal.detail
            continue
        if value is None and _is_said_by_files(questions, posted):
            value, text = "", ""
        if value is None and question.required:
            errors[name] = word("missing", language)
        elif value is not None:
            found[question.id] = value
            texts.append(text)
    return Filled(found, texts[0] if len(questions) == 1 and texts else "", errors)


def _is_said_by_files(questions: tuple[Question, ...], posted: Posted) -> bool:
    """Whether there need not be a text too: the only question is one for a text, and files came."""
    only = questions[0] if len(questions) == 1 else None
    if only is None or not only.files or only.kind is not QuestionKind.TEXT:
        return False
    return bool(posted.files) and not unmet(only, "")


TextReader = Callable[[Question, str, str], "tuple[Json, str]"]
"""What was typed for a number or a date: (question, text, language) to (value, "") or (None, why not)."""


def _storable(value: Json, text: str, language: str) -> None:
    for typed in (text, value):
        found = values.unstorable(typed) if isinstance(typed, str) else ""
        if found:
            raise _Wrong(say("not_storable", language, character=found))


def _demanded(question: Question, value: Json, text: str, language: str) -> None:
    if found := unfit(question, value, text, language):
        shown = {gap: brief(filled, QUOTED.get(gap, LONGEST)) for gap, filled in found.args.items()}
        raise _Wrong(say(found.key, language, **shown))


def _text(question: Question, name: str, posted: Posted, language: str, read: TextReader) -> _Reading:
    typed = posted.one(name)
    return (typed, typed) if typed.strip() else _NOTHING


def _confirm(question: Question, name: str, posted: Posted, language: str, read: TextReader) -> _Reading:
    picked = posted.one(name)
    if picked not in ("yes", "no"):
        return _NOTHING
    return picked == "yes", say(picked, language)


def _choice(question: Question, name: str, posted: Posted, language: str, read: TextReader) -> _Reading:
    place = _place(posted.one(name), question)
    own = posted.one(f"{name}.own")
    if place is not None:
        if question.free_text and own.strip():
            raise _Wrong(word("unsent", language))
        chosen = question.choices[place]
        return chosen.id, chosen.label
    return (own, own) if question.free_text and own.strip() else _NOTHING


def _choices(question: Question, name: str, posted: Posted, language: str, read: TextReader) -> _Reading:
    places = {_place(value, question) for value in posted.all(name)} - {None}
    chosen = [choice for place, choice in enumerate(question.choices) if place in places]
    if not chosen and not (may_be_none(question) and posted.has(f"{name}.seen")):
        return _NOTHING
    return [choice.id for choice in chosen], ", ".join(choice.label for choice in chosen)


def _typed(question: Question, name: str, posted: Posted, language: str, read: TextReader) -> _Reading:
    typed = posted.one(name).strip()
    if not typed:
        return _NOTHING
    if question.kind is QuestionKind.DATE and _ISO_DATE.fullmatch(typed):
        return typed, typed
    value, why = read(question, typed, language)
    if why:
        raise _Wrong(why)
    return value, typed


def _review(question: Question, name: str, posted: Posted, language: str, read: TextReader) -> _Reading:
    decision = posted.one(name)
    if decision not in decisions(question):
        return _NOTHING
    if unsent(question, name, posted):
        raise _Wrong(word("unsent", language))
    if decision == "edit":
        args, wrong = read_arguments(question, name, posted, language)
        if wrong:
            raise _Wrong(wrong[1], wrong[0])
        return {"decision": "edit", "args": args}, say("edit", language)
    message = posted.one(f"{name}.{decision}")
    if decision == "respond" and not message.strip():
        raise _Wrong(word("missing", language), f"{name}.respond")
    if decision == "approve" or not message.strip():
        return {"decision": decision}, say(decision, language)
    _storable(message, message, language)
    return {"decision": decision, "message": message}, message


def unsent(question: Question, name: str, posted: Posted) -> bool:
    """Whether a decision leaves something out that was typed: nobody may approve what they have changed, and

    believe that the change counts.
    """
    decision = posted.one(name)
    if decision == "approve" and "edit" in decisions(question) and touched(question, name, posted):
        return True
    return any(posted.one(f"{name}.{each}").strip() for each in ("reject", "respond") if each != decision)


def decisions(question: Question) -> tuple[str, ...]:
    """What may be decided about an action; editing needs something that can be edited."""
    allowed = question.decisions or DEFAULT
    has_arguments = bool(question.action and question.action.args)
    return tuple(each for each in allowed if each != "edit" or has_arguments)


def bounds(question: Question, language: str) -> str:
    """What a number may be, without words: "1 – 10", "≥ 1"; "" for any."""
    low, high = (
        None if limit is None else number(int(limit) if float(limit).is_integer() else limit, language)
        for limit in (question.minimum, question.maximum)
    )
    if low is not None and high is not None:
        return f"{low} – {high}"
    return f"≥ {low}" if low is not None else f"≤ {high}" if high is not None else ""


def keyboard(question: Question) -> str:
    """Which keyboard a telephone shows for a text: "email" or "url"; "" for any."""
    wanted = question.demands.get("format") if isinstance(question.demands, dict) else None
    return {"email": "email", "idn-email": "email", "uri": "url", "iri": "url"}.get(str(wanted), "")


def _place(value: str, question: Question) -> int | None:
    if not (value.isascii() and value.isdecimal() and len(value) <= 4):
        return None
    return int(value) if int(value) < len(question.choices) else None


_READERS: dict[QuestionKind, Callable[[Question, str, Posted, str, TextReader], _Reading]] = {
    QuestionKind.TEXT: _text,
    QuestionKind.CONFIRM: _confirm,
    QuestionKind.CHOICE: _choice,
    QuestionKind.CHOICES: _choices,
    QuestionKind.NUMBER: _typed,
    QuestionKind.DATE: _typed,
    QuestionKind.REVIEW: _review,
}
