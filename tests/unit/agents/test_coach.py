"""The coach: what it finds in the data, what answers mean to its plans, and how a model asks in its steps."""

from collections.abc import Callable
from datetime import date, timedelta
from typing import Any, cast

import pytest
from langchain_core.messages import AIMessage, ToolMessage
from langchain_core.runnables import RunnableConfig
from langgraph.checkpoint.memory import InMemorySaver
from langgraph.types import Command

from answerback.errors import ConfigurationError
from answerback_agents import dialects
from answerback_agents.coach import Settings, coach, findings, graph, plans
from answerback_agents.coach.data import Recorded, recorded
from answerback_agents.coach.meaning import days_off, how_they_are
from answerback_agents.coach.prompts import ENOUGH, TASKS
from answerback_agents.coach.state import Note
from answerback_agents.coach.with_model import MOST_ROUNDS
from answerback_agents.models import chat_model
from answerback_agents.toolkit import INSTRUCTIONS
from answerback_agents.toolkit.answers import NOBODY
from tests.flow.langgraph.coaching import WROTE, Coaching, asks, model

THREAD: RunnableConfig = {"configurable": {"thread_id": "t1"}}
TODAY = date(2026, 11, 23)
SILENCE = {"content": "No response", "timed_out": True}


class Run:
    """A run of the coach in memory."""

    def __init__(self, with_model: Coaching | None = None, **settings: Any) -> None:
        self.waits: list[float] = []

        async def sleep(seconds: float) -> None:
            self.waits.append(seconds)

        made = coach(with_model, Settings(**settings), sleep=sleep, today=lambda: TODAY)
        self.graph = made.compile(checkpointer=InMemorySaver())
        self.seen = with_model.journal.seen if with_model else []

    async def start(self, **given: Any) -> dict[str, Any]:
        return await self.graph.ainvoke(cast(Any, given), THREAD)

    async def answer(self, value: Any) -> dict[str, Any]:
        return await self.graph.ainvoke(Command(resume=value), THREAD)


def asked(output: dict[str, Any]) -> dict[str, Any]:
    """The one question that waits: a step never asks two at once."""
    [interrupt] = output["__interrupt__"]
    return dict(interrupt.value)


def day(ago: int) -> str:
    return (TODAY - timedelta(ago)).isoformat()


def data(*loads: tuple[int, float], **more: Any) -> Recorded:
    """Workouts by how long ago they were and their load."""
    workouts = [{"date": day(ago), "sport": "run", "minutes": 60, "load": load} for ago, load in loads]
    return recorded({"activities": workouts, **more})


def nights(*hours: float) -> list[dict[str, Any]]:
    """The last nights, the one to today last."""
    return [{"date": day(ago), "sleep_hours": slept} for ago, slept in enumerate(reversed(hours))]


# -- what it finds


def test_load_that_jumped_is_asked_about_with_both_sums() -> None:
    [found] = findings.metrics_findings(data((10, 50), (8, 50), (5, 80), (2, 80)), TODAY, 14)
    assert found.question == "Your load went up by 60%. Was that planned?"
    assert found.context == "160 this week, 100 in the 7 days before."


def test_load_that_grew_manifold_is_not_told_in_per_cent() -> None:
    [found] = findings.metrics_findings(data((10, 10), (8, 10), (5, 80), (2, 80)), TODAY, 14)
    assert found.question == "Your load is 8 times what it was. Was that planned?"


def test_load_that_fell_is_asked_about() -> None:
    [found] = findings.metrics_findings(data((9, 90), (8, 60), (6, 30), (5, 30)), TODAY, 14)
    assert found.question == "Your load fell by 60%. Why?"


def test_ordinary_load_raises_no_question() -> None:
    even = data(*((ago, 50) for ago in range(14)))
    assert findings.metrics_findings(even, TODAY, 14) == []


