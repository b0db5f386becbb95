"""What the tutor does between its questions. Pure."""

from typing import Any

from answerback_agents.tutor import replies
from answerback_agents.tutor.ask import Heard
from answerback_agents.tutor.changes import adjust
from answerback_agents.tutor.courses import judge, recommend
from answerback_agents.tutor.meaning import Said
from answerback_agents.tutor.plan import MOST_WEEKS, different, draft
from answerback_agents.tutor.state import State

MOST_ROUNDS = 6  # questions about one thing: nobody is asked without end
EXAMPLE = '{"goal": "learn Python", "weeks": 6}'


def goal_in(goal: Any) -> str:
    """The goal that a run is started with."""
    if not isinstance(goal, str) or not goal.strip():
        raise ValueError(f"say what to learn: {EXAMPLE}")
    return " ".join(goal.split())


def weeks_in(weeks: Any) -> int:
    """The weeks that a run is started with."""
    if not isinstance(weeks, int) or isinstance(weeks, bool) or not 1 <= weeks <= MOST_WEEKS:
        raise ValueError(f"say in how many weeks, a whole number from 1 to {MOST_WEEKS}: {EXAMPLE}")
    return weeks


def kept(state: State, answer: Heard | None) -> dict[str, Any]:
    """An answer as it was given. All words are kept, also those that no rule understands."""
    words = [answer["text"]] if answer and answer["text"] else []
    return {"answer": answer, "feedback": [*state["feedback"], *words], "rounds": state["rounds"] + 1}


def revised(state: State, text: str, said: Said) -> dict[str, Any]:
    """The next draft: another one, or the same one as the person wants it."""
    goal, wishes, before = state["goal"], state["wishes"], state["plan"]
    if said is Said.DIFFERENT:
        new = different(goal, wishes)
        plan = draft(goal, new)
        return {"wishes": new, "plan": plan, "notice": replies.another(before, plan)}
    if not text.strip():
        return {"notice": replies.nothing_read(replies.CAN_CHANGE)}
    change = adjust(goal, wishes, text)
    plan = draft(goal, change.wishes)
    return {"wishes": change.wishes, "plan": plan, "notice": replies.changed(before, plan, change)}


def next_courses(state: State, *, keep: bool) -> dict[str, Any]:
    """The next courses: beside those that were shown, or in their place."""
    found = recommend(state["plan"], state["taste"], state["shown"])
    if not found:
        return {"notice": replies.more(0, kept=keep)}
    courses = [*found, *state["courses"]] if keep else found
    shown = [*state["shown"], *(course["name"] for course in found)]
    return {"courses": courses, "shown": shown, "notice": replies.more(len(found), kept=keep)}


def fitting_courses(state: State, text: str) -> dict[str, Any]:
    """The courses that the person wants, of all: one that was shown before may be the right one now."""
    if not text.strip():
        return {"notice": replies.nothing_read(replies.CAN_FIND)}
    judged = judge(state["plan"], state["taste"], state["courses"], text)
    understood = judged.taste != state["taste"]
    found = recommend(state["plan"], judged.taste, []) if understood else []
    notice = replies.judged(judged.unread, understood=understood, found=bool(found))
    if not found:
        return {"notice": notice}
    shown = [course["name"] for course in found]
    return {"courses": found, "taste": judged.taste, "shown": shown, "notice": notice}


def rounded(state: State, update: dict[str, Any]) -> dict[str, Any]:
    """What is new, and whether it is asked about again."""
    if state["rounds"] >= MOST_ROUNDS:
        return {**update, "ending": "rounds"}
    last = state["rounds"] == MOST_ROUNDS - 1
    return {**update, "notice": replies.at_last(update["notice"])} if last else update
