"""The graphs that hazards run: plain LangGraph, whose nodes write into a journal what they were told.

How a node asks is the system's own way: `asks(question, choices)` gives the answer as a text, `NOBODY` for
silence; without choices any text is an answer. Nothing else here depends on the system.
"""

import asyncio
import operator
import os
import signal
from collections.abc import Awaitable, Callable
from pathlib import Path
from typing import Annotated, Any, TypedDict

from langchain_core.messages import AIMessage
from langchain_core.tools import tool
from langgraph.cache.memory import InMemoryCache
from langgraph.graph import END, START, StateGraph
from langgraph.prebuilt import ToolNode
from langgraph.types import CachePolicy, Send, interrupt
from pydantic import BaseModel, Field

from tests.conformance.journal import Journal

Ask = Callable[[str, tuple[str, ...]], Awaitable[str]]
NOBODY = "(nobody)"
YES_NO = ("Yes", "No")
# So that systems that know buttons only can be asked all the same.
ANSWERS = ("one", "two", "three")


class State(TypedDict, total=False):
    """`heard` grows; `name` is what a parallel branch is about."""

    heard: Annotated[list[str], operator.add]
    name: str


class Nodes:
    """What the nodes of all graphs are made of."""

    def __init__(self, folder: Path, asks: Ask) -> None:
        self.journal, self.ask = Journal(folder), asks

    async def hear(self, question: str, choices: tuple[str, ...] = ANSWERS, name: str = "") -> str:
        """Ask, and write down the answer under the question's own name."""
        answer = await self.ask(question, choices)
        self.journal.note(f"{name or question} {answer}")
        return answer

    def end(self, state: State) -> State:
        self.journal.note("end")
        return {}

    def line(self, *steps: Any, **options: Any) -> tuple[Any, dict[str, Any]]:
        builder: Any = StateGraph(State)
        previous = START
        for step in (*steps, self.end):
            builder.add_node(step.__name__, step)
            builder.add_edge(previous, step.__name__)
            previous = step.__name__
        builder.add_edge(previous, END)
        return builder, options

    def fan(
        self, *branches: Any, names: tuple[str, ...] = (), cached: CachePolicy | None = None
    ) -> tuple[Any, dict[str, Any]]:
        """All branches at once, or the one branch once for each name."""
        builder: Any = StateGraph(State)
        sends = [Send(branches[0].__name__, {"name": name}) for name in names] or [
            Send(branch.__name__, {}) for branch in branches
        ]
        builder.add_conditional_edges(START, lambda state: sends, [branch.__name__ for branch in branches])
        builder.add_node("end", self.end)
        for branch in branches:
            builder.add_node(branch.__name__, branch, cache_policy=cached)
            builder.add_edge(branch.__name__, "end")
        builder.add_edge("end", END)
        return builder, {"cache": InMemoryCache()} if cached else {}


def given(anew: bool) -> State:
    """What a graph is started with; `anew`: another input, for a thread that has one."""
    return {"heard": [], "name": "coffee" if anew else "tea"}


def make(name: str, folder: Path, asks: Ask) -> tuple[Any, dict[str, Any] | None]:
    """A graph's builder, and what it must be compiled with; None where nothing depends on it."""
    builder, options = GRAPHS[name](Nodes(folder, asks))
    return builder, options or ({} if name in COMPILED else None)


def compiled(name: str, folder: Path, asks: Ask, saver: Any) -> Any:
    """A graph as its author compiles it."""
    builder, options = make(name, folder, asks)
    return builder.compile(checkpointer=saver, **(options or {}))


def _one(n: Nodes) -> Any:
    async def ask(state: State) -> State:
        return {"heard": [await n.hear("Which?")]}

    return n.line(ask)


def _topic(n: Nodes) -> Any:
    async def ask(state: State) -> State:
        return {"heard": [await n.hear(f"About {state['name']}?")]}

    return n.line(ask)


def _text(n: Nodes) -> Any:
    async def one(state: State) -> State:
        return {"heard": [await n.hear("First?", ())]}

    async def two(state: State) -> State:
        return {"heard": [await n.hear("Second?", ())]}

    return n.line(one, two)


