"""What the coach is started with, what it keeps between its steps, and what it ends with."""

from dataclasses import dataclass
from typing import Any, Literal, TypedDict

from langchain_core.messages import AnyMessage

Result = Literal["metrics_result", "activity_result", "physiology_result", "season_plan", "weekly_plan"]


@dataclass(frozen=True, slots=True)
class Step:
    """An analysis or a planner: its node, where its text goes, and what it is called before a person."""

    name: str
    result: Result
    title: str


STEPS = (
    Step("metrics", "metrics_result", "training load"),
    Step("activity", "activity_result", "workouts"),
    Step("physiology", "physiology_result", "recovery"),
    Step("season_planner", "season_plan", "season"),
    Step("weekly_planner", "weekly_plan", "coming week"),
)


class Note(TypedDict):
    """A question that was asked. `answered` is false if nobody did; then `answer` and `choice` are ""."""

    step: str
    about: str
    question: str
    answer: str
    choice: str
    answered: bool


class Start(TypedDict, total=False):
    """What it is started with. All of it may be left out."""

    user_id: str
    athlete_name: str
    garmin_data: dict[str, Any]
    analysis_context: str
    planning_context: str
    competitions: list[dict[str, Any]]
    current_date: dict[str, str]
    week_dates: list[dict[str, str]]
    style_guide: str
    execution_id: str
    plotting_enabled: bool
    hitl_enabled: bool


class Outcome(TypedDict):
    """What it ends with. A text is "" until its step has finished."""

    user_id: str
    athlete_name: str
    execution_id: str
    questions: list[Note]
    metrics_result: str
    activity_result: str
    physiology_result: str
    season_plan: str
    weekly_plan: str
    summary: str


class State(Outcome):
    """What is kept between the steps. `talk` is what a step and its model have said to each other so far."""

    garmin_data: dict[str, Any]
    sample: bool
    analysis_context: str
    planning_context: str
    competitions: list[dict[str, Any]]
    current_date: dict[str, str]
    week_dates: list[dict[str, str]]
    style_guide: str
    plotting_enabled: bool
    hitl_enabled: bool
    talk: list[AnyMessage]
