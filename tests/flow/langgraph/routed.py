"""Graphs in which a question stands where a step is chosen, or in a step that LangGraph hides."""

import asyncio
from typing import Any

from langchain_core.runnables import RunnableLambda
from langgraph.constants import TAG_HIDDEN
from langgraph.graph import START, StateGraph
from langgraph.types import interrupt

from tests.flow.langgraph.graphs import State, around, line_of, note, noted
from tests.flow.langgraph.harness import until


def which_way(state: State) -> str:
    answer = interrupt("Left or right?")
    note(state, f"way:{answer}")
    return "left" if answer == "left" else "right"


def which_way_twice(state: State) -> str:
    first, second = interrupt("Left or right?"), interrupt("Really?")
    note(state, f"way:{first}:{second}")
    return "left" if (first, second) == ("left", "yes") else "right"


def which_way_by_now(state: State) -> str:
    """Words its question by how often it was asked."""
    note(state, "way")
    interrupt(f"Left or right, for the {min(noted(state).count('way'), 2)}. time?")
    return "left"


def which_way_at_last(state: State) -> str:
    """Fails the first time that it is answered."""
    answer = interrupt("Left or right?")
    note(state, f"way:{answer}")
    if noted(state).count(f"way:{answer}") == 1:
        raise ValueError("there is no way yet")
    return "left" if answer == "left" else "right"


def which_way_asking_nobody(state: State) -> str:
    """Fails the first time."""
    note(state, "way")
    if noted(state).count("way") == 1:
        raise ValueError("there is no way yet")
    return "left"


async def which_way_for_ever(state: State) -> str:
    """The first time it is cut off by what fails beside it."""
    note(state, "way")
    if noted(state).count("way") == 1:
        await asyncio.Event().wait()
    return "left"


async def fail_beside(state: State) -> State:
    await until(lambda: "way" in noted(state))
    note(state, "beside")
    if noted(state).count("beside") == 1:
        raise ValueError("not now")
    return {}


def work(state: State) -> State:
    note(state, "work")
    return {"heard": ["work"]}


def left(state: State) -> State:
    return {"heard": ["left"]}


def right(state: State) -> State:
    return {"heard": ["right"]}


def leading(way: Any, *, after: Any = None) -> StateGraph[Any]:
    """`way` leads to one of two steps: at the start, or after another one."""
    builder = StateGraph(State)
    builder.add_node("left", left)
    builder.add_node("right", right)
    if after is not None:
        builder.add_node("after", after)
        builder.add_edge(START, "after")
    builder.add_conditional_edges(START if after is None else "after", way, ["left", "right"])
    return builder


def ask(state: State) -> State:
    return {"heard": [interrupt("Left or right?")]}


async def call(state: State) -> State:
    return {"heard": (await failing_after.compile().ainvoke({"log": state["log"]}))["heard"]}


def call_in_thread(state: State) -> State:
    return {"heard": failing_beside.compile().invoke({"log": state["log"]})["heard"]}


at_start, after_a_step = leading(which_way), leading(which_way, after=work)
inside = around(leading(which_way).compile())
twice, twice_inside = leading(which_way_twice), around(leading(which_way_twice).compile())
changing, failing = leading(which_way_by_now), leading(which_way_at_last)
failing_after = leading(which_way_asking_nobody, after=work)
failing_beside = leading(which_way_asking_nobody, after=work)
failing_beside.add_node("beside", lambda state: {})
failing_beside.add_edge(START, "beside")
failing_inside = around(failing_after.compile())
failing_called, failing_called_in_thread = line_of(call), line_of(call_in_thread)
cut_off = leading(which_way_for_ever, after=work)
cut_off.add_node("beside", fail_beside)
cut_off.add_edge(START, "beside")
hidden = StateGraph(State)
hidden.add_node("ask", RunnableLambda(ask).with_config(tags=[TAG_HIDDEN]))
hidden.add_edge(START, "ask")
