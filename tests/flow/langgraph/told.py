"""Graphs whose steps are told something by their context, and keep something in a store."""

from dataclasses import dataclass, field
from typing import Any, NotRequired, TypedDict

from langgraph.graph import START, StateGraph
from langgraph.runtime import Runtime
from langgraph.store.memory import InMemoryStore
from langgraph.types import interrupt


class State(TypedDict, total=False):
    log: str
    heard: str


@dataclass
class Place:
    city: str = "Vienna"
    seen: list[str] = field(default_factory=list)


@dataclass
class Where:
    city: str
    days: int = 3


class Typed(TypedDict):
    city: str
    days: NotRequired[int]


def visit(state: State, runtime: Runtime[Any]) -> State:
    """Asks where and for how long, and says it again once it is answered."""
    told = repr(runtime.context)
    return {"heard": f"{interrupt(told)} {told}"}


def see(state: State, runtime: Runtime[Place]) -> State:
    runtime.context.seen.append("once")
    return {"heard": ",".join(runtime.context.seen)}


def told(schema: Any, step: Any = visit, **compiled: Any) -> Any:
    builder = StateGraph(State, context_schema=schema)
    builder.add_node("step", step)
    builder.add_edge(START, "step")
    return builder.compile(**compiled)


place, where, typed, plain = map(told, (Place, Where, Typed, None))
seeing = told(Place, see)
remembering = told(None, store=InMemoryStore())
