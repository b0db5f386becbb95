"""The tutor through a whole gateway: what a person taps and writes is what becomes of the plan."""

import contextlib
from collections.abc import AsyncIterator
from typing import Any

import pytest

from answerback.agent import AgentContext, Finished
from answerback.model import InteractionStatus, RunStatus
from answerback.provider import ProviderContext
from answerback.settings import Hitl, Plugin, Route
from answerback_agents.langgraph import LangGraph
from answerback_providers.scripted import Scripted
from tests.flow.langgraph.harness import HERE, Harness, only, said, target
from tests.support.databases import Database
from tests.support.gateway import Gateway, gateway

pytestmark = pytest.mark.either_database

INPUT = {"goal": "learn Python", "weeks": 6}
DEADLINE = {"default": Route("default", ask=("alice",), providers=("memory",), expires_in=3600.0)}


@contextlib.asynccontextmanager
async def tutoring(database: Database, **settings: Any) -> AsyncIterator[Gateway]:
    context = AgentContext(str(database.data_dir), database.url, str(HERE))
    agent = LangGraph("tutor", LangGraph.Settings(graph="answerback_agents.tutor:graph"), context)
    async with gateway(database, agent, **settings) as g:
        yield g


async def test_a_plan_is_approved_and_courses_are_accepted_by_two_taps(database: Database) -> None:
    async with tutoring(database) as g:
        run = await g.run("tutor", input=INPUT)
        asked = g.memory.shown[-1].message
        assert asked.heading == "🟦 Tutor · learning plan"
        assert asked.title == "Approve this plan: Python in 6 weeks, 4 hours a week?"
        assert asked.body.endswith("6: a small program")
        assert [button.label for button in asked.buttons] == [
            "Approve",
            "A different plan",
            "Something else…",
        ]
        await g.taps("1001", "Approve")
        await g.taps("1001", "They suit me")
        ended = await g.settled(run.id)
        assert ended.status is RunStatus.COMPLETED
        assert ended.result["plan"]["status"] == "approved"
        assert {course["status"] for course in ended.result["courses"]} == {"accepted"}
        assert g.memory.titles("1001")[-1] == (
            "📄 Tutor is done: Your plan is approved: Python in 6 weeks, 4 hours a week."
        )


async def test_a_plan_is_changed_as_it_is_written_and_approved_only_then(database: Database) -> None:
    async with tutoring(database) as g:
        run = await g.run("tutor", input=INPUT)
        await g.types("1001", "yes but in 4 weeks, and without tests")
        asked = g.memory.shown[-1].message
        assert asked.title == "Approve this plan: Python in 4 weeks, 5 hours a week?"
        assert asked.body.startswith(
            "Now 4 weeks instead of 6, 5 hours a week instead of 4, without tests.\n"
        )
        await g.types("1001", "同意这个计划")
        await g.types("1001", "不错")
        ended = await g.settled(run.id)
        assert (ended.result["plan"]["weeks"], ended.result["plan"]["status"]) == (4, "approved")
        assert ended.result["feedback"] == ["yes but in 4 weeks, and without tests", "同意这个计划", "不错"]


async def test_silence_approves_nothing_and_the_person_hears_so(database: Database) -> None:
    async with tutoring(database, routes=DEADLINE) as g:
        run = await g.run("tutor", input=INPUT)
        await g.types("1001", "shorter")
        await g.later(3601)
        ended = await g.settled(run.id)
        assert ended.status is RunStatus.COMPLETED
        assert (ended.result["plan"]["status"], ended.result["courses"]) == ("draft", [])
        assert ended.result["feedback"] == ["shorter"]
        assert "Nobody answered, so this plan was not approved." in g.memory.titles("1001")[-1]


async def test_a_stand_in_is_not_asked_to_approve_a_plan(database: Database) -> None:
    script = Scripted(
        "script", Scripted.Settings.model_validate({"answers": ["approve", "good"]}), ProviderContext()
    )
    async with tutoring(database, providers={"script": script}, hitl=Hitl(mode="script")) as g:
        run = await g.run("tutor", input=INPUT)
        assert run.status is RunStatus.WAITING
        assert g.memory.titles("1001") == ["Approve this plan: Python in 6 weeks, 4 hours a week?"]


