"""The catalogue: goals with their topics and courses, from the file that comes along."""

import re
import tomllib
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from functools import cache
from importlib.resources import files
from typing import Any, Literal

Level = Literal["beginner", "intermediate", "advanced"]
# Letters that a Latin word goes on with; a Chinese sign beside it does not make it another word.
LETTER = "[0-9a-zà-öø-ÿœß_]"


@dataclass(frozen=True, slots=True)
class Topic:
    """Something to learn, and how many hours it takes."""

    name: str
    hours: int
    words: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class Course:
    """Something to take."""

    name: str
    level: Level
    hours: int
    topics: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class Goal:
    """What can be learnt. `name` is "" for the one that stands for all others."""

    name: str
    level: Level
    words: tuple[str, ...]
    topics: tuple[Topic, ...]
    courses: tuple[Course, ...]


@cache
def goals() -> tuple[Goal, ...]:
    """All of them, read at the first use; the last one is for what the catalogue does not know."""
    text = files(__package__).joinpath("catalogue.toml").read_text("utf-8")
    return tuple(_goal(entry) for entry in tomllib.loads(text)["goal"])


def goal_of(wish: str) -> Goal:
    """The goal that a wish names; of several, the one that is named at most length."""
    found = [(len(word), goal) for goal in goals() for word in goal.words if named(word, wish)]
    return max(found, key=lambda each: each[0])[1] if found else goals()[-1]


def topics_by_word(goal: Goal) -> Mapping[str, str]:
    """Every word for a topic, with the topic's name. The goal's own come first, then those of all others."""
    found: dict[str, str] = {}
    for each in (goal, *goals()[:-1]):
        for topic in each.topics:
            for word in topic.words:
                found.setdefault(word, topic.name)
    return found


def topic_called(name: str, goal: Goal) -> Topic:
    """The topic of this name, the goal's own if it has one."""
    return next(topic for each in (goal, *goals()) for topic in each.topics if topic.name == name)


def named(word: str, text: str) -> bool:
    """Whether a text has a word, as a whole word and in any case."""
    return bool(whole([word]).search(text.casefold()))


def whole(words: Iterable[str]) -> re.Pattern[str]:
    """Finds any of these words in folded text; of several that begin alike, the longest."""
    listed = "|".join(re.escape(word) for word in sorted(words, key=len, reverse=True))
    return re.compile(f"(?<!{LETTER})(?:{listed})(?!{LETTER})")


def _goal(entry: dict[str, Any]) -> Goal:
    return Goal(
        entry["name"],
        entry["level"],
        _words(entry) if entry["name"] else (),
        tuple(Topic(each["name"], each["hours"], _words(each)) for each in entry["topics"]),
        tuple(
            Course(each["name"], each["level"], each["hours"], tuple(each["topics"]))
            for each in entry["courses"]
        ),
    )


def _words(entry: dict[str, Any]) -> tuple[str, ...]:
    return tuple(word.casefold() for word in (entry["name"], *entry["also"]))
