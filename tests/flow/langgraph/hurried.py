"""A graph that sets a deadline for each of its questions."""

from typing import Any, TypedDict

from langgraph.graph import START, StateGraph
from langgraph.types import interrupt


class State(TypedDict, total=False):
    heard: list[Any]


def ask(state: State) -> State:
    choice = {"question": "Which colour?", "choices": ["red", "green"]}
    first = interrupt({**choice, "expires_in": "10m", "on_expire": "default", "default": "green"})
    second = interrupt({"question": "Which name?", "expires_in": 60})
    return {"heard": [first, second]}


graph = StateGraph(State).add_node(ask).add_edge(START, "ask").compile()
