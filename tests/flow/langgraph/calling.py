"""Graphs whose steps call graphs that ask, as step functions do: in any order, with anything, kept or not."""

import asyncio
import random
from collections.abc import Callable
from typing import Any

from langgraph.checkpoint.memory import InMemorySaver
from langgraph.func import entrypoint
from langgraph.graph import END, START, StateGraph
from langgraph.managed import RemainingSteps
from langgraph.types import RetryPolicy, Send, interrupt

from tests.flow.langgraph.graphs import State, around, line_of, note, noted

Pay = Callable[[State, int], Any]


class Bounded(State):
    """A state that also tells how many steps remain: fewer each time."""

    remaining: RemainingSteps


def confirm(state: State) -> State:
    """Whether to pay what it was called with: the last amount that it knows of."""
    return {"heard": [interrupt(f"Pay {state['heard'][-1]}?")]}


def measure(state: State) -> State:
    return {"heard": [len(state["heard"])]}


def bounded_confirm(state: Bounded) -> State:
    return {"heard": [interrupt("Pay?")]}


def agreed(inner: Any) -> Pay:
    """Pays an amount if the inner graph, which asks, says so."""

    async def pay(state: State, amount: int) -> None:
        given = await inner.ainvoke({"log": state["log"], "heard": [str(amount)]})
        note(state, f"{amount}:{given['heard'][-1]}")

    return pay


def tries(state: State) -> int:
    note(state, "tried")
    return noted(state).count("tried")


def one_step(step: Any, schema: Any = State) -> StateGraph[Any]:
    builder = StateGraph(schema)
    builder.add_node("step", step)
    builder.add_edge(START, "step")
    return builder


def looked_up(pay: Pay) -> StateGraph[Any]:
    """What to pay is looked up each time that the step runs: 1, then 2."""

    async def step(state: State) -> State:
        await pay(state, tries(state))
        return {}

    return one_step(step)


def racing(pay: Pay, first: list[int], then: list[int]) -> StateGraph[Any]:
    """These are paid at the same time. First they come in one order, and then in another."""

    async def step(state: State) -> State:
        amounts = first if tries(state) == 1 else then
        await asyncio.gather(*(pay(state, amount) for amount in amounts))
        return {}

    return one_step(step)


def shuffled(inner: Any, *, in_threads: bool) -> StateGraph[Any]:
    """Up to four amounts, some of them equal, are paid at the same time, each time in another order."""

    async def step(state: State) -> State:
        made = random.Random(state["topic"])  # noqa: S311
        mixed = random.Random(f"{state['topic']}-{tries(state)}")  # noqa: S311
        amounts = [str(made.randint(1, 3)) for _ in range(made.randint(2, 4))]
        paid: dict[int, str] = {}

        async def pay(place: int) -> None:
            given = {"log": state["log"], "heard": [amounts[place]]}
            for _ in range(mixed.randint(0, 2)):
                await asyncio.sleep(0)
            ran = asyncio.to_thread(inner.invoke, given) if in_threads else inner.ainvoke(given)
            paid[place] = (await ran)["heard"][-1]

        places = mixed.sample(range(len(amounts)), len(amounts))
        await asyncio.gather(*(pay(place) for place in places))
        return {"heard": [[amounts[place], paid[place]] for place in sorted(paid)]}

    return one_step(step)


def leaving(pay: Pay) -> StateGraph[Any]:
    """The first time, 6 comes only when the step runs again: by what that has left running."""

    async def late(state: State, amount: int, when: int) -> None:
        while noted(state).count("tried") == when == 1:  # noqa: ASYNC110
            await asyncio.sleep(0)
        try:
            await pay(state, amount)
        except RuntimeError as error:
            note(state, type(error).__name__)

    async def step(state: State) -> State:
        when = tries(state)
        await asyncio.gather(pay(state, 5), late(state, 6, when))
        return {}

    return one_step(step)


async def hold_on(state: State) -> State:
    note(state, "began")
    while "on" not in noted(state):  # noqa: ASYNC110
        await asyncio.sleep(0.001)
    note(state, "ended")
    return {}


def together(pay: Pay) -> StateGraph[Any]:
    """5 and 6 are paid at the same time, and 5 always comes first."""

    async def step(state: State) -> State:
        await asyncio.gather(pay(state, 5), pay(state, 6))
        return {}

    return one_step(step)


