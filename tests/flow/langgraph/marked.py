"""A graph that keeps stand-ins out of one of its two questions."""

from typing import Any, TypedDict

from langgraph.graph import START, StateGraph
from langgraph.types import interrupt


class State(TypedDict, total=False):
    heard: list[Any]
    by: list[Any]


def ask(state: State) -> State:
    first = interrupt({"question": "Which colour?"})
    second = interrupt({"question": "Which name?", "human_only": True})
    by = [first.get("answered_by"), second.get("answered_by")]
    return {"heard": [first["content"], second["content"]], "by": by}


graph = StateGraph(State).add_node(ask).add_edge(START, "ask").compile()
