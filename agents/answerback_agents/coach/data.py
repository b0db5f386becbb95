"""`garmin_data`: what was recorded, day by day and workout by workout. Pure."""

from collections import Counter
from collections.abc import Sequence
from datetime import date, timedelta
from statistics import fmean
from typing import Annotated, Any

import pydantic

Amount = Annotated[float, pydantic.Field(ge=0, le=1e6, allow_inf_nan=False)]
EXAMPLE = '{"activities": [{"date": "2026-11-20", "sport": "run", "minutes": 50}], "days": [{"date": "2026-11-20", "sleep_hours": 7.5}]}'  # fmt: skip  # noqa: E501


class Activity(pydantic.BaseModel):
    """A workout. `load` is any measure of it that adds up; without one its minutes count."""

    date: date
    sport: str = "workout"
    name: str = ""
    minutes: Amount = 0
    distance_km: Amount | None = None
    average_hr: Amount | None = None
    load: Amount | None = None

    @property
    def strain(self) -> float:
        return self.minutes if self.load is None else self.load


class Day(pydantic.BaseModel):
    """A day, with the night before it."""

    date: date
    sleep_hours: Amount | None = None
    hrv_ms: Amount | None = None
    resting_hr: Amount | None = None


class Recorded(pydantic.BaseModel):
    """All of it."""

    activities: list[Activity] = []
    days: list[Day] = []


def recorded(garmin_data: Any) -> Recorded:
    """What was recorded, oldest first. Raises `ValueError` that says what is wrong, and shows no value."""
    try:
        found = Recorded.model_validate(garmin_data)
    except pydantic.ValidationError as error:
        [first, *_] = error.errors(include_url=False, include_input=False)
        where = ".".join(["garmin_data", *(str(part) for part in first["loc"])])
        raise ValueError(f"{where}: {first['msg']}. It looks like this: {EXAMPLE}") from None
    if not found.activities and not found.days:
        raise ValueError(f"garmin_data has neither activities nor days. It looks like this: {EXAMPLE}")
    return Recorded(
        activities=sorted(found.activities, key=lambda each: each.date),
        days=sorted(found.days, key=lambda each: each.date),
    )


def span(today: date, days: int, back: int = 0) -> list[date]:
    """`days` days up to `back` days ago, oldest first."""
    return [today - timedelta(ago) for ago in range(back + days - 1, back - 1, -1)]


def loads(found: Recorded, days: Sequence[date]) -> list[float]:
    """The load of each day."""
    by_day: Counter[date] = Counter()
    for activity in found.activities:
        by_day[activity.date] += activity.strain  # type: ignore[assignment]  # counts fractions as well
    return [float(by_day[day]) for day in days]


def measured(found: Recorded, name: str, days: Sequence[date]) -> list[tuple[date, float]]:
    """What was measured on these days: `sleep_hours`, `hrv_ms` or `resting_hr`."""
    values = ((day.date, getattr(day, name)) for day in found.days if day.date in set(days))
    return [(day, value) for day, value in values if value is not None]


def mean(values: Sequence[float]) -> float:
    """The mean; 0 of nothing."""
    return fmean(values) if values else 0.0


def cut(garmin_data: dict[str, Any], today: date, activities_days: int, metrics_days: int) -> dict[str, Any]:
    """What a model is shown: of lists with dates what is recent enough, all else as it is."""
    windows = {"activities": activities_days, "days": metrics_days}
    first = {key: today - timedelta(days - 1) for key, days in windows.items()}
    return {
        key: [each for each in value if _since(each, first[key])]
        if key in first and isinstance(value, list)
        else value
        for key, value in garmin_data.items()
    }


def _since(entry: Any, first: date) -> bool:
    """Whether an entry is recent enough; one without a date that can be read is."""
    try:
        return date.fromisoformat(entry["date"][:10]) >= first
    except (KeyError, TypeError, ValueError):
        return True