def threaded(inner: Any) -> StateGraph[Any]:
    """A sync step calls it, 5 and then 6."""

    def step(state: State) -> State:
        for amount in (5, 6):
            given = inner.invoke({"log": state["log"], "heard": [str(amount)]})
            note(state, f"{amount}:{given['heard'][-1]}")
        return {}

    return one_step(step)


def at_work(pay: Pay, worker: Any) -> StateGraph[Any]:
    """5 is asked about while another graph is at work, which goes on with that when the step has paused."""

    async def step(state: State) -> State:
        tries(state)
        await asyncio.gather(worker.ainvoke({"log": state["log"], "heard": []}), pay(state, 5))
        return {}

    return one_step(step)


def ask_as_before(state: State) -> State:
    """Asks twice by the `interrupt` that somebody took from LangGraph before it was ours."""
    ask = getattr(interrupt, "__wrapped__")  # noqa: B009
    return {"heard": [ask("First?"), ask("Second?")]}


asked_as_before = line_of(ask_as_before)


@entrypoint()
def confirm_amount(given: dict[str, Any]) -> dict[str, Any]:
    return {"heard": [interrupt(f"Pay {given['heard'][-1]}?")]}


def when(state: State) -> State:
    answer, amount = state["heard"][-1], state["heard"][-2]
    return {"heard": [[answer, interrupt(f"When to pay {amount}?")]]}


asks, whole, nothing = (line_of(confirm).compile(checkpointer=kept) for kept in (None, True, False))
asks_twice = line_of(confirm, when).compile()
shuffled_tasks, shuffled_threads = (shuffled(asks_twice, in_threads=threads) for threads in (False, True))
own = line_of(confirm).compile(checkpointer=InMemorySaver())
silent, silent_whole, silent_nothing = (
    line_of(measure).compile(checkpointer=kept) for kept in (None, True, False)
)

changed, changed_whole = looked_up(agreed(asks)), looked_up(agreed(whole))
changed_function = looked_up(agreed(confirm_amount))
left = leaving(agreed(asks))
left_at_work = at_work(agreed(asks), line_of(hold_on).compile())
raced, raced_whole = (racing(agreed(kept), [5, 6], [6, 5]) for kept in (asks, whole))
raced_equal = racing(agreed(asks), [6, 5, 5], [5, 5, 6])
paid_together, paid_together_whole = together(agreed(asks)), together(agreed(whole))
one_by_one, one_by_one_whole, one_by_one_own = threaded(asks), threaded(whole), threaded(own)


async def classify_and_ask(state: State) -> State:
    """Calls a graph that asks nothing, each time with something else, and asks itself."""
    given = await silent.ainvoke({"log": state["log"], "heard": ["x"] * tries(state)})
    return {"heard": [given["heard"][-1], interrupt("Pay?")]}


def charge(state: State) -> State:
    note(state, "charged")
    return {}


def fall_once(state: State) -> State:
    if "fell" not in noted(state):
        note(state, "fell")
        raise ValueError("not now")
    return {}


charges = line_of(charge, fall_once).compile()


async def charge_anew(state: State) -> State:
    """Calls a graph that asks nothing, each time with something else."""
    await charges.ainvoke({"log": state["log"], "heard": [tries(state)]})
    return {}


async def charge_twice_and_ask(state: State) -> State:
    """Calls it twice, each time with something else, and asks itself."""
    number = tries(state)
    for amount in (number, 10 * number):
        await silent_charges.ainvoke({"log": state["log"], "heard": [amount]})
    return {"heard": [interrupt("Charged. A receipt?")]}


silent_charges = line_of(charge).compile()
charged_twice = one_step(charge_twice_and_ask)
classified, half_done = one_step(classify_and_ask), one_step(charge_anew)
bounded_line = StateGraph(Bounded)
bounded_line.add_node("ask", bounded_confirm)
bounded_line.add_edge(START, "ask")
bounded_inner = bounded_line.compile()


async def pass_on(state: Bounded) -> State:
    return {"heard": (await bounded_inner.ainvoke(state))["heard"]}


bounded_called, bounded_step = one_step(pass_on, Bounded), one_step(bounded_inner, Bounded)


def twice_at_once(inner: Any) -> StateGraph[Any]:
    """Two steps of one kind run it at the same time."""

    def both(state: State) -> list[Send]:
        return [Send("inner", {"log": state["log"], "heard": [amount]}) for amount in ("5", "6")]

    def step(state: State) -> State:
        given = inner.invoke(state)["heard"]
        note(state, f"{state['heard'][0]}:{given[-1]}")
        return {"heard": [given[-1]]}

    builder = StateGraph(State)
    builder.add_node("inner", step)
    builder.add_conditional_edges(START, both, ["inner"])
    return builder


