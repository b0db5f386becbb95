"""Quiet hours end at the right moment, over midnight, in the person's zone, and across a change of clocks."""

import datetime

import pytest

from answerback.quiet import end_of_quiet

VIENNA = "Europe/Vienna"


def at(text: str) -> int:
    """Microseconds of a UTC time."""
    return round(datetime.datetime.fromisoformat(text).replace(tzinfo=datetime.UTC).timestamp() * 1e6)


@pytest.mark.parametrize(
    ("hours", "now", "end"),
    [
        ("", "2026-01-10 23:00", "2026-01-10 23:00"),
        ("22:00-07:00", "2026-01-10 20:59", "2026-01-10 20:59"),  # 21:59 in Vienna
        ("22:00-07:00", "2026-01-10 21:00", "2026-01-11 06:00"),
        ("22:00-07:00", "2026-01-11 05:59", "2026-01-11 06:00"),
        ("22:00-07:00", "2026-01-11 06:00", "2026-01-11 06:00"),
        ("12:00-13:00", "2026-01-10 11:30", "2026-01-10 12:00"),
        ("22:00-07:00", "2026-03-28 22:00", "2026-03-29 05:00"),  # the night in which an hour is missing
        ("22:00-07:00", "2026-10-24 21:00", "2026-10-25 06:00"),  # and the one that has an hour twice
    ],
)
def test_it_is_quiet_until(hours: str, now: str, end: str) -> None:
    assert end_of_quiet(hours, VIENNA, at(now)) == at(end)
