"""Formats: what a text must be by name, and how that is written. Any other name forbids nothing.

They are as generous as the types of Pydantic's that write these names into schemas: whatever a graph would
take must not be refused.
"""

import datetime
import functools
import ipaddress
import re
import uuid
from collections.abc import Callable

from answerback.model import Json

LONGEST = 2_000  # characters: nothing that has a format is longer
# All are linear: what repeats can end in one place only.
MAIL = re.compile(r"[^\s@]{1,64}@[^\s@.]+(?:\.[^\s@.]+)*")
LINK = re.compile(r"[A-Za-z][A-Za-z0-9+.-]*:[^\s]+")
HOST = re.compile(r"[^\W_](?:[\w-]{0,61}[^\W_])?(?:\.[^\W_](?:[\w-]{0,61}[^\W_])?)*\.?")
DURATION = re.compile(
    r"[+-]?P(?=[\dT])(?:[\d.]+[YMWD])*(?:T(?:[\d.]+[HMS])+)?"
    r"|[+-]?(?:\d+ ?d(?:ays?)?,? ?)?\d+:\d\d(?::\d\d(?:\.\d+)?)?",
    re.IGNORECASE | re.ASCII,
)


def fits(name: Json, text: str) -> bool:
    """Whether a text has a format."""
    check = _CHECKS[name][0] if isinstance(name, str) and name in _CHECKS else None
    return check is None or (len(text) <= LONGEST and check(text))


def example(name: Json) -> str:
    """A text of that format; "" for one that is not known."""
    return _CHECKS[name][1] if isinstance(name, str) and name in _CHECKS else ""


def _by(make: Callable[[str], object]) -> Callable[[str], bool]:
    @functools.wraps(make)
    def check(text: str) -> bool:
        try:
            make(text)
        except ValueError:
            return False
        return True

    return check


def _moment(text: str) -> None:
    if len(text) <= len("2026-12-03") or datetime.datetime.fromisoformat(text).tzinfo is None:
        raise ValueError("a day without a time, or a time without its offset")


def _link(text: str) -> bool:
    web = text.lower().startswith(("http:", "https:"))
    return bool(LINK.fullmatch(text)) and (not web or re.match(r"https?://[^\s/]", text, re.I) is not None)


_CHECKS: dict[str, tuple[Callable[[str], bool], str]] = {
    "email": (lambda text: MAIL.fullmatch(text) is not None, "ana@example.org"),
    "uri": (_link, "https://example.org/page"),
    "hostname": (lambda text: len(text) <= 254 and HOST.fullmatch(text) is not None, "host.example.org"),
    "uuid": (_by(uuid.UUID), "123e4567-e89b-12d3-a456-426614174000"),
    "ipv4": (_by(ipaddress.IPv4Address), "192.0.2.1"),
    "ipv6": (_by(ipaddress.IPv6Address), "2001:db8::1"),
    "time": (_by(datetime.time.fromisoformat), "14:30:00"),
    "duration": (lambda text: DURATION.fullmatch(text) is not None, "PT10M"),
    "date": (_by(datetime.date.fromisoformat), "2026-12-03"),
    "date-time": (_by(_moment), "2026-12-03T14:30:00+01:00"),
}
_CHECKS["idn-email"], _CHECKS["iri"] = _CHECKS["email"], _CHECKS["uri"]
_CHECKS["idn-hostname"] = _CHECKS["hostname"]
