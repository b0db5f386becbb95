"""From what a run is started with to the state that the steps share. Pure, but for the day it is."""

from datetime import date, timedelta
from typing import Any

import pydantic

from answerback_agents.coach.sample import sample, sample_races
from answerback_agents.coach.settings import Settings
from answerback_agents.coach.state import STEPS, Start

DAYS = 7  # that are planned, where the run does not say which


class Given(pydantic.BaseModel):
    """The input, checked. What is left out has a default; what it is not about is left alone."""

    model_config = pydantic.ConfigDict(strict=True)

    user_id: str = ""
    athlete_name: str = ""
    garmin_data: dict[str, Any] = {}
    analysis_context: str = ""
    planning_context: str = ""
    competitions: list[dict[str, Any]] | None = None
    current_date: dict[str, str] = {}
    week_dates: list[dict[str, str]] = []
    style_guide: str = ""
    execution_id: str = ""
    plotting_enabled: bool | None = None
    hitl_enabled: bool | None = None


def prepared(start: Start, settings: Settings, today: date) -> dict[str, Any]:
    """The first state. Raises `ValueError` that says what is wrong with the input, and shows no value."""
    try:
        given = Given.model_validate({key: value for key, value in start.items() if value is not None})
    except pydantic.ValidationError as error:
        [first, *_] = error.errors(include_url=False, include_input=False)
        raise ValueError(f"{'.'.join(str(part) for part in first['loc'])}: {first['msg']}") from None
    now = day_of(given.current_date, "current_date") if given.current_date else today
    without = not given.garmin_data
    races = given.competitions if given.competitions is not None or not without else sample_races(now)
    coming = [day_of(each, "week_dates") for each in given.week_dates]
    return {
        **given.model_dump(exclude={"competitions", "plotting_enabled", "hitl_enabled"}),
        "garmin_data": sample(now) if without else given.garmin_data,
        "sample": without,
        "competitions": races or [],
        "current_date": named(now),
        "week_dates": [named(day) for day in sorted(coming) or (now + timedelta(n + 1) for n in range(DAYS))],
        "plotting_enabled": _either(given.plotting_enabled, settings.enable_plotting),
        "hitl_enabled": _either(given.hitl_enabled, settings.hitl_enabled),
        "questions": [],
        "talk": [],
        "summary": "",
        **{step.result: "" for step in STEPS},
    }


def day_of(entry: dict[str, str], name: str) -> date:
    """The day in `{"date": "2026-11-23"}`; raises `ValueError` that names the entry."""
    try:
        return date.fromisoformat(entry.get("date", "")[:10])
    except ValueError:
        raise ValueError(f'{name}: it needs a date, such as {{"date": "2026-11-23"}}') from None


def named(day: date) -> dict[str, str]:
    """A day as the steps share it."""
    return {"date": day.isoformat(), "day_name": day.strftime("%A")}


def _either(said: bool | None, configured: bool) -> bool:
    return configured if said is None else said
