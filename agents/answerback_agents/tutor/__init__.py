"""The tutor that comes along, `graph: answerback_agents.tutor:graph`: no model, no account.

Started with `{"goal": "learn Python", "weeks": 6}` it drafts a learning plan and pauses until a person
approves it. Approval, "something different" and wishes in words of one's own are understood in five
languages, as far as plain rules can; what could not be understood is said, and the plan is asked about
again. Then it recommends courses in the same way, and ends with `{"plan": {…, "status"}, "courses": […],
"feedback": [every word of the person], "summary": markdown}`. Silence approves nothing.
"""

from typing import Any, Literal

from langgraph.graph import END, START, StateGraph
from langgraph.types import interrupt

from answerback_agents.tutor import replies, steps
from answerback_agents.tutor.ask import (
    courses_question,
    heard,
    meaning_for_courses,
    meaning_for_plan,
    plan_question,
)
from answerback_agents.tutor.courses import no_taste, recommend
from answerback_agents.tutor.meaning import Said
from answerback_agents.tutor.plan import USUAL_WEEKS, draft, first_wishes
from answerback_agents.tutor.state import Outcome, Start, State
from answerback_agents.tutor.summary import summary

__all__ = ["graph"]


def draft_plan(state: Start) -> dict[str, Any]:
    """From the goal to a first draft."""
    goal, wishes = (
        steps.goal_in(state.get("goal")),
        first_wishes(steps.weeks_in(state.get("weeks", USUAL_WEEKS))),
    )
    plan = draft(goal, wishes)
    said = {"notice": replies.opening(plan), "rounds": 0, "ending": "", "answer": None}
    return {"goal": goal, "wishes": wishes, "plan": plan, "courses": [], "feedback": [], "shown": [], **said}


def ask_about_plan(state: State) -> dict[str, Any]:
    """Pause. What was answered is only kept here, and read in the next step."""
    return steps.kept(state, heard(interrupt(plan_question(state["plan"], state["notice"]))))


def read_about_plan(state: State) -> dict[str, Any]:
    """Approved, another draft, or the same one as the person wants it."""
    answer = state["answer"]
    if answer is None:
        return {"ending": "silence"}
    said = meaning_for_plan(answer)
    if said is Said.YES:
        return {"plan": {**state["plan"], "status": "approved"}}
    if said is Said.STOP:
        return {"ending": "stopped"}
    return steps.rounded(state, steps.revised(state, answer["text"], said))


def recommend_courses(state: State) -> dict[str, Any]:
    """From the approved plan to the first courses."""
    courses, taste = recommend(state["plan"], no_taste(), []), no_taste()
    known = {"courses": courses, "taste": taste, "shown": [course["name"] for course in courses]}
    return {**known, "notice": "", "rounds": 0, "ending": "" if courses else "agreed"}


def ask_about_courses(state: State) -> dict[str, Any]:
    """Pause, as for the plan."""
    return steps.kept(state, heard(interrupt(courses_question(state["courses"], state["notice"]))))


def read_about_courses(state: State) -> dict[str, Any]:
    """Satisfied, more or others, or those that the person wants."""
    answer = state["answer"]
    if answer is None:
        return {"ending": "silence"}
    said = meaning_for_courses(answer)
    if said is Said.YES:
        accepted = [{**course, "status": "accepted"} for course in state["courses"]]
        return {"courses": accepted, "ending": "agreed"}
    if said is Said.STOP:
        return {"ending": "stopped"}
    if said is Said.SOMETHING:
        return steps.rounded(state, steps.fitting_courses(state, answer["text"]))
    return steps.rounded(state, steps.next_courses(state, keep=said is Said.MORE))


def summarize(state: State) -> dict[str, Any]:
    """Say how it ended."""
    return {"summary": summary(state["plan"], state["courses"], state["ending"])}


def _after_plan(state: State) -> Literal["ask_about_plan", "recommend_courses", "summarize"]:
    if state["plan"]["status"] == "approved":
        return "recommend_courses"
    return "summarize" if state["ending"] else "ask_about_plan"


def _after_courses(state: State) -> Literal["ask_about_courses", "summarize"]:
    return "summarize" if state["ending"] else "ask_about_courses"


def _build() -> StateGraph[State, None, Start, Outcome]:
    builder = StateGraph(State, input_schema=Start, output_schema=Outcome)
    builder.add_sequence([draft_plan, ask_about_plan, read_about_plan])
    builder.add_node(recommend_courses)
    builder.add_sequence([ask_about_courses, read_about_courses])
    builder.add_node(summarize)
    builder.add_edge(START, "draft_plan")
    builder.add_conditional_edges("read_about_plan", _after_plan)
    builder.add_conditional_edges("recommend_courses", _after_courses)
    builder.add_conditional_edges("read_about_courses", _after_courses)
    builder.add_edge("summarize", END)
    return builder


graph = _build().compile(name="tutor")
