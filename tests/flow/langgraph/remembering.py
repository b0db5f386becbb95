"""Graphs that remember (`checkpointer=True`: one history for a whole thread), as a step that comes again."""

from typing import Any

from langgraph.graph import END, START, StateGraph

from tests.flow.langgraph.graphs import State, ask, danger, line_of, note


def finish(state: State) -> State:
    note(state, "finished")
    return {}


def in_turns(inner: Any) -> StateGraph[Any]:
    """It asks, and does what `inner` does, as often as it is told something else than "enough"."""
    builder = StateGraph(State)
    builder.add_node("ask", ask)
    builder.add_node("inner", inner)
    builder.add_edge(START, "ask")
    builder.add_edge("ask", "inner")
    builder.add_conditional_edges("inner", lambda state: END if "enough" in state["heard"] else "ask")
    return builder


remembers = line_of(danger, finish).compile(checkpointer=True)
before = in_turns(remembers).compile(interrupt_before=["inner"])
after = in_turns(remembers).compile(interrupt_after=["ask"])
inside = in_turns(line_of(danger, finish).compile(checkpointer=True, interrupt_before=["finish"]))
