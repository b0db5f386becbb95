"""Three weeks of an athlete who was made up, to try the coach with: a gap, a jump, bad nights."""

from datetime import date, timedelta
from typing import Any

# days ago, sport, name, minutes, kilometres, heart rate, load
ACTIVITIES = (
    (20, "run", "Easy run", 50, 9.0, 138, 55),
    (19, "ride", "Ride", 90, 40.0, 132, 80),
    (18, "run", "Intervals", 60, 11.0, 158, 85),
    (16, "swim", "Swim", 45, 2.0, 128, 40),
    (15, "ride", "Long ride", 150, 65.0, 134, 110),
    (14, "run", "Easy run", 45, 8.0, 137, 50),
    (13, "run", "Easy run", 50, 9.0, 139, 55),
    (12, "ride", "Ride", 60, 26.0, 131, 60),
    (11, "run", "Tempo run", 50, 10.0, 154, 80),
    (7, "run", "Easy run", 45, 8.0, 140, 50),
    (6, "run", "Intervals", 65, 12.0, 160, 90),
    (5, "ride", "Ride", 80, 36.0, 135, 70),
    (4, "run", "Easy run", 50, 9.0, 166, 75),
    (3, "swim", "Swim", 45, 2.0, 129, 35),
    (2, "ride", "Long ride", 170, 74.0, 137, 125),
    (1, "run", "Long run", 90, 16.5, 147, 100),
)
# each night and the day after it, the last one being today: tenths of hours, milliseconds, beats
SLEEP = (76, 72, 78, 74, 75, 79, 71, 73, 80, 81, 79, 77, 74, 75, 72, 69, 56, 70, 51, 54, 68)
HRV = (62, 61, 63, 60, 62, 64, 61, 60, 63, 65, 66, 64, 62, 61, 60, 59, 55, 58, 56, 57, 58)
PULSE = (48, 48, 47, 48, 49, 48, 47, 48, 47, 46, 46, 47, 48, 48, 48, 49, 50, 49, 50, 50, 50)
# in days, name, kind
RACES = ((40, "City half marathon", "run"), (75, "Lake triathlon", "triathlon"))


def sample(today: date) -> dict[str, Any]:
    """`garmin_data` up to today."""
    return {
        "activities": [
            {
                "date": (today - timedelta(ago)).isoformat(),
                "sport": sport,
                "name": name,
                "minutes": minutes,
                "distance_km": distance,
                "average_hr": pulse,
                "load": load,
            }
            for ago, sport, name, minutes, distance, pulse, load in ACTIVITIES
        ],
        "days": [
            {
                "date": (today - timedelta(ago)).isoformat(),
                "sleep_hours": sleep / 10,
                "hrv_ms": hrv,
                "resting_hr": pulse,
            }
            for ago, sleep, hrv, pulse in zip(range(20, -1, -1), SLEEP, HRV, PULSE, strict=True)
        ],
    }


def sample_races(today: date) -> list[dict[str, Any]]:
    """`competitions` to come."""
    return [
        {"date": (today + timedelta(days)).isoformat(), "name": name, "race_type": kind}
        for days, name, kind in RACES
    ]