def test_a_gap_is_one_between_workouts_and_of_three_days() -> None:
    found = data((13, 50), (12, 50), (9, 50), (5, 60), (4, 60))
    assert [each.question for each in findings.metrics_findings(found, TODAY, 14)] == [
        "You did not train from 15 Nov to 17 Nov. Why?"
    ]


def test_an_easy_workout_with_a_high_pulse_is_asked_about_and_one_that_was_meant_hard_is_not() -> None:
    pulses = [("Easy run", 140), ("Easy run", 138), ("Easy run", 142), ("Easy run", 165), ("Intervals", 170)]
    workouts = [
        {"date": day(6 - place), "sport": "run", "name": name, "minutes": 50, "average_hr": pulse}
        for place, (name, pulse) in enumerate(pulses)
    ]
    [found] = findings.activity_findings(recorded({"activities": workouts}), TODAY, 7)
    assert found.question == "Your heart rate was high: Easy run on 20 Nov. What was it?"
    assert found.context == "165 on average; 140 is usual for you there."


def test_a_workout_is_asked_about_only_within_the_days_that_are_looked_at() -> None:
    lengths = ((9, 60), (8, 60), (7, 60), (5, 120))
    found = recorded({"activities": [{"date": day(ago), "minutes": minutes} for ago, minutes in lengths]})
    [long] = findings.activity_findings(found, TODAY, 7)
    assert long.context == "2 h; 1 h is your longest beside it."
    assert findings.activity_findings(found, TODAY, 3) == []


def test_two_short_nights_are_asked_about_and_one_is_not() -> None:
    bad = recorded({"days": nights(8, 8, 5, 8, 4.5, 8)})
    [found] = findings.physiology_findings(bad, TODAY, 14)
    assert found.question == "You slept badly on 2 of 6 nights. What kept you awake?"
    assert found.context == "Less than 6 hours each; 4.5 on 22 Nov."
    assert findings.physiology_findings(recorded({"days": nights(8, 8, 5, 8)}), TODAY, 14) == []


def test_a_heart_that_is_not_as_usual_is_asked_about() -> None:
    days = [
        {"date": day(ago), "hrv_ms": 40 if ago < 3 else 60, "resting_hr": 54 if ago < 3 else 48}
        for ago in range(10)
    ]
    [found] = findings.physiology_findings(recorded({"days": days}), TODAY, 14)
    assert found.context == "HRV 40 ms, usually 60. Resting heart rate 54, usually 48."


@pytest.mark.parametrize(
    ("wrong", "said"),
    [
        ({"days": [{"date": "yesterday"}]}, "garmin_data.days.0.date: "),
        ({"activities": [{"date": "2026-11-20", "minutes": "many"}]}, "garmin_data.activities.0.minutes: "),
        ({"activities": [{"date": "2026-11-20", "load": float("nan")}]}, "garmin_data.activities.0.load: "),
        ({"daily": []}, "garmin_data has neither activities nor days."),
    ],
)
def test_data_that_cannot_be_read_is_said_with_an_example_and_without_a_value(wrong: Any, said: str) -> None:
    with pytest.raises(ValueError, match="It looks like this") as refused:
        recorded(wrong)
    assert str(refused.value).startswith(said)
    assert "many" not in str(refused.value)


# -- what answers mean


def note(about: str, answer: str = "", choice: str = "", answered: bool = True) -> Note:
    return Note(step="metrics", about=about, question="?", answer=answer, choice=choice, answered=answered)


