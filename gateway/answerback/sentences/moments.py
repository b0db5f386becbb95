"""Moments, durations and numbers as a person writes them, by language and time zone."""

import datetime
import functools
import zoneinfo
from decimal import Decimal

from babel import Locale
from babel.core import UnknownLocaleError
from babel.dates import format_skeleton
from babel.numbers import get_decimal_symbol, get_group_symbol

from answerback.sentences.catalogue import say

MINUTE, HOUR, DAY = 60_000_000, 3_600_000_000, 86_400_000_000
EPOCH = datetime.datetime(1970, 1, 1, tzinfo=datetime.UTC)


@functools.lru_cache(maxsize=256)
def locale_of(language: str) -> Locale:
    """The locale for a BCP 47 tag. English without a country is written the international way (18:00)."""
    tag = language.replace("_", "-")
    for known in ("en-GB" if tag.lower() == "en" else tag, tag.split("-")[0]):
        try:
            return Locale.parse(known, sep="-")
        except (UnknownLocaleError, ValueError, TypeError):
            continue
    return Locale("en", "GB")


@functools.lru_cache(maxsize=256)
def zone_of(timezone: str) -> datetime.tzinfo:
    """The IANA zone of that name; UTC if there is none, because a time must always be sayable."""
    try:
        return zoneinfo.ZoneInfo(timezone)
    except (zoneinfo.ZoneInfoNotFoundError, ValueError, OSError):
        return datetime.UTC


def local(at: int, timezone: str) -> datetime.datetime:
    """Microseconds since the epoch as the clock on the person's wall; the calendar's ends are kept to."""
    try:
        return (EPOCH + datetime.timedelta(microseconds=at)).astimezone(zone_of(timezone))
    except OverflowError:
        edge = datetime.date.min if at < 0 else datetime.date.max
        time = datetime.time.min if at < 0 else datetime.time.max
        return datetime.datetime.combine(edge, time, zone_of(timezone))


def moment(at: int, language: str, timezone: str, now: int) -> str:
    """A time: "18:00" if it is today there, else with its day ("Fri 4 Dec, 18:00")."""
    then, today = local(at, timezone), local(now, timezone)
    clock = _clock(then, language)
    if then.date() == today.date():
        return clock
    between = " " if language.startswith("zh") else ", "
    return f"{day(then.date(), language, today.date())}{between}{clock}"


@functools.lru_cache(maxsize=1024)
def day(date: datetime.date, language: str, today: datetime.date) -> str:
    """A day with its weekday, and with its year if that is not this year ("Fri 4 Dec")."""
    skeleton = "MMMEd" if date.year == today.year else "yMMMEd"
    noon = datetime.datetime.combine(date, datetime.time(12))
    return format_skeleton(skeleton, noon, locale=locale_of(language))


def duration(microseconds: int, language: str) -> str:
    """How long, in its one fitting unit, rounded down: "40 min", "3 h", "2 days", "less than a minute"."""
    if microseconds < MINUTE:
        return say("under_a_minute", language)
    if microseconds < 2 * HOUR:
        return say("minutes", language, count=microseconds // MINUTE)
    if microseconds < 2 * DAY:
        return say("hours", language, count=microseconds // HOUR)
    return say("days", language, count=microseconds // DAY)


def number(value: int | float, language: str, *, grouped: bool = False) -> str:
    """A number with the person's decimal sign, every digit kept; `grouped` separates the thousands."""
    text = repr(value)
    if isinstance(value, float) and "e" in text:
        text = format(Decimal(text), "f")
    if text in ("nan", "inf", "-inf"):
        return text
    locale = locale_of(language)
    whole, _, rest = text.partition(".")
    if grouped and len(whole.lstrip("-")) > 4:
        whole = f"{int(whole):,}".replace(",", get_group_symbol(locale))
    return f"{whole}{get_decimal_symbol(locale)}{rest}" if rest else whole


def _clock(then: datetime.datetime, language: str) -> str:
    if _counts_to_twelve(language):
        return format_skeleton("hm", then.replace(tzinfo=None), locale=locale_of(language))
    return f"{then.hour:02}:{then.minute:02}"


@functools.lru_cache(maxsize=256)
def _counts_to_twelve(language: str) -> bool:
    """Whether people there say which half of the day they mean."""
    pattern = locale_of(language).time_formats["short"].pattern
    return "a" in pattern or "B" in pattern
