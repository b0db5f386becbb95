"""Graphs on the server: they write what they do to the file that their input names in `log`."""

import asyncio
import operator
import time
from pathlib import Path
from typing import Annotated, Any, TypedDict

from langgraph.cache.memory import InMemoryCache
from langgraph.graph import END, START, StateGraph
from langgraph.types import CachePolicy, interrupt


class State(TypedDict, total=False):
    log: str
    gate: str
    answers: Annotated[list[Any], operator.add]
    folder: str
    run: str


def note(state: State, line: str) -> None:
    with Path(state["log"]).open("a") as file:
        file.write(line + "\n")


def lines(state: State) -> list[str]:
    return Path(state["log"]).read_text().splitlines() if Path(state["log"]).exists() else []


def _compiled(*nodes: Any, **more: Any) -> Any:
    builder = StateGraph(State)
    for before, node in zip([START, *(node.__name__ for node in nodes)], nodes, strict=False):
        builder.add_node(node.__name__, node)
        builder.add_edge(before, node.__name__)
    builder.add_edge(nodes[-1].__name__, END)
    return builder.compile(**more)


def two(state: State) -> State:
    first = interrupt({"question": "First?"})
    second = interrupt({"question": "Second?"})
    note(state, f"two:{first['content']},{second['content']}")
    return {"answers": [first["content"], second["content"]]}


def ask(state: State) -> State:
    answer = interrupt("Go on?")
    note(state, f"ask:{answer}")
    return {"answers": [answer]}


def danger(state: State) -> State:
    note(state, "danger")
    return {"answers": ["danger"]}


def more_danger(state: State) -> State:
    note(state, "more_danger")
    return {"answers": ["more danger"]}


def picky(state: State) -> State:
    answer = interrupt("A number?")
    note(state, f"picky:{answer}")
    if not answer.isdigit():
        raise ValueError(f"{answer} is no number")
    return {"answers": [int(answer)]}


def slow(state: State) -> State:
    """Works until somebody makes the file that `gate` names."""
    note(state, "slow")
    while not Path(state["gate"]).exists():
        time.sleep(0.05)
    return {}


def _journaled(which: str) -> Any:
    """A step that asks, and writes into the journal of its run, a file in `folder`, what it was told."""

    def asks(state: State) -> State:
        answer = interrupt({"question": f"{which.title()} of {state['run']}?", "choices": ["Yes", "No"]})
        with Path(state["folder"], state["run"]).open("a") as journal:
            journal.write(f"{which} {answer['choice']}\n")
        return {"answers": [answer["choice"]]}

    asks.__name__ = which
    return asks


def left(state: State) -> State:
    return {"answers": [interrupt("Left?")]}


def right(state: State) -> State:
    """What it asks depends on what has been answered: its question can change under the same id."""
    seen = len(Path(state["log"]).read_text().splitlines()) if Path(state["log"]).exists() else 0
    answer = interrupt(f"Right, with {seen} lines in the log?")
    note(state, f"right:{answer}")
    return {"answers": [answer]}


def _parallel() -> Any:
    builder = StateGraph(State)
    for node in (left, right):
        builder.add_node(node.__name__, node)
        builder.add_edge(START, node.__name__)
        builder.add_edge(node.__name__, END)
    return builder.compile()


def _mended() -> Any:
    """One step asks; another fails, and its error handler asks what to do."""

    def pay(state: State) -> State:
        raise ValueError("the bank is closed")

    def what_now(state: State) -> State:
        answer = interrupt("It failed. What now?")
        note(state, f"now:{answer}")
        return {"answers": [answer]}

    builder = StateGraph(State)
    builder.add_node("pay", pay, error_handler=what_now)
    builder.add_edge(START, "pay")
    builder.add_node("ask", ask)
    builder.add_edge(START, "ask")
    return builder.compile()


def _chosen() -> Any:
    """The first step is the one that somebody chooses."""
    builder = StateGraph(State)
    for node in (ask, danger):
        builder.add_node(node.__name__, node)
    builder.add_conditional_edges(START, lambda state: interrupt("Which step?"), ["ask", "danger"])
    return builder.compile()


def _stuck() -> Any:
    """Behind a step, what comes next cannot be said the first time."""

    def what_next(state: State) -> str:
        note(state, "next")
        if Path(state["log"]).read_text().count("next") == 1:
            raise ValueError("there is no way yet")
        return "danger"

    builder = StateGraph(State)
    for node in (ask, danger):
        builder.add_node(node.__name__, node)
    builder.add_edge(START, "ask")
    builder.add_conditional_edges("ask", what_next, ["danger"])
    return builder.compile()


def _joined(*last: Any, begins: Any = None, **more: Any) -> Any:
    """The last steps wait for two others to end, before which another one may be."""
    builder = StateGraph(State)
    if begins:
        builder.add_node("begins", begins)
        builder.add_edge(START, "begins")
    for first in (danger, more_danger):
        builder.add_node(first.__name__, first)
        builder.add_edge("begins" if begins else START, first.__name__)
    for step in last:
        builder.add_node(step.__name__, step)
        builder.add_edge([danger.__name__, more_danger.__name__], step.__name__)
    return builder.compile(**more)