@pytest.mark.parametrize(
    ("notes", "state"),
    [
        ([], "well"),
        ([note("load", choice="planned")], "well"),
        ([note("load", choice="unplanned")], "tired"),
        ([note("load", choice="unplanned"), note("sleep", choice="ill")], "ill"),
        ([note("gap-2026-11-13", choice="ill")], "tired"),
        ([note("load", choice="planned"), note("sleep", answered=False)], "unknown"),
        ([note("race", answered=False)], "well"),
        ([note("sleep", "I had the flu")], "ill"),
        ([note("sleep", "ich war krank")], "ill"),
        ([note("sleep", "j'étais malade")], "ill"),
        ([note("sleep", "estaba enfermo")], "ill"),
        ([note("sleep", "我生病了")], "ill"),
        ([note("sleep", "压力很大")], "tired"),
        ([note("sleep", "I was not ill, just out late")], "well"),
        ([note("sleep", "I wasn’t really ill")], "well"),
        ([note("sleep", "ich war nicht krank")], "well"),
        ([note("sleep", "没生病")], "well"),
        ([note("sleep", "a still evening")], "well"),
    ],
)
def test_the_worst_that_was_said_decides_how_careful_the_plan_is(notes: list[Note], state: str) -> None:
    assert how_they_are(notes) == state


@pytest.mark.parametrize(
    ("answer", "days"),
    [
        ("Tuesday and Friday", {1, 4}),
        ("mondays", {0}),
        ("dienstags und am Sonntag", {1, 6}),
        ("mardi, jeudi", {1, 3}),
        ("miércoles", {2}),
        ("星期一和周三", {0, 2}),
        ("I can only train on Saturday and Sunday", {0, 1, 2, 3, 4}),
        ("when it rains", set()),
    ],
)
def test_weekdays_are_read_in_five_languages(answer: str, days: set[int]) -> None:
    assert days_off(note("time", answer)) == days


def test_a_choice_that_all_days_are_free_is_no_list_of_weekdays() -> None:
    assert days_off(note("time", "All days are fine", "all-free")) == days_off(None) == set()


# -- its plans

RACES = [
    plans.Race(TODAY + timedelta(20), "10 km"),
    plans.Race(TODAY + timedelta(60), "Marathon", priority="A"),
]


@pytest.mark.parametrize(
    ("answer", "name"),
    [
        (None, "Marathon"),
        (note("race", "10 km", plans.race_id(RACES[0])), "10 km"),
        (note("race", "the 10 km one"), "10 km"),
        (note("race", "Alp ride, 2027-05-01"), "Alp ride"),
        (note("race", "no idea"), "Marathon"),
        (note("race", answered=False), "Marathon"),
    ],
)
def test_the_race_is_the_one_that_was_said_or_else_the_one_of_priority(
    answer: Note | None, name: str
) -> None:
    assert plans.main_race(RACES, answer, TODAY).name == name


def test_the_season_counts_back_from_the_race_without_a_hole() -> None:
    said = plans.season(RACES[1], TODAY)
    assert said.splitlines() == [
        "Towards Marathon on 22 Jan, 60 days from now:",
        "",
        "- 23 Nov to 11 Dec: build",
        "- 12 Dec to 8 Jan: specific",
        "- 9 Jan to 15 Jan: taper",
        "- 16 Jan to 22 Jan: race week",
    ]


def week(state: Any, off: set[int] = frozenset(), race: plans.Race | None = None) -> list[str]:  # type: ignore[assignment]
    days = [TODAY + timedelta(ahead) for ahead in range(1, 8)]
    found = data(*((ago, 50) for ago in range(14)))
    return plans.week(found, days, race, state, off, TODAY).splitlines()


def test_a_day_without_time_is_a_day_of_rest() -> None:
    planned = week("well", {1, 4})
    assert "- Tuesday 24 Nov: rest" in planned
    assert "- Friday 27 Nov: rest" in planned


def test_who_was_ill_does_half_and_nothing_hard() -> None:
    assert sum("hard" in line for line in week("well")[1:]) == 2
    ill = week("ill")
    assert not any("hard" in line for line in ill[2:])
    assert "- Sunday 29 Nov: long run, 55 min" in ill
    assert "- Sunday 29 Nov: long run, 1 h 55" in week("well")


def test_the_day_of_the_race_is_the_race() -> None:
    planned = week("well", race=plans.Race(TODAY + timedelta(6), "Marathon"))
    assert "- Sunday 29 Nov: Marathon: race day" in planned
    assert "(race week)" in planned[0]
    assert not any("hard" in line for line in planned)


