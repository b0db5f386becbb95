"""The dialects of plain interrupts: a confirmation, choices, a question, or anything at all."""

from dataclasses import replace

from answerback.errors import DoesNotFit
from answerback.model import Answer, Json, Question, QuestionKind
from answerback_agents.dialects.options import listed
from answerback_agents.dialects.reading import (
    NO_RESPONSE,
    QUESTION_ID,
    Reading,
    as_text,
    asks,
    beside,
    context_of,
    deadline_of,
    joined,
    line,
    silent,
    title_of,
    value_of,
)


class ConfirmAction:
    """`{"type": "confirm_action", "action", "details"}`: yes or no, nothing in between."""

    def matches(self, payload: Json) -> bool:
        return (
            isinstance(payload, dict)
            and payload.get("type") == "confirm_action"
            and bool(line(payload.get("action")))
        )

    def read(self, payload: Json) -> Reading:
        action = line(payload["action"])
        text = line(payload.get("question")) or f"Shall I go ahead with “{_spoken(action)}”?"
        shown = action if _spoken(action) not in text else ""
        question = Question(QUESTION_ID, text, QuestionKind.CONFIRM)
        details = as_text(payload.get("details"))
        return _reading(payload, question, shown, details, read=("action", "details"))

    def write(self, payload: Json, answer: Answer) -> Json:
        if silent(answer):
            return {"content": NO_RESPONSE, "confirmed": False, "timed_out": True}
        confirmed = value_of(answer)
        if not isinstance(confirmed, bool):
            raise DoesNotFit("This needs a yes or a no.")
        return {
            "content": answer.text or ("yes" if confirmed else "no"),
            "confirmed": confirmed,
            **beside(answer),
        }


class Choices:
    """`{"question", "choices": […]}`: strings, or objects with id and label; a text of one's own too."""

    def matches(self, payload: Json) -> bool:
        return asks(payload) and bool(listed(payload.get("choices")))

    def read(self, payload: Json) -> Reading:
        choices = tuple(choice for choice, _ in listed(payload["choices"]))
        text = payload["question"].strip()
        question = Question(QUESTION_ID, text, QuestionKind.CHOICE, choices, free_text=True)
        reading = _reading(payload, question, read=("choices",))
        default = _chosen(payload, reading.deadline.default)
        return replace(reading, deadline=replace(reading.deadline, default=default))

    def write(self, payload: Json, answer: Answer) -> Json:
        if silent(answer):
            return {"content": NO_RESPONSE, "choice": None, "timed_out": True}
        value = value_of(answer)
        for choice, original in listed(payload["choices"]):
            if value == choice.id:
                return {"content": choice.label, "choice": original, **beside(answer)}
        return {"content": value, "choice": None, **beside(answer)}


class AskHuman:
    """`{"type": "ask_human", "question", "context"}` and any other object with a `question`."""

    def matches(self, payload: Json) -> bool:
        return asks(payload)

    def read(self, payload: Json) -> Reading:
        return _reading(payload, Question(QUESTION_ID, payload["question"].strip()))

    def write(self, payload: Json, answer: Answer) -> Json:
        if silent(answer):
            return {"content": NO_RESPONSE, "timed_out": True}
        return {"content": value_of(answer), **beside(answer)}


class Plain:
    """A string, or anything else shown as text: resumed with what the person wrote, unmodified."""

    def matches(self, payload: Json) -> bool:
        return True

    def read(self, payload: Json) -> Reading:
        text = as_text(payload) or "The agent waits for an answer."
        return Reading((Question(QUESTION_ID, text, files=False),))

    def write(self, payload: Json, answer: Answer) -> Json:
        if not silent(answer):
            return value_of(answer)
        if answer.no_response:
            return NO_RESPONSE
        raise DoesNotFit("This question has no value for silence; set on_expire to no-response or default.")


def _chosen(payload: dict[str, Json], value: Json) -> Json:
    """The id under which a choice is offered that is named by the payload's own id, or by its label."""
    offered = listed(payload["choices"])
    by_id = (choice.id for choice, own in offered if type(own) is type(value) and own == value)
    return next(by_id, next((choice.id for choice, _ in offered if choice.label == value), value))


def _spoken(action: str) -> str:
    """`delete_file` as a person says it; a sentence stays as it is."""
    return action.replace("_", " ") if action.replace("_", "").isalnum() else action


def _reading(payload: dict[str, Json], question: Question, *more: str, read: tuple[str, ...] = ()) -> Reading:
    context = joined((*more, context_of(payload, *read)))
    return Reading((question,), context, title_of(payload), expirable=True, deadline=deadline_of(payload))
