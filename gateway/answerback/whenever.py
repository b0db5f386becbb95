"""When to go on with something, as a person writes it: "2h", "30" (minutes), "until Friday 9:00". Pure."""

import datetime
import re

from answerback.model import Contact, Question, QuestionKind
from answerback.read import Unclear, read
from answerback.sentences import moment, zone_of

MORNING = datetime.time(9)  # of a day that is named without a time
_MINUTES = re.compile(r"^(\d{1,4})\s*m?$", re.IGNORECASE)
_LIKE_ONE = re.compile(r"\d{1,4}\s*(?:m|min|minutes?|h|hours?|d|days?)?|until\s+\S.{0,40}", re.IGNORECASE)
_WHEN = Question("when", "", QuestionKind.DATE)


def moment_of(when: str, person: Contact | None, now: int) -> int | Unclear:
    """Microseconds since the epoch, later than `now`; or what is not clear about it."""
    language, timezone = _ways(person)
    first, _, rest = when.partition(" ")
    span = rest if first.lower() == "for" else when
    written = [rest] if first.lower() == "until" else ["in " + _MINUTES.sub(r"\1 minutes", span), when]
    found = read(_WHEN, written[0], language=language, timezone=timezone, now=now)
    if isinstance(found, Unclear):
        found = read(_WHEN, written[-1], language=language, timezone=timezone, now=now)
    if isinstance(found, Unclear):
        return Unclear(found.key, found.args | {"text": when})
    then = datetime.datetime.fromisoformat(str(found.value))
    if len(str(found.value)) == len("2026-12-03"):
        then = datetime.datetime.combine(then.date(), MORNING, zone_of(timezone))
    at = round(then.timestamp() * 1e6)
    return at if at > now else Unclear("date_past", {"text": when})


def is_one(text: str, person: Contact | None, now: int) -> bool:
    """Whether this is a time, or meant as one, rather than words of an answer."""
    return bool(_LIKE_ONE.fullmatch(text)) or isinstance(moment_of(text, person, now), int)


def told(at: int, person: Contact | None, now: int) -> str:
    """A moment as this person reads it."""
    return moment(at, *_ways(person), now)


def _ways(person: Contact | None) -> tuple[str, str]:
    return (person.language, person.timezone) if person else ("en", "UTC")
