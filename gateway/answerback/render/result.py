"""All that came out of a run, for its page: the text in it as text, everything else as labels and values."""

import json
from dataclasses import dataclass
from typing import TypeGuard

from answerback.model import Json
from answerback.render.action import value_text
from answerback.render.question import called
from answerback.render.run import KEYS, plain, result_text
from answerback.render.visible import cap, visible

DEPTH = 6  # what is nested deeper stands as JSON
MOST = 500  # values
LONGEST = 200_000  # characters in all


@dataclass(frozen=True, slots=True)
class Part:
    """A value with its label, or the labelled values in it."""

    label: str
    text: str = ""
    parts: "tuple[Part, ...]" = ()


@dataclass(frozen=True, slots=True)
class Whole:
    """The words of a result, what else there is, and whether something had to be left out."""

    text: str = ""
    parts: tuple[Part, ...] = ()
    cut: bool = False


@dataclass(slots=True)
class _Sheet:
    """How values are written, and how much room is left."""

    language: str
    timezone: str
    now: int
    values: int = MOST
    room: int = LONGEST
    cut: bool = False

    def text(self, text: str) -> str:
        """As much of a text as there is room for."""
        shown = cap(visible(text[: self.room + 1]), self.room) if self.room > 0 else ""
        self.cut = self.cut or len(text) > self.room
        self.room -= len(shown)
        return shown

    def takes(self) -> bool:
        """Whether one more value may be shown."""
        self.values -= 1
        fits = self.values >= 0 and self.room > 0
        self.cut = self.cut or not fits
        return fits


def whole_result(result: Json, *, language: str, timezone: str, now: int) -> Whole:
    """A result readably: a text, or the value of a well-known key, first. `now`: microseconds.

    That text is taken for Markdown and shown without its marks, as in the message about it.
    """
    sheet = _Sheet(language, timezone, now)
    if result is None:
        return Whole()
    if isinstance(result, str):
        return Whole(sheet.text(plain(result)), cut=sheet.cut)
    if not isinstance(result, dict | list):
        return Whole(sheet.text(_scalar(sheet, result, "")), cut=sheet.cut)
    if _is_flat(result):
        return Whole(sheet.text(_lines(sheet, result, "")), cut=sheet.cut)
    text, rest = "", result
    if isinstance(result, dict):
        said = next((key for key in KEYS if _has_words(result.get(key))), None)
        if said is not None:
            text, rest = result[said], {key: value for key, value in result.items() if key != said}
        elif "messages" in result:
            text = result_text(result)  # what was said last; it stands below once more, among the others
    text = sheet.text(plain(text).strip())
    parts = _parts(sheet, rest, DEPTH)
    return Whole(text, parts, sheet.cut)


def _has_words(value: Json) -> bool:
    return isinstance(value, str) and bool(value.strip())


def _parts(sheet: _Sheet, value: Json, depth: int) -> tuple[Part, ...]:
    rows = value.items() if isinstance(value, dict) else enumerate(value, start=1)
    found = []
    for key, each in rows:
        if not sheet.takes():
            break
        found.append(_part(sheet, str(key), each, depth))
    return tuple(found)


def _part(sheet: _Sheet, key: str, value: Json, depth: int) -> Part:
    label = sheet.text(called(key)) or "“”"
    if not isinstance(value, dict | list) or not value:
        return Part(label, sheet.text(_scalar(sheet, value, key)))
    if _is_flat(value):
        return Part(label, sheet.text(_lines(sheet, value, key)))
    if depth > 1:
        return Part(label, parts=_parts(sheet, value, depth - 1))
    return Part(label, sheet.text(json.dumps(value, ensure_ascii=False, default=str)))


def _is_flat(value: Json) -> TypeGuard[list[Json]]:
    return isinstance(value, list) and not any(isinstance(each, dict | list) for each in value)


def _lines(sheet: _Sheet, values: list[Json], key: str) -> str:
    return "\n".join(_scalar(sheet, each, key) for each in values)


def _scalar(sheet: _Sheet, value: Json, key: str) -> str:
    """As in a question's call; a text as it is, since nothing here is taken for a value."""
    if isinstance(value, str):
        return value or "—"
    if isinstance(value, dict | list):
        return "—"
    return value_text(value, key, language=sheet.language, timezone=sheet.timezone, now=sheet.now)
