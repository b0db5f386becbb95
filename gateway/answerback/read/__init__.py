"""What an answer says: a reply's text, tap or JSON to a canonical value that fits its question, or why not.

Pure: `now` is given, nothing is guessed, and what a person wrote stands unmodified beside its value.
"""

from collections.abc import Sequence

from answerback.errors import DoesNotFit
from answerback.model import Json, Question, QuestionKind
from answerback.read.choices import read_choice, read_choices
from answerback.read.closing import without_courtesies
from answerback.read.commands import is_command
from answerback.read.dates import read_date
from answerback.read.decisions import read_confirm, read_review
from answerback.read.demanded import unfit, unmet
from answerback.read.fitting import by_question, expected, validate
from answerback.read.numbers import read_number
from answerback.read.payload import read_payload, wants_text
from answerback.read.result import Read, Unclear, Value
from answerback.values import LIMIT, canonical, unstorable

__all__ = [
    "Read",
    "Unclear",
    "Value",
    "expected",
    "is_command",
    "read",
    "read_payload",
    "unfit",
    "unmet",
    "validate",
    "validate_response",
    "wants_text",
    "without_courtesies",
]


def read(
    question: Question,
    text: str,
    *,
    language: str,
    timezone: str,
    now: int,
    typed: bool = True,
    numbered: bool = False,
) -> Read:
    """The canonical value of a text, or what is unclear about it.

    `now` is in microseconds since the epoch. `typed`: a person wrote it; otherwise it is the label of a
    control that was shown, and only a label counts. `numbered`: the buttons were shown with numbers, so
    that "2" means the second of them for confirmations and reviews too.
    """
    if found := _unreadable(text):
        return found
    read_ = _of_kind(question, text, language, timezone, now, typed=typed, numbered=numbered)
    if isinstance(read_, Unclear):
        return read_
    return unfit(question, read_.value, text, language) or read_


def _of_kind(
    question: Question, text: str, language: str, timezone: str, now: int, *, typed: bool, numbered: bool
) -> Read:
    match question.kind:
        case QuestionKind.TEXT:
            return Value(text, text)
        case QuestionKind.CONFIRM:
            return read_confirm(question, text, language, typed=typed, numbered=numbered)
        case QuestionKind.CHOICE:
            return read_choice(question, text, language, typed=typed)
        case QuestionKind.CHOICES:
            return read_choices(question, text, typed=typed)
        case QuestionKind.NUMBER:
            return read_number(question, text, language)
        case QuestionKind.DATE:
            return read_date(text, language=language, timezone=timezone, now=now)
        case QuestionKind.REVIEW:
            return read_review(question, text, language, typed=typed, numbered=numbered)


def validate_response(
    questions: Sequence[Question],
    response: Json,
    *,
    language: str = "en",
    timezone: str = "UTC",
    now: int | None = None,
) -> dict[str, Json]:
    """The canonical values by question id, or `DoesNotFit`.

    A text for a question of another kind is read as a person's would be ("yes", "2", "tomorrow"); for a
    text question nothing but a text fits. Without `now` only ISO dates are dates: "tomorrow" needs a today.
    """
    values = {}
    asked = {question.id: question for question in questions}
    for name, value in by_question(questions, response).items():
        try:
            values[name] = _fit(asked[name], value, language, timezone, now)
        except DoesNotFit as error:
            raise DoesNotFit(f"{name}: {error.detail}" if len(questions) > 1 else error.detail) from None
    canonical(values)
    return values


def _fit(question: Question, value: Json, language: str, timezone: str, now: int | None) -> Json:
    own_words = question.kind is QuestionKind.CHOICE and question.free_text
    if own_words and isinstance(value, str) and all(each.id != value for each in question.choices):
        picked = read(question, value, language=language, timezone=timezone, now=now or 0)
        if isinstance(picked, Value):
            return picked.value  # any text fits: first it is seen whether it names a choice
    try:
        return validate(question, value)
    except DoesNotFit:
        if not isinstance(value, str) or question.kind is QuestionKind.TEXT:
            raise
        if now is None and question.kind is QuestionKind.DATE:
            raise
        found = read(question, value, language=language, timezone=timezone, now=now or 0)
        if isinstance(found, Value):
            return found.value
        if found.key == "unfit":  # it was read, so that it is of another kind is not what is wrong
            raise DoesNotFit(found.args["need"]) from None
        raise


def _unreadable(text: str) -> Unclear | None:
    if not text.strip():
        return Unclear("empty")
    character = unstorable(text)
    if character:
        return Unclear("not_storable", {"character": character})
    try:
        canonical(text, LIMIT - 100)  # room for what stands around it
    except DoesNotFit:
        return Unclear("too_long")
    return None
