"""An action as its call has it: the name, and each argument as a row, in full and exactly.

Numbers and times are written the person's way. Where that could be read in two ways the value itself
stands beside it.
"""

import datetime
import json
import re

from answerback.model import Action, Json
from answerback.render.nested import exact, nested
from answerback.render.visible import line, visible
from answerback.sentences import moment, number, say
from answerback.sentences.moments import EPOCH

# Digits that name something are not grouped: 88123 is an account, not 88,123.
NAMING = re.compile(
    r"(?:^|[_\W])(?:id|ids|no|nr|num|number|code|zip|postcode|phone|tel|fax|mobile|account|iban|bic|card|pin|year|"
    r"port|version|sku|ean|isbn|ref|reference|key|token|serial|ticket|order|invoice|timestamp|ts|epoch)s?$",
    re.IGNORECASE,
)
CAMEL = re.compile(r"(?<=[a-z0-9])(?=[A-Z])")
TIME = re.compile(r"\d{4}-\d\d-\d\d[T ]\d\d:\d\d(?::\d\d(?:\.\d{1,6})?)?(?:Z|[+-]\d\d:?\d\d)", re.ASCII)
# A text that could be taken for something else stands in quotation marks.
LIKE_A_VALUE = re.compile(
    r"\s.*|.*\s|-?[\d.,]+(?:[eE][+-]?\d+)?|true|false|null|none|[\[{\"“].*|", re.DOTALL | re.IGNORECASE
)


def name(action: Action) -> str:
    """The name of what is called."""
    return line(action.name) or "?"


def rows(action: Action, *, language: str, timezone: str, now: int) -> tuple[tuple[str, str], ...]:
    """Label and value of every argument, in the order of the call."""
    return tuple(
        (line(str(key)) or "“”", value_text(value, str(key), language=language, timezone=timezone, now=now))
        for key, value in action.args.items()
    )


def value_text(value: Json, key: str = "", *, language: str, timezone: str, now: int) -> str:
    """One value for a person to read; nothing is left out. What is nested begins with an empty line."""
    if isinstance(value, bool):
        return say("yes" if value else "no", language).lower() + f" ({json.dumps(value)})"
    if isinstance(value, (int, float)):
        return number(value, language, grouped=not NAMING.search(CAMEL.sub("_", key)))
    if isinstance(value, str):
        return _text(value, language, timezone, now)
    if value is None:
        return "—"

    def scalar(value: Json, key: str) -> str:
        return value_text(value, key, language=language, timezone=timezone, now=now)

    return nested(value, key, scalar) or exact(value)


def _text(text: str, language: str, timezone: str, now: int) -> str:
    shown = visible(text)
    if TIME.fullmatch(text):
        at = _at(text)
        return shown if at is None else f"{moment(at, language, timezone, now)} ({shown})"
    doubtful = LIKE_A_VALUE.fullmatch(text) or LIKE_A_VALUE.fullmatch(shown)
    return say("quoted", language, text=shown) if doubtful else shown


def _at(text: str) -> int | None:
    """Microseconds since the epoch; None for what no calendar has."""
    try:
        return (datetime.datetime.fromisoformat(text) - EPOCH) // datetime.timedelta(microseconds=1)
    except (ValueError, OverflowError):
        return None
