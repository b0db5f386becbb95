"""Durations as askers write them: seconds as a number, or a text such as `10m` or `1h30m`."""

import re

from answerback.errors import DoesNotFit
from answerback.model import Json
from answerback.settings import units

_NUMBER = re.compile(r"[0-9]{1,12}(?:\.[0-9]{1,6})?")


def seconds(value: Json) -> float:
    """The seconds of a duration, more than 0 and at most ten years. Raises `DoesNotFit`."""
    found = _read(value)
    if not 0 < found <= units.LONGEST:
        raise DoesNotFit("A duration is more than 0 seconds and at most ten years.")
    return float(found)


def _read(value: Json) -> float:
    if isinstance(value, int | float) and not isinstance(value, bool):
        return value
    if isinstance(value, str) and _NUMBER.fullmatch(value):
        return float(value)
    try:
        return units.duration(value)
    except ValueError:
        raise DoesNotFit("A duration is a number of seconds, or a text such as 90s, 10m or 1h30m.") from None
