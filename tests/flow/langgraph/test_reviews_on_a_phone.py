"""Reviews on a phone: a real LangChain agent's call, as a person sees it and decides about it."""

import contextlib
from collections.abc import AsyncIterator
from typing import Any

import pytest

from answerback.agent import AgentContext
from answerback.errors import AnswerbackError
from answerback.model import RunStatus
from answerback.settings import Route
from answerback_agents.langgraph import LangGraph
from tests.flow.langgraph.harness import HERE
from tests.flow.langgraph.reviewed import TASK
from tests.flow.test_one_by_one import Chat
from tests.support.databases import Database
from tests.support.gateway import Gateway, gateway

pytestmark = pytest.mark.either_database

DEADLINE = {"default": Route("default", ask=("alice",), providers=("memory",), expires_in=3600.0)}
EDIT = {"decision": "edit", "args": {"customer": "c_8812", "amount": 50.0}}


@contextlib.asynccontextmanager
async def reviewing(database: Database, graph: str, **settings: Any) -> AsyncIterator[Gateway]:
    context = AgentContext(str(database.data_dir), database.url, str(HERE))
    agent = LangGraph("billing", LangGraph.Settings(graph=f"reviewed.py:{graph}"), context)
    async with gateway(database, agent, public_url="https://ask.example.org", **settings) as g:
        yield g


async def heard(g: Gateway, run: str) -> list[str]:
    """What the model heard back, once its run has ended."""
    ended = await g.settled(run)
    assert ended.status is RunStatus.COMPLETED, ended
    return [message["content"] for message in ended.result["messages"] if message["type"] == "tool"]


async def test_a_call_is_shown_first_and_in_full_with_what_may_be_done(database: Database) -> None:
    async with reviewing(database, "one") as g:
        await g.run("billing", input=TASK)
        message = g.memory.shown[-1].message
        assert (message.heading, message.title) == ("🟥 Billing · wants to run", "refund")
        assert message.fields == (("customer", "c_8812"), ("amount", "100.0"))
        assert message.body == ""
        assert [button.label for button in message.buttons] == ["Approve", "Reject", "Change…", "Reply…"]


@pytest.mark.parametrize(
    ("label", "told"),
    [("Approve", "c_8812 got 100.00"), ("Reject", "User rejected the tool call for `refund` with id 1.")],
)
async def test_a_tap_decides(database: Database, label: str, told: str) -> None:
    async with reviewing(database, "one") as g:
        run = await g.run("billing", input=TASK)
        await g.taps("1001", label)
        assert (await heard(g, run.id))[0].startswith(told)


@pytest.mark.parametrize(
    ("typed", "told"),
    [
        ("reject: she was refunded in May", "reason: she was refunded in May"),
        ("She was refunded in May.", "She was refunded in May."),
    ],
)
async def test_what_no_button_says_is_written(database: Database, typed: str, told: str) -> None:
    async with reviewing(database, "one") as g:
        run = await g.run("billing", input=TASK)
        await g.types("1001", typed)
        assert (await heard(g, run.id))[0].endswith(told)


async def test_an_approval_with_an_addition_is_none_and_the_person_hears_so(database: Database) -> None:
    async with reviewing(database, "strict") as g:
        run = await g.run("billing", input=TASK)
        await g.types("1001", "approve but only half")
        said = g.memory.shown[-1].message
        assert "approve but only half" in f"{said.title} {said.body}"
        await g.taps("1001", "Approve")
        assert await heard(g, run.id) == ["c_8812 got 100.00"]


async def test_changed_arguments_come_from_the_form(database: Database) -> None:
    async with reviewing(database, "one", form_auth="link") as g:
        run = await g.run("billing", input=TASK)
        link = g.memory.shown[-1].message.form_url.rpartition("/")[2]
        await g.app.forms.submit(link, {"q1": EDIT})
        assert await heard(g, run.id) == ["c_8812 got 50.00"]


async def test_several_calls_are_decided_about_on_one_form(database: Database) -> None:
    async with reviewing(database, "two", form_auth="link") as g:
        run = await g.run("billing", input=TASK)
        message = g.memory.shown[-1].message
        assert "refund" in message.body
        assert "wipe" in message.body
        link = message.form_url.rpartition("/")[2]
        await g.app.forms.submit(link, {"q1": EDIT, "q2": {"decision": "reject", "message": "keep it"}})
        assert sorted(await heard(g, run.id)) == [
            "User rejected the tool call for `wipe` with reason: keep it",
            "c_8812 got 50.00",
            "empty",
        ]


async def test_in_a_chat_several_calls_are_decided_about_one_by_one(database: Database) -> None:
    async with reviewing(database, "two", providers={"memory": Chat()}) as g:
        run = await g.run("billing", input=TASK)
        calls = []
        for label in ("Approve", "Reject"):
            calls.append(next(s.message for s in reversed(g.memory.shown) if s.message.fields))
            await g.taps("1001", label)
        assert [call.heading.rpartition(" · ")[2] for call in calls] == ["1 of 2", "2 of 2"]
        told = {call.title: label for call, label in zip(calls, ("Approve", "Reject"), strict=True)}
        assert told == {"refund": "Approve", "wipe": "Reject"}
        rejected, *done = sorted(await heard(g, run.id))
        assert rejected.startswith("User rejected the tool call for `wipe` with id 2.")
        assert done == ["c_8812 got 100.00", "empty"]


@pytest.mark.parametrize("response", [EDIT, {"decision": "shred"}, "edit", {}, [], "maybe"])
async def test_a_decision_that_was_not_offered_is_refused_before_it_counts(
    database: Database, response: Any
) -> None:
    async with reviewing(database, "strict") as g:
        run = await g.run("billing", input=TASK)
        (pending,) = (await g.app.reader.interactions("pending")).items
        with pytest.raises(AnswerbackError):
            await g.app.receiver.respond(pending.id, response, by="alice", via="api")
        await g.taps("1001", "Approve")
        assert await heard(g, run.id) == ["c_8812 got 100.00"]


async def test_arguments_that_the_call_does_not_have_are_refused_before_they_count(
    database: Database,
) -> None:
    async with reviewing(database, "one") as g:
        run = await g.run("billing", input=TASK)
        (pending,) = (await g.app.reader.interactions("pending")).items
        wrong = {"decision": "edit", "args": {"customer": "c_8812", "amount": 1.0, "admin": True}}
        with pytest.raises(AnswerbackError):
            await g.app.receiver.respond(pending.id, wrong, by="alice", via="api")
        await g.taps("1001", "Approve")
        assert await heard(g, run.id) == ["c_8812 got 100.00"]


async def test_nobody_answers_and_the_call_is_rejected_with_that_reason(database: Database) -> None:
    async with reviewing(database, "one", routes=DEADLINE) as g:
        run = await g.run("billing", input=TASK)
        await g.later(3601)
        told = "User rejected the tool call for `refund` with reason: Nobody answered in time."
        assert await heard(g, run.id) == [told]


async def test_what_cannot_be_rejected_waits_on(database: Database) -> None:
    async with reviewing(database, "approve_only", routes=DEADLINE) as g:
        run = await g.run("billing", input=TASK)
        await g.later(3601)
        assert (await g.settled(run.id)).status is RunStatus.WAITING
        await g.taps("1001", "Approve")
        assert await heard(g, run.id) == ["c_8812 got 100.00"]
