"""How it ended, in Markdown. Pure."""

from typing import Literal

from answerback_agents.tutor.ask import brief, course_line, span
from answerback_agents.tutor.changes import counted, listed
from answerback_agents.tutor.courses import Course
from answerback_agents.tutor.plan import Plan

Ending = Literal["", "agreed", "silence", "stopped", "rounds", "not-a-person"]
MOST_SHOWN = 5  # questions of the person; all of them are in the messages
OF_A_DRAFT: dict[Ending, str] = {
    "silence": "Nobody answered, so this plan was not approved. It stays a draft",
    "not-a-person": "No person answered, so this plan was not approved. It stays a draft",
    "stopped": "Stopped as you said. This plan was not approved and stays a draft",
    "rounds": "We found no plan that you approved, and I will not ask for ever. The last one stays a draft",
}
OF_COURSES: dict[Ending, str] = {
    "agreed": "Courses that you chose",
    "silence": "Courses that I suggest (nobody said whether they suit)",
    "not-a-person": "Courses that I suggest (no person said whether they suit)",
    "stopped": "Courses that I suggested before you stopped",
    "rounds": "Courses that I suggest (I found none that you were satisfied with)",
}


def head(plan: Plan, ending: Ending) -> str:
    """What was agreed, or that nothing was."""
    weeks, hours = counted(plan["weeks"], "week"), counted(plan["hours_a_week"], "hour")
    size = f"{plan['subject']} in {weeks}, {hours} a week"
    if plan["status"] == "approved":
        return f"Your plan is approved: {size}."
    return f"{OF_A_DRAFT[ending]}: {size}."


def closing(plan: Plan, courses: list[Course], ending: Ending) -> str:
    """The last words: how it ended, for the plan and for the courses."""
    return "\n".join([head(plan, ending), *([f"{OF_COURSES[ending]}."] if courses else [])])


def summary(plan: Plan, courses: list[Course], ending: Ending, questions: list[str]) -> str:
    """How it ended; then the plan, the courses, and what the person asked that got no answer."""
    lines = [
        f"- Week {span(each)}: {', '.join(each['topics'])}" if each["from_week"] == each["to_week"]
        else f"- Weeks {span(each)}: {', '.join(each['topics'])}"
        for each in plan["milestones"]
    ]  # fmt: skip
    left = [f"Left out: {listed(plan['left_out'])}."] if plan["left_out"] else []
    taken = ["\n".join([f"**{OF_COURSES[ending]}**\n", *(f"- {course_line(each)}" for each in courses)])]
    none = ["I know no course for it."] if plan["status"] == "approved" else []
    parts = [head(plan, ending), "\n".join(lines), *left, *(taken if courses else none)]
    return "\n\n".join(parts + _asked(questions)) + "\n"


def _asked(questions: list[str]) -> list[str]:
    shown = [f"- “{brief(each, 200)}”" for each in questions[:MOST_SHOWN]]
    more = [f"- and {len(questions) - MOST_SHOWN} more"] if len(questions) > MOST_SHOWN else []
    return ["\n".join(["**You also asked, and I could not answer**\n", *shown, *more])] if shown else []
