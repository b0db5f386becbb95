"""Graphs with something that fails the first time: what they were told counts when it is tried again."""

import asyncio
from typing import Any

from langchain_core.runnables.config import get_executor_for_config
from langgraph.config import get_config
from langgraph.func import task
from langgraph.graph import START, StateGraph
from langgraph.types import RetryPolicy, interrupt

from tests.flow.langgraph.graphs import State, ask_twice, line_of, note, noted
from tests.flow.langgraph.harness import until

AGAIN = RetryPolicy(initial_interval=0.001, jitter=False, retry_on=ValueError)


def fail_once(state: State, where: str) -> None:
    if f"fell:{where}" not in noted(state):
        note(state, f"fell:{where}")
        raise ValueError(f"{where} is not there now")


def count(state: State) -> State:
    """Fails unless it is given a number."""
    return {"heard": [int(interrupt("How many?"))]}


picky = line_of(count)
asks = line_of(ask_twice).compile()


async def call_and_fail(state: State) -> State:
    given = await asks.ainvoke({"log": state["log"]})
    fail_once(state, "bank")
    return {"heard": given["heard"]}


fails_after_a_call = line_of(call_and_fail)


def asking_tasks() -> tuple[Any, Any, Any]:
    """Made in a function: steps that call two tasks which ask, with what fails behind them; or one task."""

    @task
    async def confirm(state: State, what: str) -> str:
        answer = interrupt(f"{what}?")
        note(state, f"{what}:{answer}")
        return f"{what}:{answer}"

    async def both(state: State) -> State:
        return {"heard": [*await asyncio.gather(confirm(state, "tea"), confirm(state, "milk"))]}

    async def both_and_fail(state: State) -> State:
        heard = await both(state)
        fail_once(state, "shop")
        return heard

    def one(what: str) -> Any:
        async def ask_and_confirm(state: State) -> State:
            interrupt(f"Shall I bring {what}?")
            return {"heard": [await confirm(state, what)]}

        return ask_and_confirm

    return both, both_and_fail, one


both, both_and_fail, one = asking_tasks()
inner = line_of(both_and_fail).compile()


async def call_tasks(state: State) -> State:
    return {"heard": (await inner.ainvoke({"log": state["log"]}))["heard"]}


tasks_within = StateGraph(State)
tasks_within.add_node("step", call_tasks, retry_policy=AGAIN)
tasks_within.add_edge(START, "step")


async def ask_and_call_tasks(state: State) -> State:
    interrupt("Shall I?")
    return await both(state)


in_tasks = StateGraph(State)
for what in ("tea", "milk"):
    in_tasks.add_node(what, one(what))
    in_tasks.add_edge(START, what)


async def fail_beside(state: State) -> State:
    await until(lambda: "slow" in noted(state))
    fail_once(state, "bank")
    return {}


async def begin_slowly(state: State) -> State:
    """The first time it is cut off."""
    note(state, "slow")
    await asyncio.Event().wait() if noted(state).count("slow") == 1 else None
    return await ask_and_call_tasks(state)


cut_off = StateGraph(State)
cut_off.add_node("fail_beside", fail_beside)
cut_off.add_node("begin_slowly", begin_slowly)
cut_off.add_edge(START, "fail_beside")
cut_off.add_edge(START, "begin_slowly")


def look_for(state: State) -> State:
    fail_once(state, f"way-to-{state['topic']}")
    return {}


def find(state: State) -> State:
    fail_once(state, state["topic"])
    return {}


def bring(state: State) -> State:
    note(state, f"brought:{state['topic']}")
    return {"report": state["topic"]}


brings, searches = line_of(bring).compile(), line_of(look_for, find, bring).compile()


def call_three_times(state: State) -> State:
    """Each of what it calls fails twice; it has three tries."""
    agreed = interrupt("Shall I?")
    found = [searches.invoke({"log": state["log"], "topic": each})["report"] for each in "abc"]
    return {"heard": [*found, agreed]}


three_calls = StateGraph(State)
three_calls.add_node("step", call_three_times, retry_policy=AGAIN)
three_calls.add_edge(START, "step")


def call_with_something_else(state: State) -> State:
    """Three graphs, each time with something else, ask, and fail once."""
    note(state, "called")
    count = noted(state).count("called")
    found = [brings.invoke({"log": state["log"], "topic": f"{each}{count}"})["report"] for each in "abc"]
    agreed = interrupt("Shall I?")
    fail_once(state, "bank")
    return {"heard": [*found, agreed]}


changing_calls = StateGraph(State)
changing_calls.add_node("step", call_with_something_else, retry_policy=AGAIN)
changing_calls.add_edge(START, "step")


def ask_and_fail_once(state: State) -> State:
    note(state, f"asks:{state['topic']}")
    answer = interrupt(f"{state['topic']}?")
    if state["topic"] == "a":
        fail_once(state, "a")
    return {"report": f"{state['topic']}:{answer}"}


slowly = StateGraph(State)
slowly.add_node("ask", ask_and_fail_once, retry_policy=RetryPolicy(0.1, jitter=False, retry_on=ValueError))
slowly.add_edge(START, "ask")
tries_slowly = slowly.compile()


async def call_both(state: State) -> State:
    """The second pauses the step while the first, which it waits for, is about to try again."""

    async def call(topic: str) -> str:
        if topic == "b":
            await until(lambda: "fell:a" in noted(state) or noted(state) == ["asks:a"])
        return str((await tries_slowly.ainvoke({"log": state["log"], "topic": topic}))["report"])

    return {"heard": [*await asyncio.gather(call("a"), call("b"))]}


left_trying = line_of(call_both)


def ask_and_fall(state: State) -> State:
    answer = interrupt(f"{state['topic']}?")
    if state["topic"] == "right":
        fail_once(state, "right")
    return {"report": f"{state['topic']}:{answer}"}


falls = line_of(ask_and_fall).compile()


async def call_each(state: State) -> State:
    """One call fails while the other one still waits for it, to pause together."""
    calls = (falls.ainvoke({"log": state["log"], "topic": each}) for each in ("left", "right"))
    return {"heard": [found["report"] for found in await asyncio.gather(*calls)]}


def in_threads(state: State) -> State:
    with get_executor_for_config(get_config()) as executor:
        found = executor.map(
            lambda each: falls.invoke({"log": state["log"], "topic": each}), ("left", "right")
        )
        return {"heard": [each["report"] for each in found]}


falls_beside, falls_beside_in_threads = StateGraph(State), StateGraph(State)
falls_beside.add_node("step", call_each, retry_policy=AGAIN)
falls_beside.add_edge(START, "step")
falls_beside_in_threads.add_node("step", in_threads, retry_policy=AGAIN)
falls_beside_in_threads.add_edge(START, "step")
