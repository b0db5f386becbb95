"""The time of day in a text: "9:00", "9 am", "18h30", "9 Uhr", "at 9", "a las 9", "noon", "下午3点半"."""

import datetime
import re

HALF = r"(?P<half>am|pm|a\.m\.|p\.m\.)"
DE_LA = r"de la (?P<part>mañana|tarde|noche)(?!\w)"
AT = r"(?:(?<!\w)(?:at|um|à|a las?)\s+)?"
PATTERNS = tuple(
    re.compile(pattern)
    for pattern in (
        rf"{AT}(?<![\d.:])(?P<hour>\d{{1,2}})(?::(?P<minute>\d{{2}}))?\s+{DE_LA}",
        rf"{AT}(?<![\d.:])(?P<hour>\d{{1,2}}):(?P<minute>\d{{2}})(?::00)?(?![\d:])(?:\s*{HALF}(?!\w))?(?:\s*(?:uhr|h)(?!\w))?",
        r"(?<![\d.:])(?P<hour>\d{1,2})(?:\.(?P<minute>\d{2}))?\s*uhr(?:\s*(?P<minute2>\d{2}))?(?!\w)",
        rf"{AT}(?<![\d.:])(?P<hour>\d{{1,2}})\s*h\s*(?P<minute>\d{{2}})?(?!\w)",
        rf"{AT}(?<![\d.:])(?P<hour>\d{{1,2}})\s*{HALF}(?!\w)",
        r"(?P<part>凌晨|上午|早上|中午|下午|傍晚|晚上|午前|午後)?\s*(?P<hour>\d{1,2})[点點时時](?:(?P<thirty>半)|(?P<minute>\d{1,2})分?)?",
        r"(?<!\w)(?:at|um|a las?|à)\s+(?P<hour>\d{1,2})(?![\w:./-])",
        r"(?<!\w)(?:(?:at|à|a|al)\s+)?(?P<noon>noon|midday|mittags?|midi|mediodía|mediodia)(?!\w)|(?P<noon2>中午|正午)",
    )
)
# Of an hour without minutes, "at 5" or 5点, nobody knows which half of the day is meant; who is at work at 9
# means the morning.
BARE, SMALL = PATTERNS[5:7], range(1, 7)
# Which hours of twelve a part of the day has, and what is added to them. What falls outside is said otherwise
# by some, or not at all: 晚上12点 is midnight, and belongs to either day.
MORNING, AFTERNOON, EVENING = range(12), range(1, 12), range(5, 12)
PARTS = dict.fromkeys(("上午", "早上", "午前", "mañana"), (MORNING, 0))
PARTS |= dict.fromkeys(("下午", "午後", "tarde"), (AFTERNOON, 12))
PARTS |= dict.fromkeys(("晚上", "傍晚", "noche"), (EVENING, 12))
PARTS |= {"凌晨": (range(6), 0), "中午": (range(1, 3), 12)}
NOON_IN = frozenset({"下午", "午後", "中午", "tarde"})  # 12 there is noon


def find_time(text: str) -> tuple[datetime.time | None, str, bool] | None:
    """The one time in a folded text, the rest of the text, and whether it can be in the afternoon as well.

    (None, text, False) without a time; None: there are two, or one that no clock shows.
    """
    found, rest, either = None, text, False
    for pattern in PATTERNS:
        for match in list(pattern.finditer(rest)):
            if found is not None:
                return None
            found = _time(match.groupdict())
            if found is None:
                return None
            either = pattern in BARE and found.hour in SMALL and not match.groupdict().get("part")
        rest = pattern.sub(" ", rest)
    return found, rest, either


def _time(parts: dict[str, str | None]) -> datetime.time | None:
    if parts.get("noon") or parts.get("noon2"):
        return datetime.time(12)
    hour = int(parts["hour"] or 0)
    minute = 30 if parts.get("thirty") else int(parts.get("minute") or parts.get("minute2") or 0)
    if half := parts.get("half"):
        if not 1 <= hour <= 12:
            return None
        hour = hour % 12 + (12 if half.startswith("p") else 0)
    if part := parts.get("part"):
        within = _within(hour, part)
        if within is None:
            return None
        hour = within
    return datetime.time(hour, minute) if hour < 24 and minute < 60 else None


def _within(hour: int, part: str) -> int | None:
    """An hour of that part of the day on a clock of 24; None where it has none such."""
    hours, more = PARTS[part]
    if hour in hours:
        return hour + more
    later = more > 0 and hour - more in hours  # 晚上20点
    return hour if later or (hour == 12 and part in NOON_IN) or (hour == 11 and part == "中午") else None
