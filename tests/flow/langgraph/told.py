"""Graphs whose steps are told something by their context, and keep something in a store."""

from dataclasses import dataclass, field
from typing import Any, NotRequired, TypedDict

import pydantic
from langgraph.graph import START, StateGraph
from langgraph.runtime import Runtime
from langgraph.store.memory import InMemoryStore
from langgraph.types import interrupt


class State(TypedDict, total=False):
    log: str
    heard: str


class Connection:
    """What no file can give."""


@dataclass
class Place:
    city: str = "Vienna"
    days: int = 3
    seen: list[str] = field(default_factory=list)
    connection: Connection | None = None


@dataclass
class Where:
    city: str
    days: int = 3
    _zone: str = ""


class Model(pydantic.BaseModel):
    city: str
    days: int = pydantic.Field(3, ge=1)

    @pydantic.field_validator("city")
    @classmethod
    def exists(cls, city: str) -> str:
        if city == "Atlantis":
            raise ValueError(f"{city} is no city")
        return city


class Typed(TypedDict):
    city: str
    days: NotRequired[int]


@dataclass
class Refusing:
    city: str

    def __post_init__(self) -> None:
        if self.city == "Atlantis":
            raise ValueError(f"{self.city} is no city")


def visit(state: State, runtime: Runtime[Any]) -> State:
    """Asks where and for how long, and says it again once it is answered."""
    told = repr(runtime.context)
    return {"heard": f"{interrupt(told)} {told}"}


def seen(state: State, runtime: Runtime[Place]) -> State:
    runtime.context.seen.append("once")
    return {"heard": ",".join(runtime.context.seen)}


def told(schema: Any, step: Any = visit, **compiled: Any) -> Any:
    builder = StateGraph(State, context_schema=schema)
    builder.add_node("step", step)
    builder.add_edge(START, "step")
    return builder.compile(**compiled)


place, where, model, typed, refusing = map(told, (Place, Where, Model, Typed, Refusing))
plain, marked = told(None), told(Place, seen)
remembering = told(None, store=InMemoryStore())
