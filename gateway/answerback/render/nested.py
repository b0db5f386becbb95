"""A nested argument as lines: one for each name or place in it, marked by how deep it stands.

It begins with an empty line, which no text does, and each name with its value takes one line: so neither a
name nor a value can pass for another, however hostile both are.
"""

import json
import re
from collections.abc import Callable, Iterator

from answerback.messages import MARK
from answerback.model import Json
from answerback.render.visible import visible

DEPTH = 3  # what is nested deeper stands as JSON
MOST = 24  # lines; what has more stands as JSON, all of it
LONGEST = 40  # characters of a name, likewise
PLAIN = re.compile(r"[^\W\d][\w.-]*(?: [\w.-]+)*")  # a name that needs no quotation marks
ENDS = re.compile("[\x7f-\x9f\u2028\u2029]")  # of lines, and controls, that JSON leaves as they are


class _TooMuch(Exception):
    """It is better read as JSON."""


def exact(value: Json) -> str:
    """JSON, in one line whatever is in it."""
    text = json.dumps(value, ensure_ascii=False, default=str)
    return visible(ENDS.sub(lambda end: f"\\u{ord(end[0]):04x}", text))


def nested(value: Json, key: str, scalar: Callable[[Json, str], str]) -> str:
    """The lines of an object or a list, "" for what has none or too many.

    `scalar` writes what is not nested, given the name that it stands under.
    """
    found: list[str] = []
    try:
        for line in _lines(value, key, "", scalar):
            found.append(f"\n{line}")
            if len(found) > MOST:
                return ""
    except _TooMuch:
        return ""
    return "".join(found)


def _lines(value: Json, key: str, mark: str, scalar: Callable[[Json, str], str]) -> Iterator[str]:
    for head, name, each in _entries(value, key):
        if isinstance(each, dict | list):
            if each and len(mark) < (DEPTH - 1) * len(MARK):
                yield mark + head
                yield from _lines(each, name, mark + MARK, scalar)
            else:
                yield f"{mark}{head} {exact(each)}"
        else:
            several = isinstance(each, str) and "\n" in visible(each)
            yield f"{mark}{head} {exact(each) if several else scalar(each, name)}"


def _entries(value: Json, key: str) -> Iterator[tuple[str, str, Json]]:
    """How the line of each begins, the name that it stands under, and what it is."""
    if isinstance(value, dict):
        for name, each in value.items():
            yield f"{_named(str(name))}:", str(name), each
    elif isinstance(value, list):
        for place, each in enumerate(value, start=1):
            yield f"{place}.", key, each


def _named(name: str) -> str:
    """A name as it is, or in the quotation marks of JSON if it could be taken for something else."""
    if len(name) > LONGEST:
        raise _TooMuch
    return visible(name) if PLAIN.fullmatch(name) else exact(name)