async def test_the_person_can_end_the_run_while_it_asks(database: Database) -> None:
    async with tutoring(database) as g:
        run = await g.run("tutor", input=INPUT)
        await g.taps("1001", "Approve")
        await g.types("1001", "cancel")
        [courses, plan] = (await g.app.reader.interactions()).items
        assert {plan.status, courses.status} == {InteractionStatus.COMPLETED, InteractionStatus.CANCELLED}
        assert (await g.settled(run.id)).status is RunStatus.CANCELLED


async def test_the_conversation_survives_a_restart_before_every_answer(harness: Harness) -> None:
    mine = await harness.open("answerback_agents.tutor:graph", name="tutor")
    state = await mine.start("t", INPUT)
    answers = [" 4 weeks,\nplease ", "why tests?", "later", "approve", "more", "they-suit"]
    for answer in answers:
        question = only(state)
        await mine.close()
        mine = await harness.open("answerback_agents.tutor:graph", name="tutor")
        assert await mine.pending("t") == (question,)
        state = await mine.resume("t", target(question), said(answer))
    assert isinstance(state, Finished)
    messages = state.result["messages"]
    assert [each["taken_as"] for each in messages if each["role"] == "user"] == [
        "plan changed", "remark", "later", "approved", "more courses", "satisfied",
    ]  # fmt: skip
    assert [each["content"] for each in messages[1:6:2]] == answers[:3]
    assert [each["role"] for each in messages] == ["assistant", "user"] * len(answers) + ["assistant"]


async def test_who_writes_later_is_not_misread_and_can_be_asked_again_then(database: Database) -> None:
    async with tutoring(database) as g:
        run = await g.run("tutor", input=INPUT)
        await g.types("1001", "not now, please")
        asked = g.memory.shown[-1].message
        assert asked.title == "Approve this plan: Python in 6 weeks, 4 hours a week?"
        assert asked.body.startswith(
            "I wait. Answer when you like, or write “snooze 2h” to be asked again then"
        )
        await g.types("1001", "snooze 2h")
        shown = len(g.memory.shown)
        await g.later(2 * 3600 + 1)
        assert g.memory.shown[shown].message.title == asked.title
        await g.types("1001", "stop please")
        ended = await g.settled(run.id)
        assert ended.status is RunStatus.COMPLETED
        assert g.memory.titles("1001")[-1].startswith("📄 Tutor is done: Stopped as you said.")


async def test_what_was_said_before_a_run_is_stopped_comes_with_it(database: Database) -> None:
    async with tutoring(database) as g:
        run = await g.run("tutor", input=INPUT)
        await g.types("1001", "4 weeks")
        await g.types("1001", "stop")
        ended = await g.settled(run.id)
        assert (ended.status, ended.result["plan"]["status"]) == (RunStatus.CANCELLED, "draft")
        assert [each["role"] for each in ended.result["messages"]] == ["assistant", "user", "assistant"]
        assert ended.result["messages"][-1]["content"].startswith("Approve this plan: Python in 4 weeks")
        assert (ended.result["feedback"], ended.result["summary"]) == (["4 weeks"], "")


async def test_a_message_starts_the_tutor_also_after_it_was_stopped(database: Database) -> None:
    mine = {"tutor": Plugin("tutor", "x", may_start=("alice",), input_key="goal")}
    async with tutoring(database, agents=mine) as g:
        for answer in ("stop", "Approve"):
            await g.types("1001", "run tutor learn Python")
            await g.sweep()
            assert g.memory.shown[-1].message.title.startswith("Approve this plan: Python in 6 weeks")
            await g.types("1001", answer)
        assert g.memory.titles("1001")[-1] == "Do these courses suit you?"
        runs = (await g.app.runner.list()).items
        assert {run.status for run in runs} == {RunStatus.CANCELLED, RunStatus.WAITING}


async def test_law_6_courses_that_a_stand_in_likes_are_accepted_by_nobody(database: Database) -> None:
    script = Scripted("script", Scripted.Settings.model_validate({"answers": ["good"]}), ProviderContext())
    async with tutoring(database, providers={"script": script}, hitl=Hitl(mode="script")) as g:
        run = await g.run("tutor", input=INPUT)
        await g.taps("1001", "Approve")
        ended = await g.settled(run.id)
        assert (ended.status, ended.result["plan"]["status"]) == (RunStatus.COMPLETED, "approved")
        assert {course["status"] for course in ended.result["courses"]} == {"suggested"}
        assert ended.result["messages"][-2]["answered_by"] == "stand-in:script"
