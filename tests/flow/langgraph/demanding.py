"""Graphs whose forms demand more of an answer than its kind: in a model, and as JSON Schema."""

from pathlib import Path
from typing import Annotated, Any

import pydantic
from langgraph.types import interrupt

from tests.flow.langgraph.graphs import State, line_of, note

CODE = {"type": "string", "minLength": 4, "maxLength": 4, "pattern": "^[A-Z]+$", "examples": ["KQZX"]}


class Booking(pydantic.BaseModel):
    """What a model says of its fields."""

    code: Annotated[str, pydantic.Field(min_length=4, max_length=4, pattern="^[A-Z]+$")]
    seats: Annotated[int, pydantic.Field(gt=0, multiple_of=2)]
    mail: Annotated[str, pydantic.Field(json_schema_extra={"format": "email"})] = ""
    tags: Annotated[list[str], pydantic.Field(max_length=2)] = []


def book(state: State) -> State:
    given = interrupt("Please book.", response_schema=Booking)
    note(state, "booked")
    return {"heard": [given.model_dump()]}


def code(state: State) -> State:
    note(state, "asked")
    given = interrupt("Which code?", response_schema=CODE)
    note(state, f"heard:{given}")
    return {"heard": [given]}


def crossed(state: State) -> State:
    most = 9 if Path(f"{state['log']}.fixed").exists() else 3
    schema: dict[str, Any] = {"type": "string", "minLength": 5, "maxLength": most}
    return {"heard": [interrupt("Which code?", response_schema=schema)]}


def odd(state: State) -> State:
    schema: dict[str, Any] = {"type": "string", "minLength": "5", "pattern": "^(?=a)"}
    return {"heard": [interrupt("Which code?", response_schema=schema)]}


booking, one_code = line_of(book), line_of(code)
impossible, unusable = line_of(crossed), line_of(odd)
