"""Values that every part can keep: canonical JSON out, strict JSON in, and why something does not fit.

An answer is accepted only if the database, the agent's checkpointer and the wire can all carry it: a
value that passes here can be stored and given to an agent later, unchanged.
"""

import json
import math
import re
from collections.abc import Iterator
from typing import Any

from answerback.errors import DoesNotFit
from answerback.model import Json

LIMIT = 256 * 1024  # bytes of canonical JSON
DEPTH = 100  # lists and objects within each other; agents' stores give up at a few hundred
SMALLEST, LARGEST = -(2**63), 2**63 - 1
DIGITS = 19  # of the largest 64 bit integer
# A string, closed or not, so that brackets in it are not counted, or a bracket. Linear: it never goes back.
MARKS = re.compile(r'"(?:[^"\\]|\\.)*+"?|[\[\]{}]', re.DOTALL)

# The one way to write JSON here: compact, sorted keys, ASCII only, so that no database can refuse it.
# Made once: `json.dumps` with options makes an encoder for each call.
dumps = json.JSONEncoder(separators=(",", ":"), ensure_ascii=True, sort_keys=True).encode


def canonical(value: Json, limit: int = LIMIT) -> str:
    """The one JSON text of a value: sorted keys, no spaces, ASCII only. Raises `DoesNotFit`."""
    check(value, limit)
    text = dumps(value)
    if len(text) > limit:
        raise _too_large(limit)
    return text


def parse(raw: bytes | str, limit: int = LIMIT) -> Json:
    """Read JSON as RFC 8259 has it, without its freedoms: no duplicate keys, no NaN, UTF-8 only.

    Raises `DoesNotFit` with a sentence that says what is wrong and never repeats the text.
    """
    text = _decoded(raw, limit)
    if _nesting(text) > DEPTH:
        raise _too_deep()
    try:
        value = json.loads(
            text,
            object_pairs_hook=_object,
            parse_int=_integer,
            parse_float=_float,
            parse_constant=_constant,
        )
    except json.JSONDecodeError as error:
        message = f"This is not JSON: {error.msg} at line {error.lineno}, column {error.colno}."
        raise DoesNotFit(message) from None
    check(value, limit)
    return value


def check(value: Json, limit: int = LIMIT) -> None:
    """Raise `DoesNotFit` unless a value is JSON that can be stored. Walks it without recursion."""
    left = limit
    stack: list[Iterator[Any]] = [iter((value,))]
    while stack:
        for item in stack[-1]:
            left -= _cost(item)  # at least 1, so that a value which contains itself comes to an end too
            if left < 0:
                raise _too_large(limit)
            if isinstance(item, dict):
                stack.append(iter(item.values()))
            elif isinstance(item, (list, tuple)):
                stack.append(iter(item))
            else:
                continue
            break
        else:
            stack.pop()
        if len(stack) > DEPTH + 1:
            raise _too_deep()


def unstorable(text: str) -> str:
    """The first character that no store can keep, with its place ("U+0000 at position 3"), or ""."""
    if text.isascii() and "\0" not in text:
        return ""
    for place, character in enumerate(text, start=1):
        if character == "\0" or "\ud800" <= character <= "\udfff":
            return f"U+{ord(character):04X} at position {place}"
    return ""


def _cost(item: object) -> int:
    """The least number of bytes that an item takes, after a look at whether it can be stored at all."""
    if item is None or isinstance(item, bool):
        return 1
    if isinstance(item, str):
        return _text(item)
    if isinstance(item, int):
        if not SMALLEST <= item <= LARGEST:
            raise DoesNotFit("A whole number does not fit into 64 bits; send it as a text.")
        return 1
    if isinstance(item, float):
        if not math.isfinite(item):
            raise DoesNotFit("A number is not finite (NaN or Infinity), and JSON has no such numbers.")
        return 1
    if isinstance(item, dict):
        return 2 + sum(_key(key) for key in item)
    if isinstance(item, (list, tuple)):
        return 2
    raise DoesNotFit(f"A value of the type {type(item).__name__} is not JSON.")


def _key(key: object) -> int:
    if not isinstance(key, str):
        raise DoesNotFit(f"A key of an object is of the type {type(key).__name__}; keys must be texts.")
    return _text(key)


def _text(text: str) -> int:
    if found := unstorable(text):
        raise DoesNotFit(f"A text has a character that cannot be stored: {found}.")
    return len(text) + 2


def _decoded(raw: bytes | str, limit: int) -> str:
    if len(raw) > limit:
        raise _too_large(limit)
    if isinstance(raw, str):
        return raw
    try:
        return raw.decode("utf-8")
    except UnicodeDecodeError as error:
        raise DoesNotFit(f"This is not UTF-8: byte {error.start + 1} cannot be read.") from None


def _nesting(text: str) -> int:
    deepest = depth = 0
    for mark in MARKS.finditer(text):
        if mark[0] in "[{":
            depth += 1
            deepest = max(deepest, depth)
        elif mark[0] in "]}":
            depth -= 1
    return deepest


def _object(pairs: list[tuple[str, Json]]) -> dict[str, Json]:
    found = dict(pairs)
    if len(found) < len(pairs):
        raise DoesNotFit("An object has the same key twice; which of the two counts is not clear.")
    return found


def _integer(digits: str) -> int:
    if len(digits.lstrip("-")) > DIGITS:  # int() of a long text is slow, and of a very long one an error
        raise DoesNotFit("A whole number does not fit into 64 bits; send it as a text.")
    return int(digits)


def _float(digits: str) -> float:
    number = float(digits)
    if not math.isfinite(number):
        raise DoesNotFit("A number is too large.")
    return number


def _constant(name: str) -> float:
    raise DoesNotFit(f"{name} is not a number that JSON has.")


def _too_large(limit: int) -> DoesNotFit:
    return DoesNotFit(f"This is larger than the {limit} bytes that can be stored.")


def _too_deep() -> DoesNotFit:
    return DoesNotFit(f"Lists and objects are nested more than {DEPTH} deep.")
