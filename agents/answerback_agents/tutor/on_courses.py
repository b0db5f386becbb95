"""What an answer about the courses leads to, unless it settles them. Pure."""

from answerback_agents.tutor import replies
from answerback_agents.tutor.ask import Heard
from answerback_agents.tutor.courses import Course, Judged, judge, no_taste, recommend
from answerback_agents.tutor.meaning import Said
from answerback_agents.tutor.on_plan import revised
from answerback_agents.tutor.plan import Plan
from answerback_agents.tutor.replies import Search
from answerback_agents.tutor.state import State
from answerback_agents.tutor.steps import Update, ended, rounded
from answerback_agents.tutor.talk import Taken

MOST_REOPENED = 2  # times that an approved plan is asked about again


def on_courses(state: State, answer: Heard, said: Said) -> Update:
    """What to ask next: about more courses, others, those that the person wants, or the plan once more."""
    if said is Said.LATER:
        return rounded(state, Taken.LATER, {"notice": replies.LATER})
    if said in (Said.MORE, Said.DIFFERENT):
        return rounded(state, *_searched(state, Judged(state["taste"], said={said}), ""))
    if not answer["text"].strip():
        notice = replies.nothing_read(answer, replies.CAN_FIND)
        return rounded(state, Taken.NO_WORDS, {"notice": notice})
    judged = judge(state["plan"], state["taste"], state["courses"], answer["text"])
    if judged.plan and (update := _reopened(state, judged)):
        return ended(state, Taken.PLAN_CHANGED, update)
    return rounded(state, *_searched(state, judged, answer["text"]))


def first_courses(state: State) -> Update:
    """The first courses for an approved plan, with what the person wished for before it was their turn."""
    plan, taste = state["plan"], state["taste"]
    courses = recommend(plan, taste, []) or recommend(plan, no_taste(), [])
    notice = ""
    if courses and state["for_courses"]:
        judged = judge(plan, taste, courses, "\n".join(state["for_courses"]))
        understood = judged.taste != taste
        found = recommend(plan, judged.taste, []) if understood else []
        notice = replies.remembered(judged, state["for_courses"], found=bool(found), understood=understood)
        courses, taste = (found, judged.taste) if found else (courses, taste)
    return {"taste": taste, "for_courses": [], "notice": notice, **_shown(courses)}


def _searched(state: State, judged: Judged, text: str) -> tuple[Taken, Update]:
    """The courses that fit the taste: further ones if those are wanted, otherwise of all.

    Of all too if there are no further ones: one that was shown before may be the right one now.
    """
    more, others = Said.MORE in judged.said, Said.DIFFERENT in judged.said
    understood, further = judged.taste != state["taste"], more or others
    new = recommend(state["plan"], judged.taste, state["shown"]) if further else []
    fitting = recommend(state["plan"], judged.taste, []) if understood and not new else []
    search = Search(understood, further, beside=more and not others, new=bool(new), fitting=bool(fitting))
    update: Update = {
        "notice": replies.judged(judged, text, search),
        "questions": [*state["questions"], *judged.questions],
    }
    if new:
        courses = [*new, *state["courses"]] if search.beside else new
        seen = [*state["shown"], *(course["name"] for course in new)]
        update |= {"courses": courses, "shown": seen, "taste": judged.taste}
    elif fitting:
        update |= {**_shown(fitting), "taste": judged.taste}
    taken = _taken(judged, search)
    return taken, {**update, "notice": replies.LATER} if taken is Taken.LATER else update


def _taken(judged: Judged, search: Search) -> Taken:
    if search.further:
        return Taken.MORE_COURSES if search.beside else Taken.OTHER_COURSES
    if search.understood:
        return Taken.COURSES_ADJUSTED
    if Said.LATER in judged.said and not judged.questions:
        return Taken.LATER
    if judged.aspects:
        return Taken.UNCLEAR
    return Taken.NOT_UNDERSTOOD if judged.unread else Taken.REMARK


def _reopened(state: State, judged: Judged) -> Update:
    """The plan as it is wanted now, to be approved once more; {} if there is nothing new to approve."""
    _, update = revised(state, "\n".join(judged.plan))
    if state["reopened"] >= MOST_REOPENED or _same(update["plan"], state["plan"]):
        return {}
    again = {"rounds": 0, "remarks": 0, "reopened": state["reopened"] + 1, "courses": [], "shown": []}
    also = {"taste": judged.taste, "questions": [*update["questions"], *judged.questions]}
    return {**update, **again, **also, "notice": replies.reopened(update["notice"])}


def _same(one: Plan, other: Plan) -> bool:
    return {**one, "status": ""} == {**other, "status": ""}


def _shown(courses: list[Course]) -> Update:
    return {"courses": courses, "shown": [course["name"] for course in courses]}
