"""The graph that is measured: one question with two choices, and the answer as the result."""

from typing import Any, TypedDict

from langgraph.graph import END, START, StateGraph
from langgraph.types import interrupt


class State(TypedDict, total=False):
    number: int
    answer: Any


def _ask(state: State) -> State:
    return {"answer": interrupt({"question": "Shall I go on?", "choices": ["Yes", "No"]})}


def graph() -> Any:
    builder = StateGraph(State)
    builder.add_node("ask", _ask)
    builder.add_edge(START, "ask")
    builder.add_edge("ask", END)
    return builder
