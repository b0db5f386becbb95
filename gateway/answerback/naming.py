"""naming: whether somebody's account stands in the bytes of an event, and is no part of another one."""

import json
import re
from collections.abc import Iterator
from urllib.parse import quote

SHORTEST = 5  # characters of an id that is looked for; shorter ones stand anywhere
# What may stand before an id: nothing, a sign that is in none, or any sign as forms, mails and JSON write it.
BEFORE = re.compile(rb"(?:^|[^\w.+-]|%[0-9A-Fa-f]{2}|=[0-9A-F]{2}|\\[bfnrt]|\\u[0-9A-Fa-f]{4})$")
FURTHEST = 6  # octets of the longest of these
GOES_ON = re.compile(rb"\w|[.-]\w")  # behind it: then it is a part of a longer one


def stands_in(raw: bytes, id: str) -> bool:
    """In whatever case, and as JSON, forms and the envelopes of mails write it."""
    if len(id) < SHORTEST:
        return False
    lower = raw.lower()  # a pattern without regard to case would hold up all else for eight times as long
    return any(_is_whole(raw, at, len(form)) for form in _forms(id) for at in _all(lower, form))


def _forms(id: str) -> set[bytes]:
    ways = (id, quote(id, safe=""), json.dumps(id)[1:-1], id.replace("@", "="))
    return {way.encode().lower() for way in ways}


def _all(lower: bytes, form: bytes) -> Iterator[int]:
    at = lower.find(form)
    while at >= 0:
        yield at
        at = lower.find(form, at + 1)


def _is_whole(raw: bytes, at: int, length: int) -> bool:
    """What begins with a sign, such as a plus, begins there whatever stands before it."""
    begins = not raw[at : at + 1].isalnum() or BEFORE.search(raw[max(0, at - FURTHEST) : at])
    return bool(begins) and not GOES_ON.match(raw[at + length : at + length + 2])


__all__ = ["stands_in"]
