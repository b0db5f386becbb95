"""What an answer about the plan leads to, unless it settles it. Pure."""

from answerback_agents.tutor import replies
from answerback_agents.tutor.ask import Heard
from answerback_agents.tutor.changes import Changed, adjust
from answerback_agents.tutor.meaning import Said
from answerback_agents.tutor.plan import Plan, different, draft
from answerback_agents.tutor.state import State
from answerback_agents.tutor.steps import Update, rounded
from answerback_agents.tutor.talk import Taken


def on_plan(state: State, answer: Heard, said: Said) -> Update:
    """What to ask about the plan next: another one, or the same one as the person wants it."""
    if said is Said.LATER:
        return rounded(state, Taken.LATER, {"notice": replies.LATER})
    if said is Said.DIFFERENT:
        return rounded(state, Taken.ANOTHER_PLAN, _another(state))
    if not answer["text"].strip():
        notice = replies.nothing_read(answer, replies.CAN_CHANGE)
        return rounded(state, Taken.NO_WORDS, {"notice": notice})
    return rounded(state, *revised(state, answer["text"]))


def revised(state: State, text: str) -> tuple[Taken, Update]:
    """The plan as a text wants it, another one too if it says so."""
    goal, before = state["goal"], state["plan"]
    change = adjust(goal, state["wishes"], text)
    wishes = different(goal, change.wishes) if Said.DIFFERENT in change.said else change.wishes
    plan = draft(goal, wishes)
    taken = _taken(change, before, plan)
    said = replies.LATER if taken is Taken.LATER else replies.changed(before, plan, change, text)
    return taken, {
        "wishes": wishes,
        "plan": plan,
        "notice": said,
        "for_courses": [*state["for_courses"], *change.courses],
        "questions": [*state["questions"], *change.questions],
    }


def _another(state: State) -> Update:
    new = different(state["goal"], state["wishes"])
    plan = draft(state["goal"], new)
    return {"wishes": new, "plan": plan, "notice": replies.another(state["plan"], plan)}


def _taken(change: Changed, before: Plan, plan: Plan) -> Taken:
    if Said.DIFFERENT in change.said:
        return Taken.ANOTHER_PLAN
    if change.wishful or plan != before:
        return Taken.PLAN_CHANGED
    if Said.LATER in change.said and not (change.courses or change.questions):
        return Taken.LATER
    if change.courses:
        return Taken.FOR_COURSES
    if change.aspects:
        return Taken.UNCLEAR
    return Taken.NOT_UNDERSTOOD if change.unread else Taken.REMARK
