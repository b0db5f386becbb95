"""Values at the border: payloads and results become JSON, poison is refused, errors are one clean line."""

import dataclasses
import datetime
import enum
import json
import uuid
from typing import Any

import pytest
from langchain_core.messages import AIMessage, HumanMessage
from pydantic import BaseModel, ValidationError

from answerback.agent import digest
from answerback.errors import DoesNotFit
from answerback_agents.langgraph import values
from answerback_agents.langgraph.asked import id_of


class Colour(enum.StrEnum):
    RED = "red"


class Model(BaseModel):
    name: str
    parts: list[Any]


@dataclasses.dataclass
class Part:
    colour: Colour
    at: datetime.date


def test_models_and_dataclasses_become_objects() -> None:
    part = Part(Colour.RED, datetime.date(2026, 11, 21))
    assert values.plain(Model(name="x", parts=[part, (1, 2), {3}])) == {
        "name": "x",
        "parts": [{"colour": "red", "at": "2026-11-21"}, [1, 2], [3]],
    }


def test_messages_become_who_says_what() -> None:
    call = {"name": "search", "args": {"q": "x"}, "id": "1", "type": "tool_call"}
    shown = values.plain([HumanMessage("hi"), AIMessage("", tool_calls=[call])])
    assert shown[0] == {"type": "human", "content": "hi"}
    assert shown[1]["tool_calls"] == [call]


def test_anything_becomes_json_and_equal_things_get_the_same_digest() -> None:
    def odd() -> Any:
        return {1: object(), "u": uuid.UUID(int=1), "b": b"x", "n": float("nan"), "s": {"b", "a"}, None: ...}

    shown = values.storable(values.plain(odd()))
    assert json.loads(json.dumps(shown, allow_nan=False)) == shown
    assert digest(values.plain(odd())) == digest(values.plain(odd()))


def test_what_contains_itself_comes_to_an_end() -> None:
    loop: list[Any] = []
    loop.append(loop)
    assert "…" in json.dumps(values.plain(loop), ensure_ascii=False)


def test_what_no_store_takes_is_replaced_in_what_is_shown() -> None:
    assert values.storable(["a\x00", {"\ud83d": 2**70}]) == ["a\ufffd", {"\ufffd": str(2**70)}]


@pytest.mark.parametrize("value", [2**64, -(2**63) - 1, float("inf"), "\x00", "\udc00", {1: 2}, {"a": [b""]}])
def test_poison_is_refused(value: Any) -> None:
    with pytest.raises(DoesNotFit):
        values.check(value)


@pytest.mark.parametrize("value", [None, False, 0, "", {}, [], 2**63, "é\n", {"a": [1.5, None]}])
def test_ordinary_values_pass(value: Any) -> None:
    values.check(value)


def test_an_error_is_one_line_without_answers_and_credentials() -> None:
    error = ValueError("bad coding in recoding, api_key=abc and https://me:pw@host/x\nTraceback …")
    line = values.error_line(error, [{"content": "coding"}])
    assert line == "ValueError: bad … in recoding, api_key=… and https://…@host/x"
    assert values.error_line(KeyError()) == "KeyError"
    assert values.error_line(KeyError("draft")) == "KeyError: 'draft'"
    assert len(values.error_line(ValueError("x" * 1000))) == values.LONGEST_ERROR


def test_data_that_does_not_fit_a_model_is_named_by_its_place_and_never_shown() -> None:
    with pytest.raises(ValidationError) as caught:
        Model.model_validate({"name": 12345, "secret": "hunter2"})
    line = values.error_line(caught.value)
    assert line == "ValidationError: Model: name: Input should be a valid string; parts: Field required"


def test_interrupt_ids_are_made_as_langgraph_makes_them() -> None:
    from langgraph.types import _interrupt_id

    for place, answered in (("ask:1", 0), ("a:1|b:2", 3)):
        assert id_of(place, answered) == _interrupt_id(place, answered)
