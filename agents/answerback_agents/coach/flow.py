"""The coach's graph: three analyses and two planners in a row, each of which may stop and ask."""

from collections.abc import Callable
from datetime import date
from functools import partial

from langgraph.graph import END, START, StateGraph
from langgraph.types import interrupt

from answerback_agents.coach import analyses
from answerback_agents.coach.data import recorded
from answerback_agents.coach.mind import Mind, Update
from answerback_agents.coach.rules import today_of
from answerback_agents.coach.settings import Settings
from answerback_agents.coach.start import prepared
from answerback_agents.coach.state import STEPS, Outcome, Start, State, Step
from answerback_agents.toolkit import answers

Graph = StateGraph[State, None, Start, Outcome]
SAMPLE = "Made of sample data: the run was started without garmin_data."


def flow(mind: Mind, settings: Settings, today: Callable[[], date]) -> Graph:
    """A step thinks, and each question has a node of its own: what was thought is stored by then."""
    builder: Graph = StateGraph(State, input_schema=Start, output_schema=Outcome)

    def prepare(state: Start) -> Update:
        return prepared(state, settings, today())

    builder.add_node("prepare", prepare)
    builder.add_node("summarize", summarize)
    builder.add_edge(START, "prepare")
    builder.add_edge("prepare", STEPS[0].name)
    following = [*(each.name for each in STEPS[1:]), "summarize"]
    for step, after in zip(STEPS, following, strict=True):
        asks = f"{step.name}_asks"
        builder.add_node(step.name, partial(_think, mind, settings, step))
        builder.add_node(asks, partial(_ask, mind, step))
        builder.add_conditional_edges(step.name, partial(_next, mind, step, after), [asks, step.name, after])
        builder.add_conditional_edges(asks, partial(_next, mind, step, after), [asks, step.name, after])
    builder.add_edge("summarize", END)
    return builder


def summarize(state: State) -> Update:
    """The plan of the coming week, and how much of it rests on answers."""
    notes = state["questions"]
    unanswered = sum(not note["answered"] for note in notes)
    asked = f"{len(notes)} asked, {unanswered} not answered." if unanswered else ""
    parts = (state["weekly_plan"], asked, SAMPLE if state["sample"] else "")
    return {"summary": "\n\n".join(part for part in parts if part)}


async def _think(mind: Mind, settings: Settings, step: Step, state: State) -> Update:
    update = await mind.think(step, state)
    if step.result in update:
        notes = [note for note in state["questions"] if note["step"] == step.name]
        parts = (update[step.result], analyses.said(notes), _charts(step, state, settings))
        update[step.result] = "\n\n".join(part for part in parts if part)
    return update


async def _ask(mind: Mind, step: Step, state: State) -> Update:
    payload = mind.waiting(step, state)
    assert payload is not None, "this node is entered only when something is open"
    return mind.heard(step, state, payload, answers.heard(interrupt(payload)))


def _next(mind: Mind, step: Step, after: str, state: State) -> str:
    if state[step.result]:
        return after
    return step.name if mind.waiting(step, state) is None else f"{step.name}_asks"


def _charts(step: Step, state: State, settings: Settings) -> str:
    """Where they are wanted, and what was recorded can be read."""
    if not state["plotting_enabled"]:
        return ""
    try:
        found = recorded(state["garmin_data"])
    except ValueError:  # a model can make something of it all the same
        return ""
    return analyses.charts(step.name, found, today_of(state), settings.metrics_days)
