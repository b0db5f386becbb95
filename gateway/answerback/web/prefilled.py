"""What a person has answered elsewhere, as the fields of the form that shows it: a draft to go on with."""

from typing import TYPE_CHECKING

from answerback.model import Json, Question, QuestionKind
from answerback.sentences import number
from answerback.web.fields import fill
from answerback.web.posted import Posted
from answerback.web.typed import text_reader

if TYPE_CHECKING:
    from answerback.forms import FormView

_Fields = list[tuple[str, str]]


def prefilled(view: "FormView") -> Posted:
    """The fields of what was given; left out is what would not be read from them as just that."""
    questions, given = view.interaction.questions, view.given
    found = {
        question.id: _fields(question, f"q{place}", given[question.id], view.language)
        for place, question in enumerate(questions)
        if question.id in given
    }
    whole = Posted([pair for pairs in found.values() for pair in pairs])
    read = fill(questions, whole, view.language, text_reader(view)).values
    return Posted([pair for id, pairs in found.items() if read.get(id) == given[id] for pair in pairs])


def _fields(question: Question, name: str, value: Json, language: str) -> _Fields:
    match question.kind, value:
        case QuestionKind.TEXT | QuestionKind.DATE, str():
            return [(name, value)]
        case QuestionKind.CONFIRM, bool():
            return [(name, "yes" if value else "no")]
        case QuestionKind.CHOICE, str():
            places = _places(question, [value])
            return [(name, places[0])] if places else [(name, "own"), (f"{name}.own", value)]
        case QuestionKind.CHOICES, list():
            return [(f"{name}.seen", "1"), *((name, place) for place in _places(question, value))]
        case QuestionKind.NUMBER, int() | float():
            return [(name, number(value, language))]
        case QuestionKind.REVIEW, {"decision": str(decision)}:
            message = value.get("message")
            said = [(f"{name}.{decision}", message)] if isinstance(message, str) else []
            return [(name, decision), *said]
    return []


def _places(question: Question, ids: list[Json]) -> list[str]:
    return [str(place) for place, choice in enumerate(question.choices) if choice.id in ids]
