"""Dialects: what an interrupt's payload asks, and the value it is resumed with. Pure, without LangGraph.

The first dialect of `DIALECTS` that matches a payload reads it, and the same one writes the answer, so a
graph is resumed in the shape that its payload promises. A further shape is a further entry. An agent's own
dialect (`dialect: package:function`) comes first: a function that is given the payload and returns a
`Dialect`, or None when the payload is none of its business.
"""

import json
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from typing import Protocol

from answerback.errors import DoesNotFit
from answerback.model import Answer, Choice, Json, Question, QuestionKind

NO_RESPONSE = "No response"
QUESTION_ID = "q1"


@dataclass(frozen=True, slots=True)
class Reading:
    """What a payload asks. `expirable`: the dialect promises a value for silence (`on_expire: auto`)."""

    questions: tuple[Question, ...]
    context: str = ""
    title: str = ""
    expirable: bool = False


class Dialect(Protocol):
    """One shape of payloads. All three are pure; payloads are plain JSON."""

    def matches(self, payload: Json) -> bool:
        """Whether the payload has this shape."""

    def read(self, payload: Json) -> Reading:
        """What the person is asked."""

    def write(self, payload: Json, answer: Answer) -> Json:
        """The value the agent is resumed with; raises `DoesNotFit` when there is none."""


Own = Callable[[Json], Dialect | None]


class ConfirmAction:
    """`{"type": "confirm_action", "action", "details"}`: yes or no, nothing in between."""

    def matches(self, payload: Json) -> bool:
        return (
            isinstance(payload, dict)
            and payload.get("type") == "confirm_action"
            and bool(_line(payload.get("action")))
        )

    def read(self, payload: Json) -> Reading:
        action = _line(payload["action"])
        text = _line(payload.get("question")) or f"Shall I go ahead with “{_spoken(action)}”?"
        shown = action if _spoken(action) not in text else ""
        question = Question(QUESTION_ID, text, QuestionKind.CONFIRM)
        return _reading(payload, question, shown, as_text(payload.get("details")), expirable=True)

    def write(self, payload: Json, answer: Answer) -> Json:
        if _silent(answer):
            return {"content": NO_RESPONSE, "confirmed": False, "timed_out": True}
        confirmed = _value(answer)
        if not isinstance(confirmed, bool):
            raise DoesNotFit("This needs a yes or a no.")
        return {"content": answer.text or ("yes" if confirmed else "no"), "confirmed": confirmed}


class Choices:
    """`{"question", "choices": […]}`: strings, or objects with id and label; a text of one's own too."""

    def matches(self, payload: Json) -> bool:
        return _asks(payload) and bool(_options(payload))

    def read(self, payload: Json) -> Reading:
        choices = tuple(choice for choice, _ in _options(payload))
        text = payload["question"].strip()
        question = Question(QUESTION_ID, text, QuestionKind.CHOICE, choices, free_text=True)
        return _reading(payload, question, expirable=True)

    def write(self, payload: Json, answer: Answer) -> Json:
        if _silent(answer):
            return {"content": NO_RESPONSE, "choice": None, "timed_out": True}
        value = _value(answer)
        for choice, original in _options(payload):
            if value == choice.id:
                return {"content": choice.label, "choice": original}
        return {"content": value, "choice": None}


class AskHuman:
    """`{"type": "ask_human", "question", "context"}` and any other object with a `question`."""

    def matches(self, payload: Json) -> bool:
        return _asks(payload)

    def read(self, payload: Json) -> Reading:
        return _reading(payload, Question(QUESTION_ID, payload["question"].strip()), expirable=True)

    def write(self, payload: Json, answer: Answer) -> Json:
        if _silent(answer):
            return {"content": NO_RESPONSE, "timed_out": True}
        return {"content": _value(answer)}


class Plain:
    """A string, or anything else shown as text: resumed with what the person wrote, unmodified."""

    def matches(self, payload: Json) -> bool:
        return True

    def read(self, payload: Json) -> Reading:
        text = as_text(payload) or "The agent waits for an answer."
        return Reading((Question(QUESTION_ID, text),))

    def write(self, payload: Json, answer: Answer) -> Json:
        if not _silent(answer):
            return _value(answer)
        if answer.no_response:
            return NO_RESPONSE
        raise DoesNotFit("This question has no value for silence; set on_expire to no-response or default.")