def _two(n: Nodes) -> Any:
    async def both(state: State) -> State:
        return {"heard": [await n.hear("First?"), await n.hear("Second?")]}

    return n.line(both)


def _two_nodes(n: Nodes) -> Any:
    async def one(state: State) -> State:
        return {"heard": [await n.hear("First?")]}

    async def two(state: State) -> State:
        return {"heard": [await n.hear("Second?")]}

    return n.line(one, two)


def _same_text(n: Nodes) -> Any:
    async def same(state: State) -> State:
        return {
            "heard": [await n.hear("Which?", name="first time:"), await n.hear("Which?", name="second time:")]
        }

    return n.line(same)


def _same_text_nodes(n: Nodes) -> Any:
    async def one(state: State) -> State:
        return {"heard": [await n.hear("Which?", name="first time:")]}

    async def two(state: State) -> State:
        return {"heard": [await n.hear("Which?", name="second time:")]}

    return n.line(one, two)


def _parallel(n: Nodes) -> Any:
    async def ask(state: State) -> State:
        return {"heard": [await n.hear(f"About {state['name']}?")]}

    return n.fan(ask, names=("a", "b", "c"))


def _cached(n: Nodes) -> Any:
    async def ask(state: State) -> State:
        return {"heard": [await n.hear(f"About {state['name']}?")]}

    return n.fan(ask, names=("tea", "tea"), cached=CachePolicy())


def _changing(n: Nodes) -> Any:
    async def delete(state: State) -> State:
        files = min(n.journal.count("look"), 2)  # another one since the first look
        return {"heard": [await n.hear(f"Delete {files} files?", YES_NO)]}

    async def other(state: State) -> State:
        return {"heard": [await n.hear("Anything else?")]}

    return n.fan(delete, other)


def _restless(n: Nodes) -> Any:
    async def delete(state: State) -> State:
        files = min(n.journal.count("look"), 2)  # another one since it was asked
        return {"heard": [await n.hear(f"Delete {files} files?", YES_NO)]}

    return n.line(delete)


def _choice(n: Nodes) -> Any:
    async def ask(state: State) -> State:
        answer = await n.hear("Deploy?", YES_NO)
        if answer not in (*YES_NO, NOBODY):
            raise ValueError("this node knows yes and no only")
        return {"heard": [answer]}

    return n.line(ask)


def _fragile(n: Nodes) -> Any:
    async def ask(state: State) -> State:
        answer = await n.hear("How many?")
        if answer == "three":
            raise ValueError("three is too many")
        return {"heard": [answer]}

    return n.line(ask)


def _fails_once(n: Nodes) -> Any:
    async def ask(state: State) -> State:
        answer = await n.hear("Which?")
        if n.journal.first_time("failure"):
            raise RuntimeError("the disk is full")
        return {"heard": [answer]}

    return n.line(ask)


def _guarded(n: Nodes) -> Any:
    async def ask(state: State) -> State:
        return {"heard": [await n.hear("Which?")]}

    def danger(state: State) -> State:
        n.journal.note("danger ran")
        return {}

    return n.line(ask, danger, interrupt_before=["danger"])


def _inner(n: Nodes) -> Any:
    async def one(state: State) -> State:
        return {"heard": [await n.hear("First?")]}

    async def two(state: State) -> State:
        return {"heard": [await n.hear("Second?")]}

    inner: Any = StateGraph(State)
    inner.add_node("one", one)
    inner.add_node("two", two)
    inner.add_edge(START, "one")
    inner.add_edge("one", "two")
    inner.add_edge("two", END)
    compiled = inner.compile()

    async def outer(state: State) -> State:
        await compiled.ainvoke({"heard": []})
        return {}

    async def three(state: State) -> State:
        return {"heard": [await n.hear("Third?")]}

    return n.line(outer, three)


