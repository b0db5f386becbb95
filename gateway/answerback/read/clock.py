"""The time of day in a text: "9:00", "9 am", "18h30", "9 Uhr", "at 9", "下午3点"."""

import datetime
import re

HALF = r"(?P<half>am|pm|a\.m\.|p\.m\.)"
PATTERNS = tuple(
    re.compile(pattern)
    for pattern in (
        rf"(?<![\d.:])(?P<hour>\d{{1,2}}):(?P<minute>\d{{2}})(?::00)?(?![\d:])(?:\s*{HALF}(?!\w))?(?:\s*(?:uhr|h)(?!\w))?",
        r"(?<![\d.:])(?P<hour>\d{1,2})(?:\.(?P<minute>\d{2}))?\s*uhr(?:\s*(?P<minute2>\d{2}))?(?!\w)",
        r"(?<![\d.:])(?P<hour>\d{1,2})\s*h\s*(?P<minute>\d{2})?(?!\w)",
        rf"(?<![\d.:])(?P<hour>\d{{1,2}})\s*{HALF}(?!\w)",
        r"(?P<cjk>上午|早上|下午|晚上|午前|午後)?\s*(?P<hour>\d{1,2})[点點时時](?:(?P<minute>\d{1,2})分?)?",
        r"(?<!\w)(?:at|um|a las|à)\s+(?P<hour>\d{1,2})(?![\w:./-])",
    )
)
PM = frozenset({"pm", "p.m.", "下午", "晚上", "午後"})


def find_time(text: str) -> tuple[datetime.time | None, str] | None:
    """The one time in a folded text, and the rest of the text; (None, text) without a time.

    None: there are two, or one that no clock shows.
    """
    found, rest = None, text
    for pattern in PATTERNS:
        for match in list(pattern.finditer(rest)):
            if found is not None:
                return None
            found = _time(match.groupdict())
            if found is None:
                return None
        rest = pattern.sub(" ", rest)
    return found, rest


def _time(parts: dict[str, str | None]) -> datetime.time | None:
    hour = int(parts["hour"] or 0)
    minute = int(parts.get("minute") or parts.get("minute2") or 0)
    half = parts.get("half") or parts.get("cjk")
    if half:
        if not 1 <= hour <= 12:
            return None
        hour = hour % 12 + (12 if half in PM else 0)
    return datetime.time(hour, minute) if hour < 24 and minute < 60 else None