async def test_no_day_at_all_is_a_plan_of_rest() -> None:
    assert week("well", set(range(7)))[0] == "0 sessions (base), 24 Nov to 30 Nov."


# -- what a run is started with


async def test_beside_the_question_people_read_its_reason_and_no_id_of_ours() -> None:
    run, shown = Run(), list[str]()
    output = await run.start()
    while "__interrupt__" in output:
        shown.append(dialects.read(asked(output)).context)
        output = await run.answer({"content": "so it was", "choice": None})
    assert shown == [
        "495 this week, 245 in the 7 days before.",
        "3 days without a workout, in between the others.",
        "166 on average; 138 is usual for you there.",
        "Less than 6 hours each; 5.1 on 21 Nov.",
        "To come: City half marathon on 2 Jan, Lake triathlon on 6 Feb.",
        "I plan 24 Nov to 30 Nov. Write the weekdays, such as “Tuesday and Friday”.",
    ]
    assert [note["about"].partition("-")[0] for note in output["questions"]] == [
        "load", "gap", "workout", "sleep", "race", "time",
    ]  # fmt: skip


async def test_beside_a_model_s_question_people_read_its_reason_and_no_id_of_the_call() -> None:
    asking = [asks("Was it a camp?", "call-7", context="Load doubled.", choices=["Yes", "No"])]
    reading = dialects.read(asked(await Run(model(metrics=[asking])).start()))
    assert (reading.title, reading.context) == ("training load", "Load doubled.")


async def test_all_that_a_run_may_be_given_is_taken() -> None:
    run = Run(enable_plotting=False)
    output = await run.start(
        user_id="u1",
        athlete_name="Ana",
        execution_id="e1",
        garmin_data={"activities": [{"date": "2026-03-02", "sport": "ride", "minutes": 90}]},
        analysis_context="I moved house.",
        planning_context="I have a new bike.",
        competitions=[{"name": "Alp ride", "date": "2026-05-01", "priority": "A"}],
        current_date={"date": "2026-03-03", "day_name": "Tuesday"},
        week_dates=[{"date": "2026-03-09"}, {"date": "2026-03-10"}],
        style_guide="",
        plotting_enabled=True,
        hitl_enabled=False,
    )
    assert (output["user_id"], output["athlete_name"], output["execution_id"]) == ("u1", "Ana", "e1")
    assert "Load: ▁▁▁▁▁▁▁▁▁▁▁▁█▁ 0–90" in output["metrics_result"]
    assert "You said beforehand: “I moved house.”" in output["metrics_result"]
    assert output["season_plan"].startswith("Towards Alp ride on 1 May, 59 days from now:")
    assert "- Monday 9 Mar: " in output["weekly_plan"]
    assert "“I have a new bike.”" in output["weekly_plan"]
    assert "sample" not in output["summary"]


@pytest.mark.parametrize(
    ("given", "said"),
    [
        ({"hitl_enabled": "false"}, "hitl_enabled: "),
        ({"garmin_data": []}, "garmin_data: "),
        ({"week_dates": [{"day_name": "Monday"}]}, "week_dates: it needs a date"),
        ({"current_date": {"date": "soon"}}, "current_date: it needs a date"),
        ({"competitions": [{"name": "Alp ride"}], "hitl_enabled": False}, "competitions: each needs a date"),
    ],
)
async def test_an_input_that_is_wrong_is_refused_with_what_it_needs(given: Any, said: str) -> None:
    with pytest.raises(ValueError, match=said):
        await Run().start(**given)


# -- its settings


def test_settings_come_as_texts() -> None:
    graph({"hitl_enabled": "no", "activities_days": "10", "metrics_days": "21", "enable_plotting": "true"})


