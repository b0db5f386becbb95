"""The toolkit through a whole gateway: a model asks with its tools, and reads what the person answered."""

import contextlib
from collections.abc import AsyncIterator

import pytest

from answerback.agent import AgentContext
from answerback.model import RunStatus
from answerback.settings import Route
from answerback_agents.langgraph import LangGraph
from answerback_agents.toolkit.answers import NOBODY, UNCONFIRMED
from tests.flow.langgraph.asking import TASK
from tests.flow.langgraph.harness import HERE
from tests.support.databases import Database
from tests.support.gateway import Gateway, gateway

pytestmark = pytest.mark.either_database

DEADLINE = {"default": Route("default", ask=("alice",), providers=("memory",), expires_in=3600.0)}


@contextlib.asynccontextmanager
async def tidying(database: Database, graph: str) -> AsyncIterator[Gateway]:
    context = AgentContext(str(database.data_dir), database.url, str(HERE))
    agent = LangGraph("tidy", LangGraph.Settings(graph=f"asking.py:{graph}"), context)
    async with gateway(database, agent, routes=DEADLINE) as g:
        yield g


async def heard(g: Gateway, run: str) -> list[str]:
    """What the model heard back from its tools, in the order of its calls, once its run has ended."""
    ended = await g.settled(run)
    assert ended.status is RunStatus.COMPLETED, ended
    return [message["content"] for message in ended.result["messages"] if message["type"] == "tool"]


async def answers(g: Gateway, title: str, text: str) -> None:
    """Alice replies to the message of one question."""
    shown = next(shown for shown in g.memory.shown if shown.message.title == title)
    await g.types("1001", text, references=[shown.id])


async def test_a_model_asks_then_wants_to_act_and_reads_exactly_what_was_answered(
    database: Database,
) -> None:
    async with tidying(database, "one_after_the_other") as g:
        run = await g.run("tidy", input=TASK)
        asked = g.memory.shown[-1].message
        assert (asked.title, asked.body) == ("Which folder?", "Two are named “old”.")
        assert [button.label for button in asked.buttons][:2] == ["/old", "/srv/old"]
        await g.types("1001", "  the one in /srv,\nbut keep “b”  ")
        await g.taps("1001", "Yes")
        assert await heard(g, run.id) == ["  the one in /srv,\nbut keep “b”  ", "Confirmed."]


async def test_a_tapped_choice_and_a_no_are_what_the_model_reads(database: Database) -> None:
    async with tidying(database, "one_after_the_other") as g:
        run = await g.run("tidy", input=TASK)
        await g.taps("1001", "/srv/old")
        shown = g.memory.shown[-1].message
        assert "Delete /old" in shown.title
        assert "Its 3 files are gone then." in shown.body
        await g.types("1001", "no thanks")
        told = "Not confirmed: they said no. Do not do it.\nIn their own words: no thanks"
        assert await heard(g, run.id) == ["/srv/old", told]


async def test_nobody_answers_and_the_model_reads_that_it_has_neither_an_answer_nor_a_yes(
    database: Database,
) -> None:
    async with tidying(database, "one_after_the_other") as g:
        run = await g.run("tidy", input=TASK)
        await g.later(3601)
        await g.later(3601)
        assert await heard(g, run.id) == [NOBODY, UNCONFIRMED]


async def test_somebody_who_writes_no_response_has_answered(database: Database) -> None:
    async with tidying(database, "one_after_the_other") as g:
        run = await g.run("tidy", input=TASK)
        await g.types("1001", "No response")
        await g.taps("1001", "No")
        assert (await heard(g, run.id))[0] == "No response"


@pytest.mark.parametrize("first", ["Which colour?", "Which name?"])
async def test_binding_two_questions_of_one_turn_each_get_their_own_answer(
    database: Database, first: str
) -> None:
    answer = {"Which colour?": "blue", "Which name?": "Rex"}
    async with tidying(database, "both_at_once") as g:
        run = await g.run("tidy", input=TASK)
        for title in sorted(answer, key=lambda title: title != first):
            await answers(g, title, answer[title])
        assert await heard(g, run.id) == ["blue", "Rex"]


async def test_a_step_without_a_model_tells_silence_from_a_no(database: Database) -> None:
    async with tidying(database, "without_a_model") as g:
        run = await g.run("tidy", input={"heard": []})
        await g.later(3601)
        await g.later(3601)
        silent = await g.settled(run.id)
        again = await g.run("tidy", input={"heard": []})
        await g.types("1001", "/old")
        await g.taps("1001", "No")
        refused = await g.settled(again.id)
    assert [silent.result["heard"], refused.result["heard"]] == [["-", None], ["/old", False]]


async def test_silence_that_nobody_catches_fails_the_run_and_the_question_can_be_asked_anew(
    database: Database,
) -> None:
    async with tidying(database, "insisting") as g:
        run = await g.run("tidy", input={"heard": []})
        await g.later(3601)
        failed = await g.settled(run.id)
        assert failed.status is RunStatus.FAILED
        assert failed.error.startswith("Silence: Nobody answered in time.")
        await g.app.runner.reask(run.id)
        await g.settled(run.id)
        await g.types("1001", "/old")
        assert (await g.settled(run.id)).result["heard"] == ["/old"]
