"""The coach through a whole gateway: it asks in the middle of its work, and goes on with the answer."""

import contextlib
from collections.abc import AsyncIterator
from typing import Any

import pytest

from answerback.agent import AgentContext
from answerback.model import RunStatus
from answerback.settings import Route
from answerback_agents.coach.prompts import TASKS
from answerback_agents.langgraph import LangGraph
from tests.flow.langgraph import coaching
from tests.flow.langgraph.harness import HERE
from tests.support.databases import Database
from tests.support.gateway import Gateway, gateway

pytestmark = pytest.mark.either_database

RULES = "answerback_agents.coach:graph"
CHATTY = "tests.flow.langgraph.coaching:chatty"
DEADLINE = {"default": Route("default", ask=("alice",), providers=("memory",), expires_in=3600.0)}
QUESTIONS = [  # of the sample data, with how each is answered
    ("Your load went up by 102%. Was that planned?", "Planned"),
    ("You did not train from", "Ill or injured"),
    ("Your heart rate was high: Easy run on", "Heat, hills or the sensor"),
    ("You slept badly on 3 of 7 nights. What kept you awake?", "Noise, a child or travel"),
    ("Which race matters most to you?", "Lake triathlon"),
    ("On which days can you not train?", "All days are fine"),
]


@contextlib.asynccontextmanager
async def coached(database: Database, graph: str = RULES, **more: Any) -> AsyncIterator[Gateway]:
    options = more.pop("options", {})
    context = AgentContext(str(database.data_dir), database.url, str(HERE))
    agent = LangGraph("coach", LangGraph.Settings(graph=graph, options=options), context)
    async with gateway(database, agent, **more) as g:
        yield g


async def test_the_whole_flow_on_sample_data_by_six_taps(database: Database) -> None:
    async with coached(database) as g:
        run = await g.run("coach", input={})
        assert g.memory.shown[-1].message.heading == "🟦 Coach · training load"
        for question, label in QUESTIONS:
            assert g.memory.shown[-1].message.title.startswith(question)
            await g.taps("1001", label)
        ended = await g.settled(run.id)
        assert ended.status is RunStatus.COMPLETED
        assert [(note["answer"], note["answered"]) for note in ended.result["questions"]] == [
            (label, True) for _, label in QUESTIONS
        ]
        assert "Towards Lake triathlon" in ended.result["season_plan"]
        assert "because of what you said" in ended.result["weekly_plan"]
        assert "sample data" in ended.result["summary"]
        assert g.memory.titles("1001")[-1].startswith("📄 Coach is done: 6 sessions (build), ")


async def test_words_of_ones_own_stand_in_the_analysis_as_they_were_written(database: Database) -> None:
    async with coached(database) as g:
        run = await g.run("coach", input={})
        await g.types("1001", "a  camp in “Calp”,\n10 h on the bike")
        await g.taps("1001", "Rest on purpose")
        asked = await g.settled(run.id)
        cancelled = await g.app.runner.cancel(asked.id)
        assert "“a  camp in “Calp”,\n10 h on the bike”" in cancelled.result["metrics_result"]


async def test_nobody_answers_and_every_part_says_so_and_stays_careful(database: Database) -> None:
    async with coached(database, routes=DEADLINE) as g:
        run = await g.run("coach", input={})
        for _ in QUESTIONS:
            await g.later(3601)
        ended = await g.settled(run.id)
        assert ended.status is RunStatus.COMPLETED
        assert not any(note["answered"] or note["answer"] for note in ended.result["questions"])
        for part in ("metrics_result", "activity_result", "physiology_result", "season_plan", "weekly_plan"):
            assert "This was not answered, so it goes without." in ended.result[part]
        assert "not all of what stood out was explained" in ended.result["weekly_plan"]
        assert "6 asked, 6 not answered." in ended.result["summary"]


async def test_somebody_who_writes_no_response_has_answered(database: Database) -> None:
    async with coached(database) as g:
        run = await g.run("coach", input={})
        await g.types("1001", "No response")
        ended = await g.app.runner.cancel(run.id)
        assert [(note["answer"], note["answered"]) for note in ended.result["questions"]] == [
            ("No response", True)
        ]


