"""Forms: what a graph demands by `response_schema` is asked field by field, and only what fits goes back."""

from typing import Any

import pytest

from answerback.agent import Finished
from answerback.errors import DoesNotFit
from answerback.model import Answer, QuestionKind
from tests.flow.langgraph.harness import Harness, only, target, waiting
from tests.flow.langgraph.reviewed import TASK
from tests.flow.langgraph.test_reviews import APPROVE, REJECT, decided, tools

pytestmark = pytest.mark.either_database

ORDER = {"term": "coding", "count": 3}


async def test_a_form_asks_one_question_a_field_and_gives_the_node_its_own_type(harness: Harness) -> None:
    mine = await harness.open("reviewed.py:form")
    asked = only(await mine.start("t", harness.input()))
    assert [(question.id, question.required) for question in asked.questions] == [
        ("term", True),
        ("count", True),
        ("size", False),
        ("zip", False),
    ]
    assert (asked.questions[0].text, asked.context) == ("Which term?", "Please order.")
    ended = await mine.resume("t", target(asked), Answer({**ORDER, "size": "large"}))
    assert isinstance(ended, Finished)
    assert ended.result["heard"] == [{**ORDER, "size": "large", "zip": "1010"}]


@pytest.mark.parametrize("more", [{"zip": "A-1010"}, {"count": 10}, {"term": None}, {"size": "huge"}])
async def test_what_does_not_fit_the_form_is_refused_and_the_question_stays(
    harness: Harness, more: dict[str, Any]
) -> None:
    mine = await harness.open("reviewed.py:form")
    asked = only(await mine.start("t", harness.input()))
    with pytest.raises(DoesNotFit):
        await mine.resume("t", target(asked), Answer(ORDER | more))
    assert await mine.pending("t") == (asked,)
    assert isinstance(await mine.resume("t", target(asked), Answer(ORDER)), Finished)


async def test_a_rule_that_only_the_graph_knows_is_told_when_it_refuses(harness: Harness) -> None:
    mine = await harness.open("reviewed.py:booking")
    asked = only(await mine.start("t", harness.input()))
    with pytest.raises(DoesNotFit, match="Booking: Value error, the first day is after the last"):
        await mine.resume("t", target(asked), Answer({"first": 3, "last": 2}))
    assert isinstance(await mine.resume("t", target(asked), Answer({"first": 2, "last": 3})), Finished)


async def test_a_schema_given_as_json_is_checked_though_langgraph_does_not(harness: Harness) -> None:
    mine = await harness.open("reviewed.py:json_form")
    asked = only(await mine.start("t", harness.input()))
    assert (asked.questions[0].text, asked.questions[0].kind) == ("How heavy?", QuestionKind.NUMBER)
    with pytest.raises(DoesNotFit, match="out of range"):
        await mine.resume("t", target(asked), Answer({"q1": 0}))
    ended = await mine.resume("t", target(asked), Answer({"q1": 4}))
    assert isinstance(ended, Finished)
    assert ended.result["heard"] == [0.25]


async def test_one_interrupt_a_call_offers_what_that_call_allows(harness: Harness) -> None:
    mine = await harness.open("reviewed.py:one_a_call")
    first, second = waiting(await mine.start("t", TASK))
    asked = {each.questions[0].action.name: each for each in (first, second)}
    assert asked["refund"].questions[0].decisions == ("approve", "edit", "reject", "respond")
    assert asked["wipe"].questions[0].decisions == ("approve", "reject")
    wrong = {"decision": "edit", "args": {"customer": "c_8812", "amount": "much"}}
    with pytest.raises(DoesNotFit):
        await mine.resume("t", target(asked["refund"]), decided(wrong))
    state = await mine.resume("t", target(asked["wipe"]), decided(REJECT))
    ended = await mine.resume("t", target(only(state)), decided(APPROVE))
    assert sorted(tools(ended)) == [
        "User rejected the tool call for `wipe` with reason: too much",
        "c_8812 got 100.00",
    ]
