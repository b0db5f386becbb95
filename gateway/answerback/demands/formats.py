"""Formats: what a text must be by name, and how that is written. Any other name forbids nothing.

They are as generous as the types of Pydantic's that write these names into schemas, and no more: whatever a
graph would take must not be refused, and what it would refuse must not be taken. Where only those types know
what they read, they are asked.
"""

import datetime
import functools
import ipaddress
import re
from collections.abc import Callable
from typing import TYPE_CHECKING, Any, Literal

from answerback.model import Json

if TYPE_CHECKING:
    from pydantic_core import SchemaValidator

LONGEST = 2_000  # characters: nothing that has a format is longer
_Check = Callable[[str], bool]
# All are linear: what repeats can end in one place only.
MAIL = re.compile(r"[^\s@]{1,64}@[^\s@.]+(?:\.[^\s@.]+)*")
LINK = re.compile(r"[A-Za-z][A-Za-z0-9+.-]*:[^\s]+")
HOST = re.compile(r"[^\W_](?:[\w-]{0,61}[^\W_])?(?:\.[^\W_](?:[\w-]{0,61}[^\W_])?)*\.?")


def fits(name: Json, text: str) -> bool:
    """Whether a text has a format."""
    check = _CHECKS[name][0] if isinstance(name, str) and name in _CHECKS else None
    return check is None or (len(text) <= LONGEST and check(text))


def example(name: Json) -> str:
    """A text of that format; "" for one that is not known."""
    return _CHECKS[name][1] if isinstance(name, str) and name in _CHECKS else ""


def _by(make: Callable[[str], object]) -> _Check:
    @functools.wraps(make)
    def check(text: str) -> bool:
        try:
            make(text)
        except ValueError:
            return False
        return True

    return check


def _typed(kind: Literal["date", "datetime", "time", "timedelta", "uuid", "url"], version: int = 0) -> _Check:
    """As Pydantic's own type reads a text. It takes numbers for moments too, which the others here do not."""

    def check(text: str) -> bool:
        return _reader(kind, version).isinstance_python(text)

    return check


@functools.cache
def _reader(kind: str, version: int) -> "SchemaValidator":
    from pydantic_core import SchemaValidator  # few questions need it

    made: Any = {"type": kind} | ({"version": version} if version else {})
    return SchemaValidator(made)


def _both(one: _Check, other: _Check) -> _Check:
    return lambda text: one(text) and other(text)


def _moment(text: str) -> None:
    if len(text) <= len("2026-12-03") or datetime.datetime.fromisoformat(text).tzinfo is None:
        raise ValueError("a day without a time, or a time without its offset")


def _link(text: str) -> bool:
    web = text.lower().startswith(("http:", "https:"))
    return bool(LINK.fullmatch(text)) and (not web or re.match(r"https?://[^\s/]", text, re.I) is not None)


_CHECKS: dict[str, tuple[_Check, str]] = {
    "email": (lambda text: MAIL.fullmatch(text) is not None, "ana@example.org"),
    "uri": (_both(_link, _typed("url")), "https://example.org/page"),
    "hostname": (lambda text: len(text) <= 254 and HOST.fullmatch(text) is not None, "host.example.org"),
    "uuid": (_typed("uuid"), "123e4567-e89b-12d3-a456-426614174000"),
    "ipv4": (_by(ipaddress.IPv4Address), "192.0.2.1"),
    "ipv6": (_by(ipaddress.IPv6Address), "2001:db8::1"),
    "ipv4network": (_by(ipaddress.IPv4Network), "192.0.2.0/24"),
    "ipv6network": (_by(ipaddress.IPv6Network), "2001:db8::/32"),
    "ipv4interface": (_by(ipaddress.IPv4Interface), "192.0.2.1/24"),
    "ipv6interface": (_by(ipaddress.IPv6Interface), "2001:db8::1/32"),
    "ipvanyaddress": (_by(ipaddress.ip_address), "192.0.2.1"),
    "ipvanynetwork": (_by(ipaddress.ip_network), "192.0.2.0/24"),
    "ipvanyinterface": (_by(ipaddress.ip_interface), "192.0.2.1/24"),
    "time": (_typed("time"), "14:30:00"),
    "duration": (_typed("timedelta"), "PT10M"),
    "date": (_both(_by(datetime.date.fromisoformat), _typed("date")), "2026-12-03"),
    "date-time": (_both(_by(_moment), _typed("datetime")), "2026-12-03T14:30:00+01:00"),
}
_CHECKS["idn-email"], _CHECKS["iri"] = _CHECKS["email"], _CHECKS["uri"]
_CHECKS["idn-hostname"] = _CHECKS["hostname"]
for _version in (1, 3, 4, 5, 6, 7, 8):
    _like = f"123e4567-e89b-{_version}2d3-a456-426614174000"
    _CHECKS[f"uuid{_version}"] = (_typed("uuid", _version), _like)
