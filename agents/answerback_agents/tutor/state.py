"""What the tutor is started with, what it keeps between its steps, and what it ends with."""

from typing import Any, NotRequired, TypedDict

from answerback_agents.tutor.ask import Heard
from answerback_agents.tutor.courses import Course, Taste
from answerback_agents.tutor.plan import Plan, Wishes
from answerback_agents.tutor.summary import Ending
from answerback_agents.tutor.talk import Message


class Start(TypedDict):
    """What it is started with."""

    goal: str
    weeks: NotRequired[int]


class Outcome(TypedDict):
    """What it ends with."""

    plan: Plan
    courses: list[Course]
    feedback: list[str]
    messages: list[Message]
    summary: str


class State(Start, Outcome):
    """What is kept between the steps.

    `question` is the payload that was put last, and `answer` what came back, None if nobody gave it.
    `for_courses` and `questions` are clauses of the person: wishes for a later step, and what they asked.
    `rounds`, `remarks`: answers about the one thing that is asked about; `reopened`: how often the plan was.
    """

    wishes: Wishes
    taste: Taste
    shown: list[str]
    for_courses: list[str]
    questions: list[str]
    notice: str
    question: dict[str, Any]
    answer: Heard | None
    rounds: int
    remarks: int
    reopened: int
    ending: Ending