def _called(n: Nodes) -> Any:
    async def confirm(state: State) -> State:
        return {"heard": [await n.ask(f"Delete {state['name']}?", YES_NO)]}

    inner: Any = StateGraph(State)
    inner.add_node("confirm", confirm)
    inner.add_edge(START, "confirm")
    compiled = inner.compile()

    async def confirmed(name: str) -> str:
        given = await compiled.ainvoke({"heard": [], "name": name})
        return f"Delete {name}? {given['heard'][-1]}"

    async def delete(state: State) -> State:
        names = ("a", "b") if n.journal.first_time("called") else ("b", "a")  # whichever is found sooner
        for line in sorted(await asyncio.gather(*(confirmed(name) for name in names))):
            n.journal.note(line)
        return {}

    return n.line(delete)


def _tools(n: Nodes) -> Any:
    @tool
    async def delete(name: str) -> str:
        """Delete a file."""
        answer = await n.ask(f"Delete {name}?", YES_NO)
        again = "" if n.journal.first_time(f"deleted-{name}") else " again"
        n.journal.note(f"Delete {name}? {answer}{again}")
        return answer

    calls = [{"name": "delete", "args": {"name": name}, "id": name} for name in ("a", "b")]
    turn, tools = AIMessage("", tool_calls=calls), ToolNode([delete])

    async def work(state: State) -> State:
        given = await tools.ainvoke([turn])
        return {"heard": [message.content for message in given]}

    return n.line(work)


def _dies_in_node(n: Nodes) -> Any:
    async def ask(state: State) -> State:
        answer = await n.hear("Which?")
        if n.journal.first_time("death"):
            os.kill(os.getpid(), signal.SIGKILL)
        return {"heard": [answer]}

    return n.line(ask)


def _dies_in_next_node(n: Nodes) -> Any:
    async def ask(state: State) -> State:
        return {"heard": [await n.hear("Which?")]}

    async def work(state: State) -> State:
        if n.journal.first_time("death"):
            os.kill(os.getpid(), signal.SIGKILL)
        return {"heard": [await n.hear("And then?")]}

    return n.line(ask, work)


def _reviewed(
    *turns: tuple[tuple[str, dict[str, Any]], ...], mode: str = "batched"
) -> Callable[[Nodes], Any]:
    """LangChain's own agent inside a node, whose model makes these calls, turn by turn."""

    def make(n: Nodes) -> Any:
        from tests.conformance.agents import reviewed

        inner = reviewed(turns, mode)

        async def work(state: State) -> State:
            for told in await inner():
                n.journal.note(told)
            return {}

        return n.line(work)

    return make


class Place(BaseModel):
    """A form that takes an Austrian place only."""

    zip: str = Field(description="Which zip code?", pattern=r"^\d{4}$")


def _form(n: Nodes) -> Any:
    async def ask(state: State) -> State:
        given = interrupt("", response_schema=Place)
        n.journal.note(f"zip {given.zip}")
        return {"heard": [given.zip]}

    return n.line(ask)


REFUND = ("refund", {"customer": "ana", "amount": 100})
WIPE = ("wipe", {"path": "/old"})
# These come compiled already, without a saver.
COMPILED = {"compiled"}
GRAPHS: dict[str, Callable[[Nodes], Any]] = {
    "one": _one,
    "compiled": _one,
    "two": _two,
    "topic": _topic,
    "text": _text,
    "two nodes": _two_nodes,
    "same text": _same_text,
    "same text in two nodes": _same_text_nodes,
    "parallel": _parallel,
    "cached": _cached,
    "changing": _changing,
    "restless": _restless,
    "choice": _choice,
    "fragile": _fragile,
    "fails once": _fails_once,
    "guarded": _guarded,
    "inner": _inner,
    "called": _called,
    "tools": _tools,
    "form": _form,
    "reviewed": _reviewed((WIPE,)),
    "editable": _reviewed((REFUND,)),
    "reviewed in turn": _reviewed((WIPE,), (("wipe", {"path": "/new"}),)),
    "two calls": _reviewed((REFUND, WIPE)),
    "two calls, each by itself": _reviewed((REFUND, WIPE), mode="per_call"),
    "dies in the node": _dies_in_node,
    "dies in the next node": _dies_in_next_node,
}