def _cut_off() -> Any:
    """A step is cut off by the failure of another one, and asks when they are tried again."""

    async def late(state: State) -> State:
        note(state, "late")
        if lines(state).count("late") == 1:
            await asyncio.Event().wait()
        return ask(state)

    def fails(state: State) -> State:
        while "late" not in lines(state):
            time.sleep(0.01)
        if "fails" in lines(state):
            return {}
        note(state, "fails")
        raise ValueError("not now")

    builder = StateGraph(State)
    for name, step in (("late", late), ("fails", fails)):
        builder.add_node(name, step)
        builder.add_edge(START, name)
    return builder.compile()


def _inside(graph: Any, *beside: Any) -> Any:
    """A step that is a graph, and others beside it."""
    builder = StateGraph(State)
    builder.add_node("inner", graph)
    builder.add_edge(START, "inner")
    for step in beside:
        builder.add_node(step.__name__, step)
        builder.add_edge(START, step.__name__)
    return builder.compile()


def _guarded_graph() -> Any:
    """A breakpoint before a step that is itself a graph, in the graph of a step."""
    builder = StateGraph(State)
    builder.add_node("ask", ask)
    builder.add_node("inner", quiet)
    builder.add_edge(START, "ask")
    builder.add_edge("ask", "inner")
    return _inside(builder.compile(interrupt_before=["inner"]))


def _in_turns(inner: Any) -> Any:
    """It asks, and then does what `inner` does, until it is told "enough"; a breakpoint is before that."""
    builder = StateGraph(State)
    builder.add_node("ask", ask)
    builder.add_node("inner", inner)
    builder.add_edge(START, "ask")
    builder.add_edge("ask", "inner")
    builder.add_conditional_edges("inner", lambda state: END if "enough" in state["answers"] else "ask")
    return builder.compile(interrupt_before=["inner"])


def stumbles(state: State) -> State:
    """Fails the first time."""
    if "stumbles" not in lines(state):
        note(state, "stumbles")
        raise ValueError("not now")
    return {}


def _calling() -> Any:
    """A step that calls a graph twice at once: one call asks while the other one is still at work."""

    async def work(state: State) -> State:
        return await asyncio.to_thread(slow, state) if state["run"] == "late" else {}

    called = _compiled(danger, work, ask)

    async def call(state: State) -> State:
        calls = (called.ainvoke(State(**{**state, "run": run})) for run in ("late", "soon"))
        return {"answers": [found["answers"] for found in await asyncio.gather(*calls)]}

    return _compiled(call)


def call_twice(state: State) -> State:
    """Calls a graph with a breakpoint, which LangGraph does not find behind a name of the module."""
    return {"answers": [called.invoke(State(log=state["log"]))["answers"] for _ in range(2)]}


def _cached() -> Any:
    """A step that asks, and whose result LangGraph would keep."""
    builder = StateGraph(State)
    builder.add_node("ask", ask, cache_policy=CachePolicy())
    builder.add_edge(START, "ask")
    return builder.compile(cache=InMemoryCache())


remembers = _compiled(danger, checkpointer=True)
remembers_guarded = _compiled(danger, more_danger, checkpointer=True, interrupt_before=["more_danger"])
guarded_again, guarded_again_inside = _in_turns(remembers), _in_turns(remembers_guarded)
questions = _compiled(two)
asking = _compiled(ask)
guarded = _compiled(ask, danger, interrupt_before=["danger"])
guarded_twice = _compiled(danger, more_danger, interrupt_before=["danger", "more_danger"])
guarded_inside, guarded_beside = _inside(guarded), _inside(guarded, picky)
guarded_failing = _inside(guarded_twice, stumbles)
joined_guarded_inside = _inside(_joined(picky, begins=ask, interrupt_before=["picky"]))
joined_inside = _inside(_joined(ask, interrupt_after=["ask"]))
called = _compiled(danger, interrupt_before=["danger"])
calling, calling_guarded = _calling(), _compiled(call_twice)
guarded_behind = _inside(_compiled(ask, danger, interrupt_after=["ask", "danger"]))
guarded_twice_inside = _inside(_inside(guarded_twice))
quiet = _compiled(danger)
strict = _compiled(picky)
guarded_graph = _guarded_graph()
working = _compiled(slow, ask)
laboring = _compiled(ask, slow)
parallel = _parallel()
cached = _cached()
mended = _mended()
chosen = _chosen()
stuck = _stuck()
journaled = _compiled(_journaled("first"), _journaled("second"))
joined, joined_strict, joined_both = _joined(ask), _joined(picky), _joined(ask, picky)
joined_late = _joined(picky, begins=ask)
joined_guarded = _joined(ask, interrupt_before=["ask"])
cut_off = _cut_off()
