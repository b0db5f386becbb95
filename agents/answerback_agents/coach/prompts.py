"""What a model is told in each step of the coach. Pure."""

import json
from datetime import date

from langchain_core.messages import AnyMessage, HumanMessage, SystemMessage

from answerback_agents.coach.data import cut
from answerback_agents.coach.settings import Settings
from answerback_agents.coach.state import STEPS, State, Step
from answerback_agents.toolkit import INSTRUCTIONS

COACH = """\
You are one of the specialists who coach an endurance athlete together. Say only what the data and the \
athlete's own words bear out, name what is missing, and give no medical diagnosis. Write Markdown, short \
enough to be read on a phone."""
TASKS = {
    "metrics": """\
Your part: training load. How it went up and down, what is unusual in it, gaps, and how the athlete copes \
with it.""",
    "activity": """\
Your part: the workouts. What each was meant to be and was, where effort and measurements do not fit \
together, and what is unlike this athlete.""",
    "physiology": """\
Your part: recovery. Sleep, heart rate variability, resting heart rate and stress, and what they say about \
how much more load is wise.""",
    "season_planner": """\
Your part: the season. From the analyses and the competitions, the phases from now to the race that matters \
most, with dates and what each is for.""",
    "weekly_planner": """\
Your part: the days that are to be planned. A session or rest for each, with its length and how hard it is, \
so that it fits the season plan, how recovered the athlete is, and when there is time.""",
}
WORTH_ASKING = {
    "metrics": "load that is unusual, what happened in the athlete's life meanwhile, how you read the trend",
    "activity": "unusual workouts, how hard one felt against what was measured, what it was meant to be",
    "physiology": "bad nights and stress, illness or injury, heart rate variability that is not like them",
    "season_planner": "which race matters most, travel and work, where and with what they can train",
    "weekly_planner": "days without time, and what in the season plan does not suit them",
}
ENOUGH = "You have asked as often as you may. Ask nothing more, and write your part now with what you know."


def opening(step: Step, state: State, settings: Settings) -> list[AnyMessage]:
    """What a step's talk begins with. How to ask is said only if people are asked."""
    system = [COACH, TASKS[step.name]]
    if state["style_guide"]:
        system.append(f"How to write:\n{state['style_guide']}")
    if state["hitl_enabled"]:
        system.append(f"{INSTRUCTIONS}\nWhat can be worth asking in your part: {WORTH_ASKING[step.name]}.")
    return [SystemMessage("\n\n".join(system)), HumanMessage(_given(step, state, settings))]


def _given(step: Step, state: State, settings: Settings) -> str:
    today = date.fromisoformat(state["current_date"]["date"])
    planner = not step.result.endswith("_result")
    recent = cut(state["garmin_data"], today, settings.activities_days, settings.metrics_days)
    parts = {
        "Athlete": state["athlete_name"],
        "Today": f"{state['current_date']['day_name']}, {today}",
        "What they said for the analysis": state["analysis_context"],
        "What they said for the plan": state["planning_context"] if planner else "",
        "Competitions": _json(state["competitions"]),
        "Days to plan": _json(state["week_dates"]) if step.name == "weekly_planner" else "",
        "Recorded": _json(recent),
        "Asked and answered so far; do not ask it again": _asked(state),
        **_before(step, state),
    }
    return "\n\n".join(f"## {title}\n{text}" for title, text in parts.items() if text)


def _before(step: Step, state: State) -> dict[str, str]:
    """The parts that are finished."""
    place = STEPS.index(step)
    return {f"Finished: {each.title}": state[each.result] for each in STEPS[:place]}


def _asked(state: State) -> str:
    return "\n".join(
        f"- {note['question']} " + (f"“{note['answer']}”" if note["answered"] else "(nobody answered)")
        for note in state["questions"]
    )


def _json(value: object) -> str:
    return json.dumps(value, ensure_ascii=False) if value else ""
