"""Dates and times as people write them. What can mean two days is asked again, never guessed."""

import datetime
import re

from answerback.read import words
from answerback.read.clock import find_time
from answerback.read.days import find_day
from answerback.read.normal import tidy
from answerback.read.numerals import in_digits, spelt
from answerback.read.result import Read, Unclear, Value
from answerback.sentences import day as written
from answerback.sentences import zone_of

ISO = re.compile(
    r"\d{4}-\d{2}-\d{2}(?:[Tt ]\d{2}:\d{2}(?::\d{2}(?:\.\d{1,6})?)?(?:[Zz]|[+-]\d{2}:?\d{2})?)?", re.ASCII
)
AHEAD = re.compile(r"(?:(\S+)\s+)?(\d{1,4}|[^\W\d]+)\s*(\S+?)(后|後)?", re.DOTALL)
MOST = 100  # characters of a date
EPOCH = datetime.datetime(1970, 1, 1, tzinfo=datetime.UTC)


def read_date(text: str, *, language: str, timezone: str, now: int) -> Read:
    """An ISO 8601 date, or date and time with its offset. `now` is in microseconds since the epoch."""
    zone = zone_of(timezone)
    try:
        here = (EPOCH + datetime.timedelta(microseconds=now)).astimezone(zone)
        found = _read(text, language, here, zone) if len(text) <= MOST else None
    except (OverflowError, ValueError):  # before the year 1 or after 9999, 31 February in ISO
        found = None
    if isinstance(found, Unclear):
        return Unclear(found.key, {"text": text, **found.args})
    return Value(found.isoformat(), text) if found else Unclear("unclear_date", {"text": text})


def _read(
    text: str, language: str, here: datetime.datetime, zone: datetime.tzinfo
) -> datetime.date | Unclear | None:
    if ISO.fullmatch(text.strip()):
        return _iso(text.strip().upper(), zone)
    folded = words.spoken(in_digits(tidy(text)))
    ahead = _ahead(folded, language, here, zone)
    if ahead is not None:
        return ahead
    timed = find_time(folded)
    if timed is None:
        return None
    time, rest, either = timed
    rest = " ".join(word for word in rest.split() if word.strip(".,"))
    if not rest:
        return _today(time, here, zone, language if either else "") if time else None
    day = find_day(rest, language, here.date())
    if time is None or not isinstance(day, datetime.date):
        return day
    return _either(day, time, language, here) if either else _moment(day, time, zone)


def _iso(text: str, zone: datetime.tzinfo) -> datetime.date | Unclear:
    if len(text) == len("2026-12-03"):
        return datetime.date.fromisoformat(text)
    found = datetime.datetime.fromisoformat(text)
    return found if found.tzinfo else _moment(found.date(), found.time(), zone)


def _ahead(
    folded: str, language: str, here: datetime.datetime, zone: datetime.tzinfo
) -> datetime.date | None:
    """ "in 3 days", "in einer Woche", "三天后": from now on."""
    match = AHEAD.fullmatch(folded)
    if not match or (match[1] not in words.IN and not match[4]) or (match[1] and match[4]):
        return None
    number = int(match[2]) if match[2].isdecimal() else spelt(match[2], language)
    number = 1 if match[2] in words.ONE else number
    unit = words.UNIT_OF.get(match[3].rstrip("."))
    if number is None or unit is None:
        return None
    if unit in ("days", "weeks"):
        return here.date() + datetime.timedelta(**{unit: number})
    later = here.astimezone(datetime.UTC) + datetime.timedelta(**{unit: number})
    return later.replace(second=0, microsecond=0).astimezone(zone)


def _today(
    time: datetime.time, here: datetime.datetime, zone: datetime.tzinfo, either: str
) -> datetime.date | Unclear:
    """That time today. `either`: the language, where it can be in the morning or in the afternoon."""
    found = _moment(here.date(), time, zone)
    if isinstance(found, datetime.datetime) and found <= here:
        later = time.replace(hour=time.hour + 12) if either else time  # at 14:02, "at 5" is at 17:00
        return _today(later, here, zone, "") if either else Unclear("date_past")
    return _either(here.date(), time, either, here) if either else found


def _either(day: datetime.date, time: datetime.time, language: str, here: datetime.datetime) -> Unclear:
    """The two moments that an hour without its half of the day can be, as they can be written."""
    shown = written(day, language, here.date())
    return Unclear(
        "date_hour", {"one": f"{shown} {time:%H:%M}", "other": f"{shown} {time.hour + 12}:{time:%M}"}
    )


def _moment(day: datetime.date, time: datetime.time, zone: datetime.tzinfo) -> datetime.datetime | Unclear:
    """That time there. One that the change of the clocks skips or repeats is not one moment."""
    found = datetime.datetime.combine(day, time, zone)
    if found.replace(fold=0).utcoffset() != found.replace(fold=1).utcoffset():
        return Unclear("date_clock")
    return found
