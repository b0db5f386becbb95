"""What the tutor says back: the line above its next question. Pure."""

from answerback_agents.tutor.ask import QUOTED, brief
from answerback_agents.tutor.changes import Changed, difference, listed
from answerback_agents.tutor.plan import Plan

CAN_CHANGE = "I can change weeks, hours a week and topics."
CAN_FIND = "I can look for a topic, a length or a level."


def opening(plan: Plan) -> str:
    """Above the first question."""
    if plan["subject"].startswith("“"):
        return "I do not know this goal well, so this is a general plan."
    return _left_out(plan)


def changed(before: Plan, after: Plan, change: Changed) -> str:
    """After feedback: what is new, what could not be done, and what was not understood."""
    new = difference(before, after)
    said = [f"Now {', '.join(new)}." if new else "Nothing changed."]
    said += [f"{refused[0].upper()}{refused[1:]}." for refused in change.refused]
    said += [_unread(change.unread)] if change.unread else []
    return " ".join(said if new or change.refused else [*said, CAN_CHANGE])


def another(before: Plan, after: Plan) -> str:
    """After "something different"."""
    if before["approach"] == after["approach"]:
        return "I know no other way to do this. " + CAN_CHANGE
    return f"Another way: {after['approach']}."


def nothing_read(can: str) -> str:
    """After an answer without a word in it."""
    return f"I got no words from you. {can}"


def judged(unread: list[str], *, understood: bool, found: bool) -> str:
    """After wishes about courses."""
    said = (
        [] if found else ["I know no course like that, so these stay." if understood else "Nothing changed."]
    )
    said += [_unread(unread)] if unread else []
    return " ".join(said if understood else [*said, CAN_FIND])


def more(found: int, *, kept: bool) -> str:
    """After "more" or "others"."""
    if not found:
        return "These are all that I know. " + CAN_FIND
    return "The new ones come first." if kept else ""


def at_last(notice: str) -> str:
    """Above the last question about one thing."""
    return f"I ask one last time. {notice}".strip()


def _unread(clauses: list[str]) -> str:
    quoted = [f"“{brief(clause, QUOTED // min(2, len(clauses)))}”" for clause in clauses[:2]]
    return f"I did not understand {listed(quoted)}{' and more' if len(clauses) > 2 else ''}."


def _left_out(plan: Plan) -> str:
    return f"Left out, there is no time for it: {listed(plan['left_out'])}." if plan["left_out"] else ""
