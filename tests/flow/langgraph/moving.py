"""Graphs whose steps ask something else when they run again: what a payment costs can change meanwhile."""

import asyncio
from dataclasses import dataclass
from enum import Enum
from pathlib import Path
from typing import Any

from langgraph.func import entrypoint, task
from langgraph.graph import START, StateGraph
from langgraph.types import RetryPolicy, interrupt
from langgraph.types import interrupt as by_another_name
from pydantic import BaseModel

from tests.flow.langgraph.graphs import State, line_of, note, noted


def price(state: Any) -> str:
    return Path(state["log"]).with_name("price").read_text()


def pay(state: State) -> State:
    costs = price(state)
    if interrupt(f"Pay {costs}?") == "yes":
        note(state, f"paid:{costs}")
    return {"report": costs}


async def pay_async(state: State) -> State:
    costs = price(state)
    await asyncio.sleep(0)
    if by_another_name(f"Pay {costs}?") == "yes":
        note(state, f"paid:{costs}")
    return {"report": costs}


def pay_from(state: State) -> State:
    """The price is asked about first, and the account then: this step runs three times."""
    costs = price(state)
    agreed, account = interrupt(f"Pay {costs}?"), interrupt("From which account?")
    if agreed == "yes":
        note(state, f"paid:{costs}:{account}")
    return {"report": costs}


def pay_and_fail(state: State) -> State:
    """Fails after it was answered, and asks something else then."""
    costs = price(state)
    answer = interrupt(f"Pay {costs}?")
    if "failed" not in noted(state):
        note(state, "failed")
        raise ValueError("not now")
    note(state, f"{answer}:{costs}")
    return {"report": costs}


def pay_in_spite(state: State) -> State:
    """What pauses it is swallowed."""
    costs = price(state)
    try:
        answer = interrupt(f"Pay {costs}?")
    except Exception:
        answer = "nobody"
        if costs == "5":
            raise
    note(state, f"{answer}:{costs}")
    return {"report": costs}


def ask_anything(state: State) -> State:
    """Each time it asks something else."""
    note(state, "asked")
    return {"heard": [interrupt({"question": "Go on?", "asked": len(noted(state))})]}


async def ask_at_once(state: State) -> State:
    """Two things, of which the other one comes first when the step runs again."""

    async def about(thing: str, turns: int) -> str:
        for _ in range(turns):
            await asyncio.sleep(0)
        return str(interrupt(f"Delete {thing}?"))

    note(state, "run")
    again = len(noted(state)) % 2 == 0
    old, new = await asyncio.gather(about("old", 5 if again else 0), about("new", 0 if again else 5))
    note(state, f"old:{old}")
    note(state, f"new:{new}")
    return {}


@task
def pay_task(given: dict[str, Any]) -> str:
    costs = price(given)
    if interrupt(f"Pay {costs}?") == "yes":
        note(given, f"paid:{costs}")
    return costs


@entrypoint()
def paying_task(given: dict[str, Any]) -> dict[str, Any]:
    return {"report": pay_task(given).result()}


def pay_inside(state: State) -> State:
    """By a graph that it calls."""
    return {"report": sync.invoke(state)["report"]}


def around(inner: Any) -> StateGraph[Any]:
    builder = StateGraph(State)
    builder.add_node("inner", inner)
    builder.add_edge(START, "inner")
    return builder


sync, asynchronous = line_of(pay).compile(), line_of(pay_async).compile()
inside, called = around(line_of(pay).compile()), line_of(pay_inside)
account, account_inside = line_of(pay_from), around(line_of(pay_from).compile())
failing, swallowing, restless, at_once = (
    line_of(step) for step in (pay_and_fail, pay_in_spite, ask_anything, ask_at_once)
)
tried_again = StateGraph(State)
tried_again.add_node("pay", pay_and_fail, retry_policy=RetryPolicy(initial_interval=0, retry_on=ValueError))
tried_again.add_edge(START, "pay")


def _version(question: str) -> StateGraph[Any]:
    def step(state: State) -> State:
        return {"heard": [interrupt(question)]}

    return line_of(step)


version_one, version_two = _version("Delete the copy?"), _version("Delete the original?")


class Size(Enum):
    SMALL = "small"


@dataclass(frozen=True)
class Item:
    name: str
    sizes: tuple[Size, ...]


class Order(BaseModel):
    items: list[Item]
    tags: set[str]
    more: dict[str, Any]


def ask_with_objects(state: State) -> State:
    items = [Item("tea", (Size.SMALL,))]
    order = Order(items=items, tags={"a", "b", "c", "d"}, more={"at": (1, 2.5, None)})
    return {"heard": [interrupt({"question": "Send it?", "order": order, "size": Size.SMALL, "all": (1, 2)})]}


objects = line_of(ask_with_objects)
