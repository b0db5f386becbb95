"""The day in a text: "tomorrow", "Friday", "3 Dec", "3. Dezember 2026", "3/4/2026", "12月3日"."""

import calendar
import datetime
import re

from answerback.read import words
from answerback.read.result import Unclear
from answerback.sentences import day as written

NUMERIC = re.compile(r"(\d{1,2})\s*([./-])\s*(\d{1,2})(?:\s*\2\s*(\d{4}|\d{2})?)?")
YEAR_FIRST = re.compile(r"(\d{4})([./-])(\d{1,2})\2(\d{1,2})")
CJK = re.compile(
    r"(?:(\d{4})\s*[年년]\s*)?(\d{1,2})\s*[月월]\s*(\d{1,2})\s*[日号號일]?"
    r"(?:\s*[（(]?(?:周|週|星期|礼拜|禮拜)([一二三四五六日天])[)）]?|\s*[（(]([月火水木金土日])[)）])?"
)
CJK_WEEK = re.compile(r"(下|这|這|本)?[个個]?(?:周|週|星期|礼拜|禮拜)([一二三四五六日天])")
CJK_DAYS, JAPANESE_DAYS = "一二三四五六日", "月火水木金土日"
LEADING = re.compile(r"([^\W\d]+)[.,]*\s+")
TOKENS = re.compile(r"\d+|[^\W\d_]+(?:['’-][^\W\d_]+)*")
BETWEEN = re.compile(r"[\s.,]*")
MOST = 12  # words of a date


def find_day(text: str, language: str, today: datetime.date) -> datetime.date | Unclear | None:
    """The day that a folded text without its time names; None if it cannot be read as one.

    Without a year it is the next such day from today on.
    """
    plain = text.strip(" ,.!。！")
    if plain in words.LAST_OF_MONTH:
        return today.replace(day=calendar.monthrange(today.year, today.month)[1])
    if match := CJK_WEEK.fullmatch(plain):
        return _chinese_weekday(match[1] or "", CJK_DAYS.index(match[2].replace("天", "日")), today)
    if plain in words.RELATIVE:
        return today + datetime.timedelta(days=words.RELATIVE[plain])
    if match := YEAR_FIRST.fullmatch(plain):
        return _date(int(match[1]), int(match[3]), int(match[4]))
    if match := CJK.fullmatch(plain):
        return _with_weekday(match, today)
    weekday, rest = _led(plain, language)
    if match := NUMERIC.fullmatch(rest):
        found = _numeric(match, language, today)
        wrong = weekday is not None and isinstance(found, datetime.date) and found.weekday() != weekday
        return None if wrong else found
    return _spoken(plain, language, today)


def _with_weekday(match: re.Match[str], today: datetime.date) -> datetime.date | None:
    """12月4日, and perhaps 周五 or (金) behind it, which must be that day's."""
    found = _in_year(match[1], int(match[2]), int(match[3]), today)
    if found is None or not (match[4] or match[5]):
        return found
    chinese, japanese = CJK_DAYS[found.weekday()], JAPANESE_DAYS[found.weekday()]
    return found if match[5] == japanese or (match[4] or "").replace("天", "日") == chinese else None


def _led(text: str, language: str) -> tuple[int | None, str]:
    """The weekday that stands before a date in digits ("Mi, 9.12.", "le 3/12"), and the date."""
    weekday = None
    while match := LEADING.match(text):
        if match[1] in words.weekdays(language) and weekday is None:
            weekday = words.weekdays(language)[match[1]]
        elif match[1] not in words.FILLERS:
            break
        text = text[match.end() :]
    return weekday, text


def _numeric(match: re.Match[str], language: str, today: datetime.date) -> datetime.date | Unclear | None:
    first, sign, second, year = int(match[1]), match[2], int(match[3]), match[4]
    year = f"20{year}" if year and len(year) == 2 else year
    if sign == "." and (year or words.dotted(language)):
        return _in_year(year, second, first, today)
    day_first = _in_year(year, second, first, today)
    month_first = _in_year(year, first, second, today)
    if day_first is None or month_first is None or day_first == month_first:
        return day_first or month_first
    decided = words.month_first(language)
    if decided is not None:
        return month_first if decided else day_first
    one, other = (written(each, language, today) for each in (day_first, month_first))
    return Unclear("date_ambiguous", {"one": one, "other": other})