async def test_without_people_the_same_flow_runs_to_its_end_and_says_what_stands_out(
    database: Database,
) -> None:
    async with coached(database, options={"hitl_enabled": "false"}) as g:
        ended = await g.run("coach", input={})
        assert (ended.status, ended.result["questions"]) == (RunStatus.COMPLETED, [])
        assert g.memory.titles("1001") == []
        assert "nobody was asked:\n\n- Your load went up by 102%" in ended.result["metrics_result"]
        assert "Towards City half marathon" in ended.result["season_plan"]


async def test_to_cancel_while_it_asks_keeps_what_is_finished(database: Database) -> None:
    async with coached(database) as g:
        run = await g.run("coach", input={})
        await g.taps("1001", "Planned")
        await g.taps("1001", "Work or travel")
        await g.types("1001", "quit")
        cancelled = await g.settled(run.id)
        assert cancelled.status is RunStatus.CANCELLED
        assert cancelled.result["metrics_result"].startswith("Training load: 495")
        assert "“Work or travel”" in cancelled.result["metrics_result"]
        assert [cancelled.result[part] for part in ("activity_result", "season_plan", "summary")] == [""] * 3
        agent: Any = g.app.agents["coach"]
        kept = await agent._graph.aget_state({"configurable": {"thread_id": cancelled.thread_id}})
        assert (kept.values["metrics_result"], kept.next) == (cancelled.result["metrics_result"], ())


async def test_a_thread_that_was_cancelled_can_be_started_anew(database: Database) -> None:
    async with coached(database) as g:
        first = await g.run("coach", input={}, thread_id="t")
        for _, label in QUESTIONS[:2]:
            await g.taps("1001", label)
        await g.app.runner.cancel(first.id)
        await g.run("coach", input={}, thread_id="t")
        assert g.memory.shown[-1].message.title == QUESTIONS[0][0]


async def test_several_steps_of_a_model_ask_in_one_run_and_each_reads_its_own_answer(
    database: Database,
) -> None:
    async with coached(database, CHATTY) as g:
        run = await g.run("coach", input={"athlete_name": "Ana"})
        asked = g.memory.shown[-1].message
        assert (asked.heading, asked.title, asked.body) == (
            "🟦 Coach · training load",
            "What happened in week 46?",
            "Load doubled.",
        )
        await g.taps("1001", "Camp")
        for title, answer in [
            ("Were you ill?", "no"),
            ("Who slept badly?", "the dog"),
            ("And since then?", "well"),
        ]:
            assert g.memory.shown[-1].message.title == title
            await g.types("1001", answer)
        ended = await g.settled(run.id)
        assert ended.status is RunStatus.COMPLETED
        assert [(note["step"], note["answer"]) for note in ended.result["questions"]] == [
            ("metrics", "Camp"),
            ("physiology", "no"),
            ("physiology", "the dog"),
            ("physiology", "well"),
        ]
        assert ended.result["physiology_result"].startswith(coaching.WROTE["physiology"])


async def test_after_a_restart_in_the_middle_it_goes_on_and_no_turn_of_the_model_is_taken_twice(
    database: Database,
) -> None:
    journal = coaching.chatty_model.journal
    journal.seen.clear()
    async with coached(database, CHATTY) as g:
        run = await g.run("coach", input={})
        await g.taps("1001", "Camp")
        await g.types("1001", "no")
        memory, clock = g.memory, g.clock
    async with coached(database, CHATTY, providers={"memory": memory}, clock=clock) as g:
        await g.types("1001", "the dog")
        await g.types("1001", "well")
        ended = await g.settled(run.id)
        assert ended.status is RunStatus.COMPLETED
    turns = [(step, journal.steps().count(step)) for step in TASKS]
    assert turns == [
        ("metrics", 2),
        ("activity", 1),
        ("physiology", 3),
        ("season_planner", 1),
        ("weekly_planner", 1),
    ]
