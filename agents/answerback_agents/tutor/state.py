"""What the tutor is started with, what it keeps between its steps, and what it ends with."""

from typing import NotRequired, TypedDict

from answerback_agents.tutor.ask import Heard
from answerback_agents.tutor.courses import Course, Taste
from answerback_agents.tutor.plan import Plan, Wishes
from answerback_agents.tutor.summary import Ending


class Start(TypedDict):
    """What it is started with."""

    goal: str
    weeks: NotRequired[int]


class Outcome(TypedDict):
    """What it ends with."""

    plan: Plan
    courses: list[Course]
    feedback: list[str]
    summary: str


class State(Start, Outcome):
    """What is kept between the steps. `answer` is the last one, None if nobody gave it."""

    wishes: Wishes
    taste: Taste
    shown: list[str]
    notice: str
    answer: Heard | None
    rounds: int
    ending: Ending
