"""The two questions of the tutor, and what comes back. Pure."""

from typing import Any, TypedDict

from answerback_agents.tutor.changes import counted
from answerback_agents.tutor.courses import Course
from answerback_agents.tutor.meaning import Said, said_of_courses, said_of_plan
from answerback_agents.tutor.milestones import Milestone
from answerback_agents.tutor.plan import Plan

ROOM = 240  # characters of the reason that a telephone shows
NOTICE = 160  # of them, at most, about the answer before
QUOTED = 50  # characters of what a person wrote, said back to them
# Ids that nobody types: what is typed reaches the agent as it is, and not as the label of a choice.
OF_A_PLAN = {"approve": (Said.YES, "Approve"), "different-plan": (Said.DIFFERENT, "A different plan")}
OF_COURSES = {"they-suit": (Said.YES, "They suit me"), "other-courses": (Said.DIFFERENT, "Show others")}
NO_RESPONSE = "No response"


class Heard(TypedDict):
    """An answer: the words as they are, and the id of the choice that was tapped, or "".

    `files`: the names of what came with it. `by`: who it was if no person, or "".
    """

    text: str
    choice: str
    files: list[str]
    by: str


def plan_question(plan: Plan, notice: str) -> dict[str, Any]:
    """The payload that asks whether a plan is right. No stand-in approves it (`human_only`)."""
    weeks, hours = counted(plan["weeks"], "week"), counted(plan["hours_a_week"], "hour")
    return {
        "type": "approve_plan",
        "title": "learning plan",
        "question": f"Approve this plan: {brief(plan['subject'])} in {weeks}, {hours} a week?",
        "context": _reason(notice, [_weeks(each) for each in plan["milestones"]], "Week "),
        "choices": _choices(OF_A_PLAN),
        "human_only": True,
    }


def courses_question(courses: list[Course], notice: str) -> dict[str, Any]:
    """The payload that asks whether courses suit the person."""
    return {
        "type": "judge_courses",
        "title": "courses",
        "question": "Do these courses suit you?" if len(courses) > 1 else "Does this course suit you?",
        "context": _reason(notice, [course_line(each) for each in courses]),
        "choices": _choices(OF_COURSES),
    }


def heard(answer: Any) -> Heard | None:
    """What was answered; None if nobody did. `answer` is `{"content", "choice"}` or a plain text."""
    if not isinstance(answer, dict):
        text = answer if isinstance(answer, str) else ""
        return None if text == NO_RESPONSE else Heard(text=text, choice="", files=[], by="")
    if answer.get("timed_out"):
        return None
    content = answer.get("content")
    return Heard(
        text="" if content is None else str(content),
        choice=str(answer.get("choice") or ""),
        files=[str(each.get("name") or "a file") for each in answer.get("attachments") or ()],
        by=str(answer.get("answered_by") or ""),
    )


def meaning_for_plan(answer: Heard) -> Said:
    """What an answer about a plan says."""
    return _tapped(answer, OF_A_PLAN) or said_of_plan(answer["text"])


def meaning_for_courses(answer: Heard) -> Said:
    """What an answer about courses says."""
    return _tapped(answer, OF_COURSES) or said_of_courses(answer["text"])


def brief(text: str, most: int = QUOTED) -> str:
    """A text in one line, cut where it is long."""
    line = " ".join(text[: 8 * most].split())
    return line if len(line) <= most else line[: most - 1].rstrip() + "…"


def course_line(course: Course) -> str:
    """A course in a few words."""
    return f"{course['name']} ({course['level']}, {course['hours']} h)"


def span(milestone: Milestone) -> str:
    """The weeks of a milestone: "3", "4–6"."""
    first, last = milestone["from_week"], milestone["to_week"]
    return str(first) if first == last else f"{first}–{last}"


def _choices(offered: dict[str, tuple[Said, str]]) -> list[dict[str, str]]:
    return [{"id": id, "label": label} for id, (_, label) in offered.items()]


def _tapped(answer: Heard, offered: dict[str, tuple[Said, str]]) -> Said | None:
    """The button that was tapped, or of which the label was sent as a text."""
    if answer["choice"]:
        return offered[answer["choice"]][0] if answer["choice"] in offered else None
    return next((said for said, label in offered.values() if answer["text"] == label), None)


def _weeks(milestone: Milestone) -> str:
    return f"{span(milestone)}: {', '.join(milestone['topics'])}"


def _reason(notice: str, parts: list[str], start: str = "") -> str:
    """What was made of the last answer, and below it what is asked about, as far as there is room."""
    above = f"{brief(notice, NOTICE)}\n" if notice else ""
    shown = list(parts)
    while len(shown) > 1 and len(above + start + " · ".join(shown)) > ROOM - 2:
        shown.pop()
    row = brief(start + " · ".join(shown), ROOM - 2 - len(above))
    return above + row + (" …" if len(shown) < len(parts) else "")
