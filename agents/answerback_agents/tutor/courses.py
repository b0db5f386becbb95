"""Courses for a plan, by what they share with it and by what the person said about them. Pure."""

from dataclasses import dataclass, field
from typing import Literal, TypedDict

from answerback_agents.tutor import catalogue
from answerback_agents.tutor.feedback import Clause, How, Topics, clauses
from answerback_agents.tutor.keywords import asks_of_courses
from answerback_agents.tutor.meaning import Said, folded, said_of_courses
from answerback_agents.tutor.plan import Plan, topics_of
from answerback_agents.tutor.words import NAMES_A_PLAN, NAMES_COURSES

HOW = How(said_of_courses, asks_of_courses)
AT_ONCE = 3  # as many as can be read at a glance


class Course(TypedDict):
    """A recommendation; only a person's satisfaction makes it accepted."""

    name: str
    level: str
    hours: int
    topics: list[str]
    status: Literal["suggested", "accepted"]


class Taste(TypedDict):
    """What the person said about courses: "" and None where nothing was said."""

    level: str
    most_hours: int | None
    wanted: list[str]
    unwanted: list[str]


@dataclass(frozen=True, slots=True)
class Judged:
    """The taste as it is now, and what else was in the text, clause by clause.

    `unread`: no rule could take it. `partly`: nothing but a keyword. `aspects`: what is to change, not which
    way. `questions`: no wishes at all. `plan`: what is about the plan. `said`: what whole clauses say.
    """

    taste: Taste
    unread: list[str] = field(default_factory=list)
    partly: list[str] = field(default_factory=list)
    aspects: list[str] = field(default_factory=list)
    questions: list[str] = field(default_factory=list)
    plan: list[str] = field(default_factory=list)
    said: set[Said] = field(default_factory=set)


def no_taste() -> Taste:
    """Before anything was said."""
    return Taste(level="", most_hours=None, wanted=[], unwanted=[])


def recommend(plan: Plan, taste: Taste, shown: list[str]) -> list[Course]:
    """The next ones that fit, those first that share most with the plan; none of those that were shown."""
    topics = [*taste["wanted"], *topics_of(plan)]
    fitting = [each for each in _all(plan, taste) if each.name not in shown and _fits(each, taste)]
    ranked = sorted(fitting, key=lambda each: -sum(topic in topics for topic in each.topics))
    return [
        Course(
            name=each.name, level=each.level, hours=each.hours, topics=list(each.topics), status="suggested"
        )
        for each in ranked[:AT_ONCE]
    ]  # fmt: skip


def judge(plan: Plan, taste: Taste, courses: list[Course], text: str) -> Judged:
    """Take from a text what plain rules can."""
    goal = catalogue.goal_of(plan["goal"])
    there = {topic for course in courses for topic in course["topics"]}
    own = {topic for course in goal.courses for topic in course.topics}
    found = clauses(text, Topics(catalogue.topics_by_word(goal), own, there), HOW)
    plan_s = [each for each in found if _is_of_plan(each)]
    read = [each for each in found if each not in plan_s]
    new = Taste(**taste)
    taken = [_take(clause, new, courses) for clause in read]
    return Judged(
        new,
        unread=[
            clause.text
            for clause, done in zip(read, taken, strict=True)
            if not done and not clause.asks and not clause.aspect and clause.said is Said.SOMETHING
        ],
        partly=[clause.text for clause in read if clause.partly],
        aspects=[clause.aspect for clause in read if clause.aspect],
        questions=[clause.text for clause in read if clause.asks],
        plan=[clause.text for clause in plan_s],
        said={clause.said for clause in read} - {Said.SOMETHING},
    )


def _is_of_plan(clause: Clause) -> bool:
    """Whether it is about the plan: it names it, and is no request for courses that go with it."""
    said = folded(clause.text)
    further = clause.said in (Said.MORE, Said.DIFFERENT) and NAMES_COURSES.search(said)
    return not clause.asks and not further and bool(NAMES_A_PLAN.search(said))


def _take(clause: Clause, taste: Taste, courses: list[Course]) -> bool:
    """Whether a clause said something about courses."""
    longest = max(course["hours"] for course in courses)
    if clause.hours is not None and clause.hours > 0:
        taste["most_hours"] = clause.hours
    elif clause.ways & {"shorter", "lighter"}:
        taste["most_hours"] = longest - 1
    if clause.ways & {"easier", "harder"}:
        taste["level"] = "easier" if "easier" in clause.ways else "harder"
    taste["wanted"] = [*taste["wanted"], *clause.wanted]
    taste["unwanted"] = [each for each in taste["unwanted"] if each not in clause.wanted] + clause.unwanted
    ways = clause.ways & {"shorter", "lighter", "easier", "harder"}
    return bool(ways or clause.hours or clause.wanted or clause.unwanted)


def _all(plan: Plan, taste: Taste) -> list[catalogue.Course]:
    """Those of the goal, and those of any other with a topic that the plan or the person asks for."""
    goal = catalogue.goal_of(plan["goal"])
    foreign = set(topics_of(plan)) | set(taste["wanted"])
    foreign -= {topic.name for topic in goal.topics}
    others = (course for each in catalogue.goals() if each != goal for course in each.courses)
    return [*goal.courses, *(course for course in others if foreign & set(course.topics))]


def _fits(course: catalogue.Course, taste: Taste) -> bool:
    level = taste["level"]
    return (
        (not level or (course.level == "beginner") == (level == "easier"))
        and (taste["most_hours"] is None or course.hours <= taste["most_hours"])
        and not set(course.topics) & set(taste["unwanted"])
        and (not taste["wanted"] or bool(set(course.topics) & set(taste["wanted"])))
    )
