"""Whether a stand-in's answer fits and may be given: said before it is given, and decided at the door."""

from answerback.errors import DoesNotFit
from answerback.model import Interaction, Json, Question, QuestionKind
from answerback.read import Unclear, read, validate
from answerback.read.fitting import by_question
from answerback.render import brief, question_title
from answerback.render.conversation import LISTED
from answerback.sentences import worded
from answerback.standing import StandIn, may_not
from answerback.values import canonical

LANGUAGE, TIMEZONE = "en", "UTC"  # of who is no contact
QUOTED = 80  # characters of an answer in a sentence


def values_of(record: Interaction, value: Json, now: int) -> dict[str, Json]:
    """The canonical values by question id; raises `DoesNotFit` with what is not clear. `now`: microseconds.

    A text that is the id of a choice is that choice; any other is read as a person's is.
    """
    asked = {question.id: question for question in record.questions}
    given = by_question(record.questions, value)
    found = {id: _value(asked[id], each, now) for id, each in given.items() if each is not None}
    missing = [each for each in record.questions if each.required and each.id not in found]
    if missing:
        raise DoesNotFit(f"“{brief(question_title(missing[0]), QUOTED)}” has no answer yet.")
    canonical(found)
    return found


def problem_of(
    record: Interaction, stand_in: StandIn, value: Json, question: Question | None, now: int
) -> str:
    """Why an answer would not be taken, in a sentence; "" if it would. With `question`: to that one alone."""
    try:
        if question is None:
            values = values_of(record, value, now)
        else:
            values = {question.id: _value(question, value, now)}
    except DoesNotFit as error:
        return error.detail
    return refusal(stand_in) if may_not(record.questions, values, stand_in) else ""


def listed(
    record: Interaction, stand_in: StandIn, text: str, question: Question, now: int
) -> tuple[Json, str]:
    """The value for a text as a person writes it, and why it would not be taken ("": it would).

    That of a choice is its id. Any other text is read when it arrives: "tomorrow" depends on the day.
    """
    value: Json = text
    if question.kind is QuestionKind.CHOICE:
        try:
            value = _read(question, text, now)
        except DoesNotFit as error:
            return None, error.detail
    return value, problem_of(record, stand_in, value, question, now)


def refusal(stand_in: StandIn) -> str:
    """What it hears when it decides what only a person may, who can be told in a terminal what to do."""
    return worded(
        "terminal_may_not" if stand_in.listens else "stand_in_may_not", LANGUAGE, name=stand_in.name
    )


def _value(question: Question, value: Json, now: int) -> Json:
    is_id = question.kind is QuestionKind.CHOICE and any(choice.id == value for choice in question.choices)
    if is_id or not isinstance(value, str):
        return validate(question, value)
    return _read(question, value, now)


def _read(question: Question, value: str, now: int) -> Json:
    found = read(question, value, language=LANGUAGE, timezone=TIMEZONE, now=now)
    if not isinstance(found, Unclear):
        return found.value
    gaps = {"question": question_title(question), "text": value, "link": "…", **found.args}
    shown = {name: text if name == "need" else brief(text, QUOTED) for name, text in gaps.items()}
    raise DoesNotFit(worded(LISTED.get(found.key, found.key), LANGUAGE, **shown))  # nobody taps here
