"""A graph that asks twice, and is at work for a while after each answer."""

import operator
import time
from typing import Annotated, Any, TypedDict

from langgraph.graph import END, START, StateGraph
from langgraph.types import interrupt

WORKS = 0.1  # seconds


class State(TypedDict, total=False):
    run: str
    heard: Annotated[list[Any], operator.add]
    steps: Annotated[int, operator.add]


def first(state: State) -> State:
    return {"heard": [interrupt(f"First of {state['run']}?")]}


def second(state: State) -> State:
    return {"heard": [interrupt(f"Second of {state['run']}?")]}


def work(state: State) -> State:
    """Changes another value than the answers: these are stored with an earlier checkpoint."""
    time.sleep(WORKS)
    return {"steps": 1}


graph = StateGraph(State)
graph.add_node(first)
graph.add_node(second)
graph.add_node("work", work)
graph.add_node("more_work", work)
graph.add_edge(START, "first")
graph.add_edge("first", "work")
graph.add_edge("work", "second")
graph.add_edge("second", "more_work")
graph.add_edge("more_work", END)
