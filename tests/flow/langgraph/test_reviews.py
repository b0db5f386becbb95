"""Reviewed calls: real LangChain agents and Agent Inbox ask, and go on with exactly what was decided."""

from typing import Any

import pytest

from answerback.agent import Finished, Pending, State
from answerback.errors import DoesNotFit
from answerback.model import Action, Answer, Json
from answerback_agents.langgraph import LangGraph
from tests.flow.langgraph.harness import Harness, only, target
from tests.flow.langgraph.reviewed import REFUND, TASK, WIPE

pytestmark = pytest.mark.either_database

APPROVE, REJECT = {"decision": "approve"}, {"decision": "reject", "message": "too much"}
EDIT = {"decision": "edit", "args": {"customer": "c_8812", "amount": 50.0}}
REPLY = {"decision": "respond", "message": "I did it myself."}
SILENCE = Answer({}, expired=True)


def decided(*values: Json) -> Answer:
    return Answer({f"q{place}": value for place, value in enumerate(values, start=1)})


def tools(state: State) -> list[str]:
    """What the model heard back from its calls."""
    assert isinstance(state, Finished), state
    return [message["content"] for message in state.result["messages"] if message["type"] == "tool"]


async def reviewed(harness: Harness, name: str) -> tuple[LangGraph, Pending]:
    mine = await harness.open(f"reviewed.py:{name}")
    return mine, only(await mine.start("t", TASK))


async def test_a_call_is_asked_about_with_its_name_and_arguments(light: Harness) -> None:
    _, asked = await reviewed(light, "strict")
    (question,) = asked.questions
    assert question.action == Action("refund", REFUND["args"])
    assert question.text == "Ana called."
    assert question.decisions == ("approve", "reject")


async def test_what_the_middleware_says_by_itself_is_not_repeated(light: Harness) -> None:
    _, asked = await reviewed(light, "one")
    assert asked.questions[0].text == ""


@pytest.mark.parametrize(
    ("value", "heard"),
    [
        (APPROVE, "c_8812 got 100.00"),
        (EDIT, "c_8812 got 50.00"),
        (REJECT, "User rejected the tool call for `refund` with reason: too much"),
        (REPLY, "I did it myself."),
    ],
)
async def test_the_agent_goes_on_with_what_was_decided(harness: Harness, value: Json, heard: str) -> None:
    mine, asked = await reviewed(harness, "one")
    assert tools(await mine.resume("t", target(asked), decided(value))) == [heard]


async def test_several_calls_of_one_turn_are_decided_about_one_by_one(harness: Harness) -> None:
    mine, asked = await reviewed(harness, "two")
    assert [question.action for question in asked.questions] == [
        Action("refund", REFUND["args"]),
        Action("wipe", WIPE["args"]),
    ]
    ended = await mine.resume("t", target(asked), decided(EDIT, {"decision": "reject", "message": "no"}))
    assert sorted(tools(ended)) == [
        "User rejected the tool call for `wipe` with reason: no",
        "c_8812 got 50.00",
        "empty",
    ]


@pytest.mark.parametrize(
    "value",
    [
        EDIT,
        REPLY,
        {"decision": "shred"},
        None,
        {"decision": "edit", "args": {"customer": "x", "admin": True}},
    ],
)
async def test_what_is_not_offered_is_refused_and_the_question_stays(harness: Harness, value: Json) -> None:
    mine, asked = await reviewed(harness, "strict")
    with pytest.raises(DoesNotFit):
        await mine.resume("t", target(asked), decided(value))
    assert await mine.pending("t") == (asked,)
    assert tools(await mine.resume("t", target(asked), decided(APPROVE))) == ["c_8812 got 100.00"]


async def test_arguments_that_the_call_does_not_have_are_refused(harness: Harness) -> None:
    mine, asked = await reviewed(harness, "one")
    with pytest.raises(DoesNotFit, match="admin"):
        await mine.resume("t", target(asked), decided({"decision": "edit", "args": {"admin": True}}))
    assert await mine.pending("t") == (asked,)


async def test_silence_rejects_with_that_reason(harness: Harness) -> None:
    mine, asked = await reviewed(harness, "two")
    assert asked.expirable
    rejected = "User rejected the tool call for `{}` with reason: Nobody answered in time."
    heard = tools(await mine.resume("t", target(asked), SILENCE))
    assert sorted(heard) == [rejected.format("refund"), rejected.format("wipe"), "empty"]


async def test_silence_never_approves_what_cannot_be_rejected(light: Harness) -> None:
    mine, asked = await reviewed(light, "approve_only")
    assert not asked.expirable
    with pytest.raises(DoesNotFit):
        await mine.resume("t", target(asked), SILENCE)
    assert await mine.pending("t") == (asked,)


@pytest.mark.parametrize(
    ("value", "heard"),
    [
        (APPROVE, {"type": "accept", "args": None}),
        (REJECT, {"type": "ignore", "args": "too much"}),
        (EDIT, {"type": "edit", "args": {"action": "refund", "args": EDIT["args"]}}),
        (REPLY, {"type": "response", "args": "I did it myself."}),
    ],
)
async def test_a_request_of_agent_inbox_is_answered_in_its_own_form(
    light: Harness, value: Json, heard: Any
) -> None:
    mine = await light.open("reviewed.py:inbox")
    asked = only(await mine.start("t", light.input()))
    assert asked.questions[0].text == "Ana was charged twice."
    ended = await mine.resume("t", target(asked), decided(value))
    assert isinstance(ended, Finished)
    assert ended.result["heard"] == [heard]


async def test_an_answer_that_was_given_before_a_crash_is_recognised(harness: Harness) -> None:
    """Given again after it was consumed, it is taken for what it is; another one is refused."""
    mine, asked = await reviewed(harness, "one")
    ended = await mine.resume("t", target(asked), decided(EDIT))
    again = await mine.resume("t", target(asked), decided(EDIT), again=True)
    assert tools(again) == tools(ended) == ["c_8812 got 50.00"]
