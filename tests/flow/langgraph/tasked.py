"""Functions that call tasks which ask: in any order, with anything."""

import asyncio
import random
from typing import Any

from langgraph.func import entrypoint, task
from langgraph.graph import START, StateGraph
from langgraph.types import RetryPolicy, interrupt

from tests.flow.langgraph.calling import tries
from tests.flow.langgraph.graphs import State, note, noted

Given = dict[str, Any]


@task
async def confirm(amount: int) -> Any:
    return interrupt(f"Pay {amount}?")


@task
async def charge(given: Given, amount: int) -> int:
    note(given, "charged")
    return amount


async def pay(given: Given, amount: int) -> None:
    answer = await confirm(amount)
    note(given, f"{amount}:{answer}")


@entrypoint()
async def changed(given: Given) -> Given:
    """What to pay is looked up each time: at first 1, and 2 once that was agreed."""
    await pay(given, 1 if tries(given) <= 2 else 2)
    return {"heard": [interrupt("A receipt?")]}


@entrypoint()
async def raced(given: Given) -> Given:
    """5 and 6 are paid at the same time: at first 5 is quicker, and later 6."""
    amounts = [5, 6] if tries(given) <= 2 else [6, 5]
    await asyncio.gather(*(pay(given, amount) for amount in amounts))
    return {}


@entrypoint()
async def equal(given: Given) -> Given:
    """5 is paid twice, beside 6: at first 6 comes first, and later last."""
    amounts = [6, 5, 5] if tries(given) <= 2 else [5, 5, 6]
    await asyncio.gather(*(pay(given, amount) for amount in amounts))
    return {}


@entrypoint()
async def charged(given: Given) -> Given:
    """Something else is charged each time."""
    await charge(given, tries(given))
    return {"heard": [interrupt("A receipt?")]}


@task
async def confirm_twice(amount: int) -> Any:
    return [interrupt(f"Pay {amount}?"), interrupt(f"When to pay {amount}?")]


@task
async def look_up(amount: int) -> int:
    await asyncio.sleep(0)
    return amount


@entrypoint()
async def shuffled(given: Given) -> Given:
    """Up to four amounts, some of them equal, are paid at the same time, each time in another order."""
    made = random.Random(given["topic"])  # noqa: S311
    mixed = random.Random(f"{given['topic']}-{tries(given)}")  # noqa: S311
    amounts = [made.randint(1, 3) for _ in range(made.randint(2, 4))]

    async def one(amount: int) -> Any:
        for _ in range(mixed.randint(0, 2)):
            await asyncio.sleep(0)
        return [amount, await confirm_twice(await look_up(amount))]

    places = mixed.sample(range(len(amounts)), len(amounts))
    paid = await asyncio.gather(*(one(amounts[place]) for place in places))
    return {"heard": paid}


async def race(state: State) -> State:
    amounts = [5, 6] if tries(state) <= 2 else [6, 5]
    await asyncio.gather(*(pay({"log": state["log"]}, amount) for amount in amounts))
    return {}


raced_in_a_step = StateGraph(State)
raced_in_a_step.add_node("race", race)
raced_in_a_step.add_edge(START, "race")
raced_in_an_inner_graph = StateGraph(State)
raced_in_an_inner_graph.add_node("inner", raced_in_a_step.compile())
raced_in_an_inner_graph.add_edge(START, "inner")


@task
async def call_out(given: Given) -> None:
    note(given, "calls")
    if noted(given).count("calls") <= 2:
        raise ConnectionError


@task
async def pay_both(given: Given) -> list[str]:
    """Two payments in a task of their own."""
    return list(await asyncio.gather(agree(given, 7), agree(given, 8)))


@task
async def agree(given: Given, amount: int) -> str:
    agreed = str(interrupt(f"Pay {amount}?"))
    note(given, f"{amount}:{agreed}")
    return agreed


async def pay_in_tasks(state: State) -> State:
    given: Given = {"log": state["log"]}
    both, _ = await asyncio.gather(pay_both(given), call_out(given))
    note(given, ",".join(both))
    return {}


async def pay_and_call_out(state: State) -> State:
    """What is called out for fails twice, while it is asked about 5 and something is charged."""
    given: Given = {"log": state["log"]}
    await asyncio.gather(pay(given, 5), charge(given, 1), call_out(given))
    return {}


retried = StateGraph(State)
retried.add_node("step", pay_and_call_out, retry_policy=RetryPolicy(initial_interval=0.001))
retried.add_edge(START, "step")

retried_deeper = StateGraph(State)
retried_deeper.add_node("step", pay_in_tasks, retry_policy=RetryPolicy(initial_interval=0.001))
retried_deeper.add_edge(START, "step")
