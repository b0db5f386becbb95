"""Quiet hours: when somebody wants to be left alone, in their own time zone."""

import datetime
import zoneinfo


def end_of_quiet(quiet_hours: str, timezone: str, now: int) -> int:
    """`now` if it is not quiet, else when the quiet hours end; microseconds since the epoch.

    `quiet_hours` is "22:00-07:00" (local, from inclusive to exclusive, over midnight or not), or "".
    """
    if not quiet_hours:
        return now
    zone = zoneinfo.ZoneInfo(timezone)
    here = datetime.datetime.fromtimestamp(now / 1e6, zone)
    start, end = (datetime.time.fromisoformat(part.strip().zfill(5)) for part in quiet_hours.split("-"))
    for day in (here.date() - datetime.timedelta(days=1), here.date()):
        begins = datetime.datetime.combine(day, start, zone)
        ends = datetime.datetime.combine(day + datetime.timedelta(days=int(end <= start)), end, zone)
        if begins <= here < ends:
            return round(ends.timestamp() * 1e6)
    return now
