"""Learning plans: what is learnt in which week, drafted from the catalogue and from wishes. Pure."""

from typing import Literal, TypedDict

from answerback_agents.tutor.catalogue import Goal, Topic, goal_of, topic_called
from answerback_agents.tutor.milestones import Milestone, spread

MOST_WEEKS = 52
MOST_HOURS = 40  # a week
USUAL_WEEKS = 6
USUAL_HOURS = 10  # a week, at most, unless somebody wants more
APPROACHES = (
    "step by step",
    "starting with the practical part",
    "only the essentials, with more time for each",
)


class Plan(TypedDict):
    """A plan; only a person's approval takes it from draft to approved."""

    goal: str
    subject: str
    approach: str
    level: str
    weeks: int
    hours_a_week: int
    milestones: list[Milestone]
    left_out: list[str]
    status: Literal["draft", "approved"]


class Wishes(TypedDict):
    """What is known of what the person wants; `hours` is None while nobody named any."""

    weeks: int
    hours: int | None
    wanted: list[str]
    unwanted: list[str]
    approach: int


def first_wishes(weeks: int) -> Wishes:
    """What is known at the start."""
    return Wishes(weeks=weeks, hours=None, wanted=[], unwanted=[], approach=0)


def draft(goal: str, wishes: Wishes) -> Plan:
    """The plan for a goal in the person's words. The same wishes always give the same plan."""
    known = goal_of(goal)
    chosen = _chosen(known, wishes)
    hours = wishes["hours"] or _usual_hours(chosen, wishes["weeks"])
    kept = _fitting(chosen, hours * wishes["weeks"], wishes)
    names = [topic.name for topic in kept]
    return Plan(
        goal=goal,
        subject=known.name or f"“{goal}”",
        approach=APPROACHES[wishes["approach"]],
        level=known.level,
        weeks=wishes["weeks"],
        hours_a_week=hours,
        milestones=spread(kept, wishes["weeks"]),
        left_out=[topic.name for topic in chosen if topic.name not in names],
        status="draft",
    )


def different(goal: str, wishes: Wishes) -> Wishes:
    """The wishes for the next way to learn the same, that of which the weeks look different."""
    before = draft(goal, wishes)["milestones"]
    for step in range(1, len(APPROACHES)):
        other = Wishes(**{**wishes, "approach": (wishes["approach"] + step) % len(APPROACHES)})
        if draft(goal, other)["milestones"] != before:
            return other
    return wishes


def topics_of(plan: Plan) -> list[str]:
    """All topics of a plan, in order."""
    return [topic for milestone in plan["milestones"] for topic in milestone["topics"]]


def _chosen(goal: Goal, wishes: Wishes) -> list[Topic]:
    """Every topic that belongs in, in the order of the approach."""
    own = list(goal.topics)
    if wishes["approach"] == 1:
        own = [own[-1], *own[:-1]]
    elif wishes["approach"] == 2:
        own = own[: (len(own) + 1) // 2]
    there = {topic.name for topic in own}
    added = [topic_called(name, goal) for name in wishes["wanted"] if name not in there]
    listed = [topic for topic in (*own, *added) if topic.name not in wishes["unwanted"]]
    return listed or own[:1]


def _usual_hours(topics: list[Topic], weeks: int) -> int:
    return min(USUAL_HOURS, -(-sum(topic.hours for topic in topics) // weeks))


def _fitting(topics: list[Topic], hours: int, wishes: Wishes) -> list[Topic]:
    """Those for which there is time. The last go first, and what the person named goes last."""
    kept = list(topics)
    while len(kept) > 1 and sum(topic.hours for topic in kept) > hours:
        free = [topic for topic in kept if topic.name not in wishes["wanted"]]
        kept.remove((free or kept)[-1])
    return kept
