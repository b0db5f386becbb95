"""The arguments of a reviewed call as fields: shown exactly, changed by their kind."""

import json
from dataclasses import dataclass, field

from answerback import values
from answerback.errors import DoesNotFit
from answerback.model import Json, Question
from answerback.web.posted import Posted
from answerback.web.wording import word

_LONG = 48


@dataclass(frozen=True, slots=True)
class Argument:
    """One argument as a field. `kind`: line, text, yes-no, number or json; `value` as it is typed."""

    label: str
    name: str
    kind: str
    value: str = field(repr=False)


def arguments(question: Question, name: str) -> list[Argument]:
    """The arguments of a review in the call's own order, `name` being the question's field name."""
    args = question.action.args if question.action else {}
    return [
        Argument(label, f"{name}.arg.{place}", _kind(value), written(value))
        for place, (label, value) in enumerate(args.items())
    ]


def written(value: Json) -> str:
    """A value as text: a string as it is, anything else as JSON, nested ones over several lines."""
    if isinstance(value, str):
        return value
    indent = 2 if isinstance(value, dict | list) and value else None
    return json.dumps(value, ensure_ascii=False, indent=indent)


def read_arguments(
    question: Question, name: str, posted: Posted, language: str
) -> tuple[dict[str, Json], tuple[str, str] | None]:
    """All arguments with the changes that were typed, or the field and sentence of the first wrong one."""
    args = dict(question.action.args) if question.action else {}
    for shown in arguments(question, name):
        if not posted.has(shown.name):
            continue
        typed, old = posted.one(shown.name), args[shown.label]
        if typed in _came_back(shown):
            continue  # what was not touched stays what it is, to the byte
        try:
            args[shown.label] = _changed(typed, old)
        except DoesNotFit:
            kind = word("kind_number" if shown.kind == "number" else "kind_json", language)
            return args, (shown.name, word("bad_value", language, text=typed[:80], kind=kind))
    return args, None


def touched(question: Question, name: str, posted: Posted) -> bool:
    """Whether a field of an argument came back otherwise than it was shown."""
    return any(
        posted.has(shown.name) and _returned(posted.one(shown.name)) != _returned(shown.value)
        for shown in arguments(question, name)
    )


def _came_back(shown: Argument) -> tuple[str, str]:
    """What a browser gives back of a field that nobody touched: its line ends are all alike.

    A field of one line drops them (HTML, section 4.10.5.1.2).
    """
    sent = _shown(shown.value)
    return sent, sent.replace("\n", "") if shown.kind not in ("text", "json") else sent


def _returned(text: str) -> str:
    """A text as a browser gives it back: without the line ends that a field of one line drops."""
    return _shown(text).replace("\n", "")


def _shown(text: str) -> str:
    """A text as it stands in a page, with what no page can have replaced and one kind of line end."""
    sent = text.encode("utf-8", "replace").decode().replace("\0", "\ufffd")
    return sent.replace("\r\n", "\n").replace("\r", "\n")


def _kind(value: Json) -> str:
    if isinstance(value, bool):
        return "yes-no"
    if isinstance(value, int | float):
        return "number"
    if isinstance(value, str):
        return "text" if len(value) > _LONG or "\n" in value else "line"
    return "json"


def _changed(typed: str, old: Json) -> Json:
    if isinstance(old, str):
        values.check(typed)
        return typed
    new = values.parse(typed.encode("utf-8", "surrogatepass"))
    if not _same_kind(new, old):
        raise DoesNotFit("The kind of the value has changed.")
    return new


def _same_kind(new: Json, old: Json) -> bool:
    """Whether a changed value may stand where the old one stood; lists, objects and null take anything."""
    if isinstance(old, bool):
        return isinstance(new, bool)
    return not isinstance(old, int | float) or (isinstance(new, int | float) and not isinstance(new, bool))