DIALECTS: tuple[Dialect, ...] = (ConfirmAction(), Choices(), AskHuman(), Plain())


def dialect_of(payload: Json, own: Own | None = None) -> Dialect:
    """The dialect that reads and writes this payload."""
    if own is not None and (mine := own(payload)) is not None:
        return mine
    return next(dialect for dialect in DIALECTS if dialect.matches(payload))


def read(payload: Json, own: Own | None = None) -> Reading:
    """What the payload asks."""
    return dialect_of(payload, own).read(payload)


def write(payload: Json, answer: Answer, own: Own | None = None) -> Json:
    """The value to resume with; raises `DoesNotFit` when the answer has none."""
    return dialect_of(payload, own).write(payload, answer)


def carries(value: Json, answer: Answer) -> bool:
    """Whether a resume value that was found in storage can be this answer, its payload being gone."""
    if _silent(answer):
        return value == NO_RESPONSE or (isinstance(value, dict) and value.get("timed_out") is True)
    given = _value(answer)
    if not isinstance(value, dict):
        return bool(value == given)
    said = [value.get(key) for key in ("content", "confirmed", "choice") if key in value]
    return value == given or any(_same(part, given) for part in said)


def as_text(payload: Json) -> str:
    """A payload for people: strings as they are, objects one line a key, the rest as JSON."""
    if payload is None:
        return ""
    if isinstance(payload, str):
        return payload.strip()
    if isinstance(payload, dict):
        return "\n".join(f"{key}: {_inline(value)}" for key, value in payload.items())
    if isinstance(payload, list) and all(isinstance(item, str) for item in payload):
        return "\n".join(payload)
    return _inline(payload)


def _same(part: Json, given: Json) -> bool:
    return type(part) is type(given) and bool(part == given)


def _inline(value: Json) -> str:
    return value if isinstance(value, str) else json.dumps(value, ensure_ascii=False)


def _line(value: Json) -> str:
    return value.strip() if isinstance(value, str) else ""


def _spoken(action: str) -> str:
    """`delete_file` as a person says it; a sentence stays as it is."""
    return action.replace("_", " ") if action.replace("_", "").isalnum() else action


def _asks(payload: Json) -> bool:
    return isinstance(payload, dict) and bool(_line(payload.get("question")))


def _reading(payload: dict[str, Json], question: Question, *more: str, expirable: bool) -> Reading:
    title = _line(payload.get("title")) or _line(payload.get("topic"))
    context = _joined((*more, as_text(payload.get("context"))))
    return Reading((question,), context, title, expirable)


def _joined(parts: Iterable[str]) -> str:
    return "\n".join(part for part in parts if part)


def _options(payload: dict[str, Json]) -> Sequence[tuple[Choice, Json]]:
    """The choices with unique ids, each beside the id as the payload has it; none if one is unusable."""
    listed = payload.get("choices")
    options: dict[str, tuple[Choice, Json]] = {}
    for item in listed if isinstance(listed, list) else []:
        original, label = _option(item)
        if not label:
            return ()
        unique = _unique(str(original), options)
        options[unique] = (Choice(unique, label), original)
    return tuple(options.values())


def _option(item: Json) -> tuple[Json, str]:
    if not isinstance(item, dict):
        label = "" if item is None or isinstance(item, list) else _inline(item).strip()
        return item, label
    original = next((item[key] for key in ("id", "value", "label") if item.get(key) is not None), None)
    label = next((item[key] for key in ("label", "text", "title", "id", "value") if item.get(key)), "")
    return (None, "") if isinstance(original, dict | list) else (original, _inline(label).strip())


def _unique(wanted: str, taken: Iterable[str]) -> str:
    number, name = 1, wanted
    while name in taken:
        number, name = number + 1, f"{wanted}#{number + 1}"
    return name


def _silent(answer: Answer) -> bool:
    return answer.expired and not answer.default_used


def _value(answer: Answer) -> Json:
    """The value of the one question; `None`, `False`, `0` and `""` are values too."""
    if answer.values:
        return answer.values.get(QUESTION_ID, next(iter(answer.values.values())))
    return answer.text