def _spoken(text: str, language: str, today: datetime.date) -> datetime.date | Unclear | None:
    if BETWEEN.fullmatch(TOKENS.sub("", text)) is None:
        return None
    tokens = [token for token in TOKENS.findall(text) if token not in words.FILLERS]
    if not 1 <= len(tokens) <= MOST:
        return None
    weekdays, months = words.weekdays(language), words.months(language)
    if len(tokens) == 2 and (named := set(tokens) & (words.THIS | words.NEXT)):
        (other,) = set(tokens) - named or {""}
        if other in weekdays:
            return _this_or_next(weekdays[other], language, today, following=bool(named & words.NEXT))
    if tokens[0] in weekdays and tokens[0] in months and len(tokens) < 3:
        return None  # "mar" is a Tuesday and a March
    if len(tokens) == 1:
        number = weekdays.get(tokens[0])
        return _next(number, today) if number is not None else _relative(tokens[0], today)
    return _named(tokens, weekdays, months, today)


def _relative(word: str, today: datetime.date) -> datetime.date | None:
    """A relative word that a filler stood beside ("the day after tomorrow" is one of its own)."""
    days = words.RELATIVE.get(word)
    return None if days is None else today + datetime.timedelta(days=days)


def _named(
    tokens: list[str], weekdays: dict[str, int], months: dict[str, int], today: datetime.date
) -> datetime.date | None:
    """A number, a month's name, and perhaps a year and the weekday, each once."""
    numbers = [token for token in tokens if token.isdecimal()]
    days = [token for token in numbers if len(token) <= 2]
    years = [token for token in numbers if len(token) == 4]
    named = [token for token in tokens if token in months]
    others = [token for token in tokens if token not in numbers and token not in months]
    if len(named) == 2 and named[0] in weekdays and not others:  # "mar 10 mar"
        others, named = named[:1], named[1:]
    counted = len(days), len(named), len(numbers) - len(days) - len(years)
    if counted != (1, 1, 0) or len(years) > 1 or len(others) > 1:
        return None
    found = _in_year(years[0] if years else None, months[named[0]], int(days[0]), today)
    if found is None or not others:
        return found
    return found if weekdays.get(others[0]) == found.weekday() else None


def _next(weekday: int, today: datetime.date) -> datetime.date | Unclear:
    """The next such weekday. Today's own could be today or in a week: that is for the person to say."""
    ahead = (weekday - today.weekday()) % 7
    return today + datetime.timedelta(days=ahead) if ahead else Unclear("date_today")


def _this_or_next(
    weekday: int, language: str, today: datetime.date, *, following: bool
) -> datetime.date | Unclear:
    """ "Next Friday" is the one that comes to some, and that of next week to others."""
    soon, later = _next(weekday, today), _of_next_week(weekday, today)
    if not following or soon == later:
        return soon
    if isinstance(soon, Unclear):
        return later
    one, other = (written(each, language, today) for each in (soon, later))
    return Unclear("date_ambiguous", {"one": one, "other": other})


def _chinese_weekday(which: str, weekday: int, today: datetime.date) -> datetime.date | Unclear | None:
    """下周五 is in next week for certain, and 这周五 in this one."""
    if which == "下":
        return _of_next_week(weekday, today)
    if which and weekday < today.weekday():
        return None
    return _next(weekday, today)


def _of_next_week(weekday: int, today: datetime.date) -> datetime.date:
    return today + datetime.timedelta(days=7 - today.weekday() + weekday)


def _in_year(year: str | None, month: int, day: int, today: datetime.date) -> datetime.date | None:
    if year:
        return _date(int(year), month, day)
    found = _date(today.year, month, day)
    return found if found and found >= today else _date(today.year + 1, month, day)


def _date(year: int, month: int, day: int) -> datetime.date | None:
    try:
        return datetime.date(year, month, day)
    except ValueError:
        return None