sent, sent_whole, sent_silent_whole = twice_at_once(asks), twice_at_once(whole), twice_at_once(silent_whole)
sent_around_whole = twice_at_once(around(whole).compile())


def again(inner: Any) -> StateGraph[Any]:
    """Runs it in one step after the other: with 5, and then with 6, where it fails before it does."""

    async def step(state: State) -> State:
        paid = [line for line in noted(state) if ":" in line]
        if paid and "fell" not in noted(state):
            note(state, "fell")
            raise ValueError("not now")
        await agreed(inner)(state, 6 if paid else 5)
        return {}

    def goes_on(state: State) -> str:
        return "step" if "fell" not in noted(state) else END

    builder = one_step(step)
    builder.add_conditional_edges("step", goes_on, ["step", END])
    return builder


again_whole, again_silent_whole = again(whole), again(silent_whole)
kept_nowhere, kept_nowhere_called = around(nothing), looked_up(agreed(nothing))
kept_nowhere_silent, kept_nowhere_silent_called = around(silent_nothing), threaded(silent_nothing)


def pay_in_two_tries(state: State) -> State:
    """Fails once after somebody has agreed, then asks for a receipt."""
    agreed = interrupt("Pay?")
    note(state, f"pay:{agreed}")
    if noted(state).count(f"pay:{agreed}") == 1:
        raise ConnectionError
    note(state, f"receipt:{interrupt('A receipt?')}")
    return {}


def call_out(state: State) -> State:
    note(state, "calls")
    if noted(state).count("calls") == 1:
        raise ConnectionError
    return {}


def stepped(inner: Any) -> Any:
    async def step(state: State) -> State:
        await inner.ainvoke({"log": state["log"], "heard": ["1"]})
        return {}

    return step


AGAIN = RetryPolicy(initial_interval=0.001)
two_tries = line_of(pay_in_two_tries).compile()
tried_as_node, tried_in_step = (around(step, retry_policy=AGAIN) for step in (two_tries, stepped(two_tries)))
tried_deeper = around(around(two_tries).compile(), retry_policy=AGAIN)
agent_tried = around(stepped(line_of(confirm, call_out).compile()), retry_policy=AGAIN)


def asking(what: str) -> Callable[[State], State]:
    def ask(state: State) -> State:
        return {"heard": [interrupt(f"{what} for {state['heard'][0]}?")]}

    return ask


def two_at_once() -> StateGraph[Any]:
    builder = StateGraph(State)
    for what in ("Money", "Time"):
        builder.add_node(what, asking(what))
        builder.add_edge(START, what)
    return builder


def at_once(call: Callable[[list[State]], Any]) -> StateGraph[Any]:
    """A graph that asks two things is called for 5 and for 6 at the same time."""

    async def step(state: State) -> State:
        found = await call([{"log": state["log"], "heard": [amount]} for amount in ("5", "6")])
        return {"heard": [each["heard"] for each in found]}

    return one_step(step)


def at_once_in_threads(inner: Any) -> StateGraph[Any]:
    def step(state: State) -> State:
        found = inner.batch([{"log": state["log"], "heard": [amount]} for amount in ("5", "6")])
        return {"heard": [each["heard"] for each in found]}

    return one_step(step)


asks_two = two_at_once().compile()
two_gathered = at_once(lambda given: asyncio.gather(*map(asks_two.ainvoke, given)))
two_batched, two_threaded = at_once(asks_two.abatch), at_once_in_threads(asks_two)


async def confirm_slowly(state: State) -> State:
    amount = state["heard"][-1]
    answer = interrupt(f"Pay {amount}?")
    note(state, "told")
    while "on" not in noted(state):  # noqa: ASYNC110
        await asyncio.sleep(0.001)
    return {"heard": [answer]}


async def look_up_and_confirm(state: State) -> State:
    """Looks 6 up for a while."""
    amount = state["heard"][-1]
    await asyncio.sleep(0.1 if amount == "6" else 0)
    return {"heard": [interrupt(f"Pay {amount}?")]}


looked_up_together = together(agreed(line_of(look_up_and_confirm).compile()))
slow_together = together(agreed(line_of(confirm_slowly).compile()))

raced_beside = racing(agreed(asks), [5, 6], [6, 5])
raced_beside.add_node("other", lambda state: {"heard": [interrupt("Other?")]})
raced_beside.add_edge(START, "other")