@pytest.mark.parametrize(
    ("options", "said"),
    [
        ({"modle": "x"}, "options: there is no modle; there are model, ai_mode, hitl_enabled"),
        ({"activities_days": "many"}, "options.activities_days: "),
        ({"model": {"production": "openai:x"}}, "options.model: there is none for ai_mode development"),
        ({"model": "no-such-service:x"}, "model: no-such-service:x cannot be made"),
    ],
)
def test_settings_that_are_wrong_are_refused_without_their_values(options: Any, said: str) -> None:
    with pytest.raises(ConfigurationError) as refused:
        graph(options)
    assert str(refused.value).startswith(said)
    assert "many" not in str(refused.value)


def test_a_model_whose_package_is_missing_is_named_with_what_to_install() -> None:
    with pytest.raises(ConfigurationError, match="langchain-mistralai"):
        chat_model("mistralai:mistral-small")


# -- with a model


async def test_the_tool_is_bound_and_explained_where_people_are_asked() -> None:
    run = Run(model())
    await run.start()
    assert [each.step for each in run.seen] == list(TASKS)
    assert {each.tools for each in run.seen} == {("ask_human",)}
    assert all(INSTRUCTIONS in str(each.messages[0].content) for each in run.seen)


@pytest.mark.parametrize("how", ["by its settings", "by the run"])
async def test_without_people_no_tool_is_bound_and_none_is_spoken_of(how: str) -> None:
    run = Run(model(), hitl_enabled=how == "by the run")
    output = await run.start(**({"hitl_enabled": False} if how == "by the run" else {}))
    assert [each.step for each in run.seen] == list(TASKS)
    assert {each.tools for each in run.seen} == {()}
    assert not any("ask_human" in str(message.content) for each in run.seen for message in each.messages)
    assert [output[key] for key in ("metrics_result", "weekly_plan")] == [
        WROTE["metrics"],
        WROTE["weekly_planner"],
    ]


async def test_one_step_asks_several_times_also_in_one_turn_and_each_call_gets_its_own_answer() -> None:
    both = [asks("A?", "a", context="Because.", choices=["x", "y"]), asks("B?", "b")]
    run = Run(model(metrics=[both, [asks("C?", "a")]]))
    first = asked(await run.start())
    assert first == {
        "type": "ask_human",
        "question": "A?",
        "context": "Because.",
        "choices": ["x", "y"],
        "title": "training load",
    }
    assert asked(await run.answer({"content": "x", "choice": "x"}))["question"] == "B?"
    assert asked(await run.answer({"content": "two"}))["question"] == "C?"
    output = await run.answer({"content": "three"})
    told = [each for each in run.seen if each.step == "metrics"][-1].messages
    heard = [(message.tool_call_id, message.content) for message in told if isinstance(message, ToolMessage)]
    assert heard == [("a", "x"), ("b", "two"), ("a", "three")]
    assert [(each["question"], each["answer"]) for each in output["questions"]] == [
        ("A?", "x"),
        ("B?", "two"),
        ("C?", "three"),
    ]
    assert [each.step for each in run.seen].count("metrics") == 3


async def test_what_was_answered_is_known_to_the_steps_after_it() -> None:
    run = Run(model(metrics=[[asks("Was it a camp?")]]))
    await run.start(athlete_name="Ana")
    await run.answer({"content": "yes, in Calp"})
    last = str(run.seen[-1].messages[1].content)
    assert "- Was it a camp? “yes, in Calp”" in last
    assert WROTE["metrics"] in last
    assert "Ana" in last


async def test_silence_is_told_to_the_model_and_stands_in_what_it_wrote() -> None:
    run = Run(model(metrics=[[asks("Was it a camp?")]]))
    await run.start()
    output = await run.answer(SILENCE)
    turn = next(each for each in reversed(run.seen) if each.step == "metrics")
    assert turn.messages[-1].content == NOBODY
    assert output["metrics_result"].startswith(WROTE["metrics"])
    assert "- Was it a camp? This was not answered, so it goes without." in output["metrics_result"]


