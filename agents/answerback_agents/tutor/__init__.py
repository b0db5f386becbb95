"""The tutor that comes along, `graph: answerback_agents.tutor:graph`: no model, no account.

Started with `{"goal": "learn Python", "weeks": 6}` it drafts a learning plan and pauses until a person
approves it. Approval, "something different" and wishes in words of one's own are understood in five
languages, as far as plain rules can; what could not be understood is said, and the plan is asked about
again. Then it recommends courses in the same way, and ends with `{"plan": {…, "status"}, "courses": […],
"feedback": [every word of the person], "messages": [the whole conversation], "summary": markdown}`. Silence
approves nothing, and neither does anybody who is no person.
"""

from typing import Any, Literal

from langgraph.graph import END, START, StateGraph
from langgraph.types import interrupt

from answerback_agents.tutor import replies, steps, talk
from answerback_agents.tutor.ask import (
    courses_question,
    heard,
    meaning_for_courses,
    meaning_for_plan,
    plan_question,
)
from answerback_agents.tutor.courses import no_taste
from answerback_agents.tutor.meaning import Said
from answerback_agents.tutor.on_courses import first_courses, on_courses
from answerback_agents.tutor.on_plan import on_plan
from answerback_agents.tutor.plan import USUAL_WEEKS, draft, first_wishes
from answerback_agents.tutor.state import Outcome, Start, State
from answerback_agents.tutor.summary import closing, summary
from answerback_agents.tutor.talk import Taken

__all__ = ["graph"]


def draft_plan(state: Start) -> dict[str, Any]:
    """From the goal to a first draft."""
    goal, wishes = (
        steps.goal_in(state.get("goal")),
        first_wishes(steps.weeks_in(state.get("weeks", USUAL_WEEKS))),
    )
    plan = draft(goal, wishes)
    nothing: dict[str, Any] = {
        "courses": [],
        "feedback": [],
        "messages": [],
        "summary": "",
        "shown": [],
        "taste": no_taste(),
        "for_courses": [],
        "questions": [],
        "rounds": 0,
        "remarks": 0,
        "reopened": 0,
        "ending": "",
    }
    return {**nothing, "goal": goal, "wishes": wishes, "plan": plan, "notice": replies.opening(plan)}


def put_plan(state: State) -> dict[str, Any]:
    """What is asked about the plan. It is stored before it is asked: a node runs again on each answer."""
    return steps.put(state, plan_question(state["plan"], state["notice"]))


def ask_about_plan(state: State) -> dict[str, Any]:
    """Pause. What was answered is only kept here, and read in the next step."""
    return steps.kept(state, heard(interrupt(state["question"])))


def read_about_plan(state: State) -> dict[str, Any]:
    """Approved, another draft, or the same one as the person wants it."""
    answer = state["answer"]
    if answer is None:
        return {"ending": "silence"}
    said = meaning_for_plan(answer)
    if said is Said.YES and answer["by"]:
        return steps.ended(state, Taken.NOT_A_PERSONS, {"ending": "not-a-person"})
    if said is Said.YES:
        return steps.ended(state, Taken.APPROVED, {"plan": {**state["plan"], "status": "approved"}})
    if said is Said.STOP:
        return steps.ended(state, Taken.STOPPED, {"ending": "stopped"})
    return on_plan(state, answer, said)


def recommend_courses(state: State) -> dict[str, Any]:
    """From the approved plan to the first courses."""
    update = first_courses(state)
    return {**update, "rounds": 0, "remarks": 0, "ending": "" if update["courses"] else "agreed"}


def put_courses(state: State) -> dict[str, Any]:
    """What is asked about the courses, stored as for the plan."""
    return steps.put(state, courses_question(state["courses"], state["notice"]))


def ask_about_courses(state: State) -> dict[str, Any]:
    """Pause, as for the plan."""
    return steps.kept(state, heard(interrupt(state["question"])))


def read_about_courses(state: State) -> dict[str, Any]:
    """Satisfied, more or others, those that the person wants, or back to the plan."""
    answer = state["answer"]
    if answer is None:
        return {"ending": "silence"}
    said = meaning_for_courses(answer)
    if said is Said.YES and answer["by"]:
        return steps.ended(state, Taken.NOT_A_PERSONS, {"ending": "not-a-person"})
    if said is Said.YES:
        accepted = [{**course, "status": "accepted"} for course in state["courses"]]
        return steps.ended(state, Taken.SATISFIED, {"courses": accepted, "ending": "agreed"})
    if said is Said.STOP:
        return steps.ended(state, Taken.STOPPED, {"ending": "stopped"})
    return on_courses(state, answer, said)


def summarize(state: State) -> dict[str, Any]:
    """Say how it ended."""
    plan, ending = state["plan"], state["ending"]
    last = talk.told(closing(plan, state["courses"], ending))
    text = summary(plan, state["courses"], ending, state["questions"])
    return {"summary": text, "messages": [*state["messages"], last]}


def _after_plan(state: State) -> Literal["put_plan", "recommend_courses", "summarize"]:
    if state["plan"]["status"] == "approved":
        return "recommend_courses"
    return "summarize" if state["ending"] else "put_plan"


def _after_recommending(state: State) -> Literal["put_courses", "summarize"]:
    return "summarize" if state["ending"] else "put_courses"


def _after_courses(state: State) -> Literal["put_plan", "put_courses", "summarize"]:
    if state["plan"]["status"] == "draft":
        return "put_plan"
    return _after_recommending(state)


def _build() -> StateGraph[State, None, Start, Outcome]:
    builder = StateGraph(State, input_schema=Start, output_schema=Outcome)
    builder.add_sequence([draft_plan, put_plan, ask_about_plan, read_about_plan])
    builder.add_node(recommend_courses)
    builder.add_sequence([put_courses, ask_about_courses, read_about_courses])
    builder.add_node(summarize)
    builder.add_edge(START, "draft_plan")
    builder.add_conditional_edges("read_about_plan", _after_plan)
    builder.add_conditional_edges("recommend_courses", _after_recommending)
    builder.add_conditional_edges("read_about_courses", _after_courses)
    builder.add_edge("summarize", END)
    return builder


graph = _build().compile(name="tutor")
