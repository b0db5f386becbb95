"""Values that cross the border: payloads and results to JSON, answers checked, errors in one line."""

import base64
import contextlib
import dataclasses
import datetime
import decimal
import enum
import math
import re
import uuid
from collections.abc import Iterable, Iterator
from pathlib import PurePath
from typing import Any

import pydantic
from langchain_core.messages import BaseMessage

from answerback.errors import DoesNotFit
from answerback.model import Json

# What msgpack and both savers take without loss: ints of 64 bits; msgpack itself gives up near 600 levels. An
# answer has up to 100, and dialects put some around it.
SMALLEST, LARGEST, DEEPEST = -(2**63), 2**64 - 1, 150
LONGEST_ERROR = 300
# What stands behind a name like `api_key`; behind `KeyError:` stands what is missing.
_CREDENTIAL = re.compile(
    r"(?i)\b(?!\w+Error\b)(\w*(?:key|token|password|secret|authorization)\w*\s*[=:]\s*)\S+"
)
_STORABLE = "What steps return and ask with has to be data: JSON, dataclasses, Pydantic models, messages."
# What `plain` gives for whatever lies deeper than 200 levels.
TOO_DEEP = "…"


def plain(value: Any, depth: int = 0) -> Json:
    """Any value as JSON, the same for equal values: models, dataclasses, messages, sets, dates, bytes.

    Never raises. What has no JSON form is named by its type, because a `repr` may hold an address.
    """
    if value is None or (isinstance(value, str | bool | int) and not isinstance(value, enum.Enum)):
        return value
    if depth > 200:
        return TOO_DEEP
    if isinstance(value, float):
        return value if math.isfinite(value) else str(value)
    if isinstance(value, dict):
        return {_key(key): plain(item, depth + 1) for key, item in value.items()}
    if isinstance(value, list | tuple):
        return [plain(item, depth + 1) for item in value]
    if isinstance(value, set | frozenset):
        return sorted((plain(item, depth + 1) for item in value), key=repr)
    return _plain_object(value, depth)


def given_back(value: Any, saver: Any) -> Any:
    """A value as a saver gives it back; raises what that raises for one that it cannot keep."""
    return saver.serde.loads_typed(saver.serde.dumps_typed(value))


def kept(value: Any, saver: Any) -> Json:
    """The same as plain JSON. Never raises: what the saver cannot keep is taken as it is."""
    with contextlib.suppress(Exception):
        value = given_back(value, saver)
    return plain(value)


def _plain_object(value: Any, depth: int) -> Json:
    if isinstance(value, enum.Enum):
        return plain(value.value, depth + 1)
    if isinstance(value, BaseMessage):
        return _message(value, depth)
    if isinstance(value, pydantic.BaseModel):
        fields = {name: getattr(value, name, None) for name in type(value).model_fields}
        return plain({**fields, **(value.model_extra or {})}, depth + 1)
    if dataclasses.is_dataclass(value) and not isinstance(value, type):
        fields = {field.name: getattr(value, field.name, None) for field in dataclasses.fields(value)}
        return plain(fields, depth + 1)
    if isinstance(value, datetime.datetime | datetime.date | datetime.time):
        return value.isoformat()
    if isinstance(value, bytes | bytearray):
        return base64.b64encode(value).decode()
    if isinstance(value, uuid.UUID | decimal.Decimal | PurePath | datetime.timedelta):
        return str(value)
    return f"<{type(value).__module__}.{type(value).__qualname__}>"


def _message(message: BaseMessage, depth: int) -> Json:
    """A chat message: who speaks, what, and the tools it calls; no provider metadata."""
    shown: dict[str, Json] = {"type": message.type, "content": plain(message.content, depth + 1)}
    if calls := getattr(message, "tool_calls", None):
        shown["tool_calls"] = plain(calls, depth + 1)
    if name := message.name:
        shown["name"] = name
    return shown


def _key(key: Any) -> str:
    return key if isinstance(key, str) else str(plain(key))


def storable(value: Json) -> Json:
    """Printable for every store: lone surrogates and NUL become U+FFFD, integers over 64 bits a string."""
    if isinstance(value, str):
        return re.sub("[\ud800-\udfff\x00]", "\ufffd", value)
    if isinstance(value, dict):
        return {storable(key): storable(item) for key, item in value.items()}
    if isinstance(value, list):
        return [storable(item) for item in value]
    if isinstance(value, int) and not isinstance(value, bool) and not SMALLEST <= value <= LARGEST:
        return str(value)
    return value


def check(value: Json) -> None:
    """Raise `DoesNotFit` for a value that would make a graph unresumable: once given it stays locked in."""
    if problem := _problem(value, 0):
        raise DoesNotFit(f"The agent cannot store this answer: {problem}.")


def _problem(value: Any, depth: int) -> str:
    if depth > DEEPEST:
        return f"it is nested over {DEEPEST} levels deep"
    if isinstance(value, str):
        return _unstorable(value)
    if value is None or isinstance(value, bool):
        return ""
    if isinstance(value, int):
        return "" if SMALLEST <= value <= LARGEST else "a number is larger than 64 bits"
    if isinstance(value, float):
        return "" if math.isfinite(value) else "a number is not finite"
    if isinstance(value, list):
        return next(filter(None, (_problem(item, depth + 1) for item in value)), "")
    if isinstance(value, dict):
        if not all(isinstance(key, str) for key in value):
            return "an object has a key that is not a text"
        inside = (*value.keys(), *value.values())
        return next(filter(None, (_problem(item, depth + 1) for item in inside)), "")
    return f"{type(value).__name__} is not JSON"


def _unstorable(text: str) -> str:
    if found := re.search("[\ud800-\udfff\x00]", text):
        return f"the character U+{ord(found.group()):04X} cannot be stored"
    return ""


def error_line(error: BaseException, secrets: Iterable[Any] = ()) -> str:
    """An exception as one line for people: no traceback, no credentials, none of the answers in `secrets`."""
    name, said = type(error).__name__, _said(error).strip().partition("\n")[0].strip()
    said = re.sub(r"://[^@\s/]*@", "://…@", said)
    said = _CREDENTIAL.sub(r"\1…", said)
    text = f"{name}: {said}" if said else name
    for secret in sorted(set(_texts(secrets)), key=len, reverse=True):
        text = re.sub(rf"(?<!\w){re.escape(secret)}(?!\w)", "…", text)
    return str(storable(text if len(text) <= LONGEST_ERROR else text[: LONGEST_ERROR - 1] + "…"))


def _said(error: BaseException) -> str:
    """Its message; of data that does not fit a model each place with what is wrong there, which stand
    in further lines, without the data itself."""
    if isinstance(error, TypeError) and "msgpack serializable" in str(error):
        return f"{error}. {_STORABLE}"
    if not isinstance(error, pydantic.ValidationError):
        return str(error)
    wrong = error.errors(include_url=False, include_context=False, include_input=False)
    places = ((".".join(map(str, each["loc"])), each["msg"]) for each in wrong)
    return f"{error.title}: " + "; ".join(f"{place}: {what}" if place else what for place, what in places)


def _texts(values: Any) -> Iterator[str]:
    if isinstance(values, str):
        if values.strip():
            yield from {values, values.strip(), repr(values)[1:-1], values.strip().splitlines()[0]}
    elif isinstance(values, dict):
        yield from _texts(list(values.values()))
    elif isinstance(values, Iterable):
        for value in values:
            yield from _texts(value)
    elif isinstance(values, int | float) and not isinstance(values, bool):
        yield str(values)
