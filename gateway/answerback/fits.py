"""Whether a stand-in's answer fits and may be given: said before it is given, and decided at the door."""

from answerback.errors import DoesNotFit
from answerback.model import Interaction, Json, Question
from answerback.read import Unclear, read, validate
from answerback.read.fitting import by_question
from answerback.render import brief, question_title
from answerback.sentences import worded
from answerback.standing import StandIn, may_not
from answerback.values import canonical

LANGUAGE, TIMEZONE = "en", "UTC"  # of who is no contact
QUOTED = 80  # characters of an answer in a sentence


def values_of(record: Interaction, value: Json, now: int) -> dict[str, Json]:
    """The canonical values by question id; raises `DoesNotFit` with what is not clear. `now`: microseconds.

    A text is read as a person's is: "2" is the second choice, a label stands for its id.
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


def refusal(stand_in: StandIn) -> str:
    """What it hears when it decides what only a person may."""
    return worded("stand_in_may_not", LANGUAGE, name=stand_in.name)


def _value(question: Question, value: Json, now: int) -> Json:
    if not isinstance(value, str) or any(choice.id == value for choice in question.choices):
        return validate(question, value)
    found = read(question, value, language=LANGUAGE, timezone=TIMEZONE, now=now)
    if not isinstance(found, Unclear):
        return found.value
    gaps = {"question": question_title(question), "text": value, "link": "…", **found.args}
    shown = {name: text if name == "need" else brief(text, QUOTED) for name, text in gaps.items()}
    raise DoesNotFit(worded(found.key, LANGUAGE, **shown))