async def test_fifteen_rounds_are_asked_and_then_it_has_to_write() -> None:
    endless = [[asks(f"Question {round}?")] for round in range(20)]
    run = Run(model(metrics=[*endless[:MOST_ROUNDS], "Written."]))
    output = await run.start()
    for round in range(MOST_ROUNDS):
        assert asked(output)["question"] == f"Question {round}?"
        output = await run.answer({"content": "so"})
    last = [each for each in run.seen if each.step == "metrics"][-1]
    assert last.messages[-1].content == ENOUGH
    assert output["metrics_result"].startswith("Written.")


async def test_a_model_that_asks_on_and_writes_nothing_fails_the_run() -> None:
    run = Run(model(metrics=[[asks(f"Question {round}?")] for round in range(20)]))
    await run.start()
    for _ in range(MOST_ROUNDS - 1):
        await run.answer({"content": "so"})
    with pytest.raises(Exception, match="The model wrote nothing in the step metrics"):
        await run.answer({"content": "so"})


async def test_calls_that_ask_nothing_reach_nobody_and_the_model_reads_why() -> None:
    wrong = [asks(" ", "a"), {"name": "search", "args": {}, "id": "b"}, asks("A?", "c")]
    run = Run(model(metrics=[wrong, [asks("", "d")]]))
    assert asked(await run.start())["question"] == "A?"
    await run.answer({"content": "so"})
    told = [each for each in run.seen if each.step == "metrics"][-1].messages
    heard = {
        message.tool_call_id: str(message.content) for message in told if isinstance(message, ToolMessage)
    }
    assert "The question is empty" in heard["a"]
    assert heard["b"] == "There is no tool search; there is ask_human."
    assert heard["c"] == "so"
    assert "The question is empty" in heard["d"]


class RateLimitError(Exception):
    """As the packages of services name it."""


class Answered(Exception):
    """An error with the status of an HTTP answer."""

    def __init__(self, status: int) -> None:
        super().__init__(status)
        self.status_code = status


@pytest.mark.parametrize("make", [RateLimitError, TimeoutError, lambda: Answered(429), lambda: Answered(503)])
async def test_what_may_pass_is_tried_again_after_longer_and_longer(make: Callable[[], Exception]) -> None:
    run = Run(model(activity=[make(), make(), make()]))
    output = await run.start()
    assert run.waits == [1.0, 2.0, 4.0]
    assert output["activity_result"] == WROTE["activity"]


async def test_what_does_not_pass_is_given_up_and_can_be_tried_again_from_there() -> None:
    run = Run(model(activity=[Answered(503)] * 5))
    with pytest.raises(Answered):
        await run.start()
    assert run.waits == [1.0, 2.0, 4.0, 8.0]
    output = await run.graph.ainvoke(None, THREAD)
    assert [each.step for each in run.seen].count("metrics") == 1
    assert output["activity_result"] == WROTE["activity"]


@pytest.mark.parametrize("error", [Answered(401), Answered(400), ValueError("no")])
async def test_what_is_wrong_with_the_question_is_not_tried_again(error: Exception) -> None:
    run = Run(model(activity=[error]))
    with pytest.raises(type(error)):
        await run.start()
    assert run.waits == []


async def test_a_model_sees_only_what_is_recent_and_data_of_any_other_form() -> None:
    run = Run(model(), activities_days=7)
    entries = [{"date": day(30), "note": "old"}, {"date": day(3), "note": "new"}, {"note": "undated"}]
    await run.start(garmin_data={"activities": entries, "vo2max": 55}, plotting_enabled=True)
    shown = str(run.seen[0].messages[1].content)
    assert ("old" in shown, "new" in shown, "undated" in shown, "55" in shown) == (False, True, True, True)


async def test_a_turn_is_stored_before_a_person_is_asked_about_it() -> None:
    run = Run(model(metrics=[[asks("A?")]]))
    await run.start()
    kept = (await run.graph.aget_state(THREAD)).values["talk"]
    assert isinstance(kept[-1], AIMessage)
    await run.answer({"content": "so"})
    assert (await run.graph.aget_state(THREAD)).values["talk"] == []
