"""Milestones: topics spread over weeks. Pure."""

from itertools import accumulate
from typing import TypedDict

from answerback_agents.tutor.catalogue import Topic


class Milestone(TypedDict):
    """What is learnt from one week to another."""

    from_week: int
    to_week: int
    topics: list[str]


def spread(topics: list[Topic], weeks: int) -> list[Milestone]:
    """Every week has something to learn, and what takes more hours gets more weeks."""
    count = min(len(topics), weeks)
    groups = [
        topics[len(topics) * place // count : len(topics) * (place + 1) // count] for place in range(count)
    ]
    sizes = [sum(topic.hours for topic in group) for group in groups]
    milestones, end = list[Milestone](), 0
    for place, (group, passed) in enumerate(zip(groups, accumulate(sizes), strict=True), start=1):
        start, fair = end + 1, round(weeks * passed / sum(sizes))
        end = max(start, min(weeks - count + place, fair))
        milestones.append(Milestone(from_week=start, to_week=end, topics=[topic.name for topic in group]))
    return milestones
