"""From the questions of a request to the questions of the model."""

import difflib

from answerback.errors import DoesNotFit
from answerback.model import Action, Choice, Question, QuestionKind
from answerback.web.requests import InteractionIn, QuestionIn

# The glossary's own words for the kinds, beside their names.
_ALSO = {
    "free-text": QuestionKind.TEXT,
    "ask-human": QuestionKind.TEXT,
    "confirmation": QuestionKind.CONFIRM,
    "multi-choice": QuestionKind.CHOICES,
}
_ALL = ("approve", "edit", "reject", "respond")


def questions(body: InteractionIn) -> tuple[Question, ...]:
    """The questions of an ask, each with an id of its own. Raises `DoesNotFit`."""
    given = [body.question] if body.question else list(body.questions)
    if not given:
        raise DoesNotFit("Send a question: question or questions.")
    if body.question and body.questions:
        raise DoesNotFit("Send either question or questions, not both.")
    made = tuple(_made(item, _id(item, place, len(given))) for place, item in enumerate(given, start=1))
    if len({question.id for question in made}) < len(made):
        raise DoesNotFit("Two questions have the same id.")
    return made


def _id(given: QuestionIn, place: int, count: int) -> str:
    return given.id or ("answer" if count == 1 else f"q{place}")


def _made(given: QuestionIn, name: str) -> Question:
    kind = _kind(given)
    question = Question(
        id=name,
        text=given.text,
        kind=kind,
        choices=_choices(given),
        free_text=given.free_text,
        required=given.required,
        minimum=given.minimum,
        maximum=given.maximum,
        whole=given.whole,
        action=Action(given.action.name, given.action.args) if given.action else None,
        decisions=_decisions(given, kind),
    )
    _check(question)
    return question


def _kind(given: QuestionIn) -> QuestionKind:
    if not given.kind:
        return QuestionKind.REVIEW if given.action else _plain(given)
    name = given.kind.lower().replace("_", "-")
    if name in _ALSO:
        return _ALSO[name]
    try:
        return QuestionKind(name)
    except ValueError:
        names = [str(kind) for kind in QuestionKind]
        close = difflib.get_close_matches(name, [*names, *_ALSO], n=1)
        hint = f" Did you mean {close[0]}?" if close else ""
        raise DoesNotFit(f"There is no such kind of question.{hint} Known: {', '.join(names)}.") from None


def _plain(given: QuestionIn) -> QuestionKind:
    return QuestionKind.CHOICE if given.choices else QuestionKind.TEXT


def _choices(given: QuestionIn) -> tuple[Choice, ...]:
    for number, choice in enumerate(given.choices, start=1):
        if not (choice.label or choice.id).strip():
            raise DoesNotFit(f"A choice needs a text that can be read: number {number} is empty.")
        if not choice.id:
            raise DoesNotFit(
                f"A choice needs an id, which comes back in the answer: number {number} has none."
            )
    return tuple(Choice(choice.id, choice.label or choice.id) for choice in given.choices)


def _decisions(given: QuestionIn, kind: QuestionKind) -> tuple[str, ...]:
    if kind is not QuestionKind.REVIEW:
        return ()
    return tuple(name for name in _ALL if name in given.decisions) if given.decisions else _ALL[:3]


def _check(question: Question) -> None:
    has_choices = question.kind in (QuestionKind.CHOICE, QuestionKind.CHOICES)
    if has_choices and not question.choices:
        raise DoesNotFit("A choice needs choices.")
    if question.choices and not has_choices:
        raise DoesNotFit(f"A question of the kind {question.kind} has no choices.")
    if len({choice.id for choice in question.choices}) < len(question.choices):
        raise DoesNotFit("Two choices have the same id.")
    if question.kind is QuestionKind.REVIEW and question.action is None:
        raise DoesNotFit("A review needs the action that is to be reviewed.")
    if question.action is None and not question.text.strip():
        raise DoesNotFit("A question needs a text: there is nothing to answer.")
    low, high = question.minimum, question.maximum
    if low is not None and high is not None and low > high:
        raise DoesNotFit("The least value is larger than the greatest.")
