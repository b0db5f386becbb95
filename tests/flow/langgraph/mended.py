"""Graphs whose steps have an error handler, and ask in it what to do; and one that runs out of time."""

import asyncio
from collections.abc import Callable
from typing import Any

from langgraph.errors import NodeError
from langgraph.graph import START, StateGraph
from langgraph.types import interrupt

from tests.flow.langgraph.graphs import State, around, ask_twice, line_of, note, noted

Handler = Callable[[State, NodeError], State]


def pay(state: State) -> State:
    note(state, "pay")
    raise ValueError("the bank is closed")


def ask_and_pay(state: State) -> State:
    note(state, f"pay:{interrupt('Pay 5?')}")
    raise ValueError("the bank is closed")


def ask_twice_and_pay(state: State) -> State:
    note(state, f"pay:{interrupt('Pay 5?')}:{interrupt('From which account?')}")
    raise ValueError("the bank is closed")


def ask_elsewhere_and_pay(state: State) -> State:
    note(state, f"pay:{':'.join(asks_twice.invoke({'log': state['log']})['heard'])}")
    raise ValueError("the bank is closed")


def what_now(state: State, error: NodeError) -> State:
    answer = interrupt("It failed. What now?")
    note(state, f"now:{answer}")
    return {"heard": [answer]}


def what_and_when(state: State, error: NodeError) -> State:
    what, when = interrupt("It failed. What now?"), interrupt("When?")
    note(state, f"now:{what}:{when}")
    return {"heard": [what, when]}


def what_and_fail(state: State, error: NodeError) -> State:
    """Fails itself once it has been answered."""
    answer = interrupt("It failed. What now?")
    if "fell" not in noted(state):
        note(state, "fell")
        raise RuntimeError("that failed as well")
    note(state, f"now:{answer}")
    return {"heard": [answer]}


async def pay_slowly(state: State) -> State:
    """The first time that it is answered, the bank takes for ever."""
    answer = interrupt("Pay 5?")
    note(state, f"told:{answer}")
    if len(noted(state)) == 1:
        await asyncio.Event().wait()
    note(state, f"paid:{answer}")
    return {"heard": [answer]}


def delete(state: State) -> State:
    answer = interrupt("Delete it?")
    note(state, f"delete:{answer}")
    return {"heard": [answer]}


def mended(step: Any, handler: Handler) -> StateGraph[Any]:
    builder = StateGraph(State)
    builder.add_node("pay", step, error_handler=handler)
    builder.add_edge(START, "pay")
    return builder


def beside(graph: StateGraph[Any]) -> StateGraph[Any]:
    """Another step asks at the same time."""
    graph.add_node("delete", delete)
    graph.add_edge(START, "delete")
    return graph


asks_twice = line_of(ask_twice).compile()
told_twice, told_elsewhere = (
    mended(step, what_and_when) for step in (ask_twice_and_pay, ask_elsewhere_and_pay)
)
plain, asked, twice = mended(pay, what_now), mended(ask_and_pay, what_now), mended(pay, what_and_when)
inside, outside = around(mended(ask_and_pay, what_now).compile()), around(pay, error_handler=what_now)
fails = mended(pay, what_and_fail)
timed = StateGraph(State)
timed.add_node("pay", pay_slowly, timeout=0.1)
timed.add_edge(START, "pay")
two = beside(mended(ask_and_pay, what_now))
two_inside = around(beside(mended(ask_and_pay, what_now)).compile())
