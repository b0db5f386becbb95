"""A graph that asks twice and writes down, outside of everything, each answer that it was given."""

import asyncio
from pathlib import Path
from typing import Any, TypedDict

from langgraph.graph import END, START, StateGraph
from langgraph.types import interrupt


class State(TypedDict, total=False):
    folder: str
    run: str
    heard: list[Any]


def note(state: State, line: str) -> None:
    """One line in the run's journal, which belongs to no process."""
    with Path(state["folder"], state["run"]).open("a") as journal:
        journal.write(line + "\n")


async def first(state: State) -> State:
    """Takes its answer; then stays in this step for as long as a gate stands before it."""
    answer = interrupt({"question": f"First of {state['run']}?", "choices": ["Yes", "No"]})
    note(state, f"first {answer['choice']}")
    gate = Path(state["folder"], f"{state['run']}.gate")
    while gate.exists():  # noqa: ASYNC110 - it is opened by another process
        await asyncio.sleep(0.01)
    return {"heard": [answer["choice"]]}


def second(state: State) -> State:
    answer = interrupt({"question": f"Second of {state['run']}?", "choices": ["Yes", "No"]})
    note(state, f"second {answer['choice']}")
    return {"heard": [*state["heard"], answer["choice"]]}


graph = StateGraph(State)
graph.add_node(first)
graph.add_node(second)
graph.add_edge(START, "first")
graph.add_edge("first", "second")
graph.add_edge("second", END)
