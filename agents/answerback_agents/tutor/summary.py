"""How it ended, in Markdown. Pure."""

from typing import Literal

from answerback_agents.tutor.ask import course_line, span
from answerback_agents.tutor.changes import counted, listed
from answerback_agents.tutor.courses import Course
from answerback_agents.tutor.plan import Plan

Ending = Literal["", "agreed", "silence", "stopped", "rounds"]
OF_A_DRAFT: dict[Ending, str] = {
    "silence": "Nobody answered, so this plan was not approved. It stays a draft",
    "stopped": "Stopped as you said. This plan was not approved and stays a draft",
    "rounds": "We found no plan that you approved, and I will not ask for ever. The last one stays a draft",
}
OF_COURSES: dict[Ending, str] = {
    "agreed": "Courses that you chose",
    "silence": "Courses that I suggest (nobody said whether they suit)",
    "stopped": "Courses that I suggested before you stopped",
    "rounds": "Courses that I suggest (I found none that you were satisfied with)",
}


def summary(plan: Plan, courses: list[Course], ending: Ending) -> str:
    """What was agreed, or that nothing was; then the plan, and the courses."""
    weeks, hours = counted(plan["weeks"], "week"), counted(plan["hours_a_week"], "hour")
    size = f"{plan['subject']} in {weeks}, {hours} a week"
    head = (
        f"Your plan is approved: {size}."
        if plan["status"] == "approved"
        else f"{OF_A_DRAFT[ending]}: {size}."
    )
    lines = [
        f"- Week {span(each)}: {', '.join(each['topics'])}" if each["from_week"] == each["to_week"]
        else f"- Weeks {span(each)}: {', '.join(each['topics'])}"
        for each in plan["milestones"]
    ]  # fmt: skip
    left = [f"Left out: {listed(plan['left_out'])}."] if plan["left_out"] else []
    taken = ["\n".join([f"**{OF_COURSES[ending]}**\n", *(f"- {course_line(each)}" for each in courses)])]
    none = ["I know no course for it."] if plan["status"] == "approved" else []
    return "\n\n".join([head, "\n".join(lines), *left, *(taken if courses else none)]) + "\n"
