"""Graphs as users write them: no import of ours. Steps write one line each to the file that `log` names."""

import asyncio
import atexit
import operator
import os
import signal
import sqlite3
import threading
import time
from dataclasses import dataclass
from pathlib import Path
from typing import Annotated, Any, TypedDict, cast

from langchain.agents import create_agent
from langchain.tools import tool
from langchain_core.language_models import BaseChatModel
from langchain_core.messages import AIMessage, BaseMessage
from langchain_core.outputs import ChatGeneration, ChatResult
from langgraph.cache.memory import InMemoryCache
from langgraph.checkpoint.base import id as ids
from langgraph.checkpoint.memory import InMemorySaver
from langgraph.checkpoint.sqlite import SqliteSaver
from langgraph.func import entrypoint, task
from langgraph.graph import END, START, StateGraph
from langgraph.types import CachePolicy, Send, interrupt
from pydantic import BaseModel


class State(TypedDict, total=False):
    log: str
    heard: Annotated[list[Any], operator.add]
    topic: str
    report: str


def note(state: Any, line: str) -> None:
    with Path(state["log"]).open("a") as file:
        file.write(line + "\n")


def noted(state: Any) -> list[str]:
    path = Path(state["log"])
    return path.read_text().split() if path.exists() else []


def line_of(*steps: Any, **options: Any) -> StateGraph[Any]:
    """A graph of these steps in a row."""
    builder = StateGraph(State)
    names = [step.__name__ for step in steps]
    for name, step in zip(names, steps, strict=True):
        builder.add_node(name, step)
    for first, second in zip([START, *names], [*names, END], strict=True):
        builder.add_edge(first, second)
    return builder


# -- one question, in every kind of graph


def ask(state: State) -> State:
    answer = interrupt("Which term?")
    note(state, "asked")
    return {"heard": [answer]}


async def report(state: State) -> State:
    note(state, "report")
    await asyncio.sleep(0)
    return {"report": f"about {state['heard'][-1]}"}


builder = line_of(ask, report)
bare = builder.compile()
silent = line_of(report).compile()
in_memory = builder.compile(checkpointer=InMemorySaver())


def own_sync_saver() -> Any:
    connection = sqlite3.connect(":memory:", check_same_thread=False)
    atexit.register(connection.close)
    return builder.compile(checkpointer=SqliteSaver(connection))


def factory() -> Any:
    return builder


async def async_factory(checkpointer: Any) -> Any:
    return builder.compile(checkpointer=checkpointer)


def config_factory(config: dict[str, Any]) -> Any:
    return builder.compile()


def options_factory(options: dict[str, Any]) -> Any:
    def tell(state: State) -> State:
        return {"report": repr(options)}

    return line_of(tell)


def greedy_factory(tenant: str) -> Any:
    return builder


def sync_thread(state: State) -> State:
    return {"report": threading.current_thread().name, "heard": [interrupt("?")]}


blocking = line_of(sync_thread)


@task
def look_up(term: str) -> dict[str, str]:
    return {"term": term, "sure": interrupt(f"Look up {term}?")}


@entrypoint()
def functional(given: dict[str, str]) -> dict[str, Any]:
    note(given, "begun")
    term = interrupt("Which term?")
    found = look_up(term).result()
    if found["sure"] == "break":
        raise ValueError("cannot look that up")
    return {"found": found}


def fan_out(state: State) -> list[Send]:
    return [Send("each", {"log": state["log"], "topic": topic}) for topic in ("a", "b", "c")]


def each(state: State) -> State:
    answer = interrupt({"question": f"What about {state['topic']}?"})
    return {"heard": [f"{state['topic']}={answer}"]}


def gather(state: State) -> State:
    return {"report": " ".join(sorted(state["heard"]))}


fanned = StateGraph(State)
fanned.add_node("each", each)
fanned.add_node("gather", gather)
fanned.add_conditional_edges(START, fan_out, ["each"])
fanned.add_edge("each", "gather")


def ask_twice(state: State) -> State:
    first = interrupt("first?")
    second = interrupt("second?")
    if "boom" in (first, second):
        raise ValueError("the answer boom broke it")
    return {"heard": [first, second]}


two_questions = line_of(ask_twice, report)


class FirstListFails(SqliteSaver):
    """As a database does that is away for a moment."""

    listed = 0

    def list(self, *arguments: Any, **more: Any) -> Any:
        self.listed += 1
        if self.listed == 1:
            raise sqlite3.OperationalError("disk I/O error")
        return super().list(*arguments, **more)


def listed_badly() -> Any:
    connection = sqlite3.connect(":memory:", check_same_thread=False)
    atexit.register(connection.close)
    return line_of(ask_twice, report).compile(checkpointer=FirstListFails(connection))


class KeepsNoQuestions(SqliteSaver):
    """As a saver does that is broken."""

    def put_writes(self, config: Any, writes: Any, *more: Any) -> None:
        super().put_writes(config, [each for each in writes if each[0] != "__interrupt__"], *more)


def kept_badly() -> Any:
    connection = sqlite3.connect(":memory:", check_same_thread=False)
    atexit.register(connection.close)
    return line_of(ask, report).compile(checkpointer=KeepsNoQuestions(connection))


inner_graph = line_of(ask_twice).compile()
asking_inside = StateGraph(State)
asking_inside.add_node("inner", line_of(ask, report).compile())
asking_inside.add_edge(START, "inner")
outer = StateGraph(State)
outer.add_node("inner", inner_graph)
outer.add_node("report", report)
outer.add_edge(START, "inner")
outer.add_edge("inner", "report")


class Scripted(BaseChatModel):
    """A model that calls the tool once and then repeats what the tool said."""

    @property
    def _llm_type(self) -> str:
        return "scripted"

    def bind_tools(self, tools: Any, **options: Any) -> Any:
        return self

    def _generate(self, messages: list[BaseMessage], *args: Any, **options: Any) -> ChatResult:
        if any(message.type == "ai" for message in messages):
            said = AIMessage(f"It is {messages[-1].text}")
        else:
            call = {"name": "ask_a_person", "args": {"question": "Which term?"}, "id": "call-1"}
            said = AIMessage("", tool_calls=[call])
        return ChatResult(generations=[ChatGeneration(message=said)])


@tool
def ask_a_person(question: str) -> str:
    """Ask a person."""
    return str(interrupt({"type": "ask_human", "question": question})["content"])


agent = create_agent(Scripted(), [ask_a_person])


# -- binding


def left(state: State) -> State:
    answer = interrupt("left?")
    return {"heard": [["left", answer]]}


def right(state: State) -> State:
    note(state, "right")
    changing = f"Delete {min(len(noted(state)), 2)} file(s)?"
    answer = interrupt(changing if state.get("topic") == "changing" else "right?")
    return {"heard": [["right", answer]]}


parallel = StateGraph(State)
parallel.add_node("left", left)
parallel.add_node("right", right)
parallel.add_node("gather", lambda state: {"report": str(sorted(state["heard"]))})
parallel.add_edge(START, "left")
parallel.add_edge(START, "right")
parallel.add_edge(["left", "right"], "gather")


def fragile(state: State) -> State:
    answer = interrupt("a number?")
    note(state, "tried")
    if len(noted(state)) < 2:
        raise ValueError(f"invalid literal: '{answer}' from postgresql://me:hunter2@db/x")
    return {"heard": [answer]}


failing_once = line_of(fragile, report)


def broken_report(state: State) -> State:
    note(state, "broken")
    if state["heard"][-1] == "bad":
        raise RuntimeError("no documents")
    return {"report": "fine"}


failing_later = line_of(ask, broken_report)


def danger(state: State) -> State:
    note(state, "danger")
    return {"report": "done"}


guarded = line_of(ask, danger).compile(interrupt_before=["danger"])
guarded_after = line_of(ask, danger).compile(interrupt_after=["ask"])
guarded_inside = StateGraph(State)
guarded_inside.add_node("sub", line_of(ask, danger).compile(interrupt_before=["danger"]))
guarded_inside.add_edge(START, "sub")


def beside_left(graph: StateGraph[Any]) -> StateGraph[Any]:
    """This one, held before “danger”, beside a step that asks."""
    builder = StateGraph(State)
    builder.add_node("left", left)
    builder.add_node("sub", graph.compile(interrupt_before=["danger"]))
    builder.add_edge(START, "left")
    builder.add_edge(START, "sub")
    return builder


guarded_beside, guarded_later_beside = beside_left(line_of(danger)), beside_left(line_of(ask, danger))


def deadly(state: State) -> State:
    answer = interrupt("Which term?")
    kill_once(state, "in-node")
    return {"heard": [answer]}


def deadly_next(state: State) -> State:
    kill_once(state, "in-next")
    return {"report": f"about {state['heard'][-1]}"}


def kill_once(state: State, place: str) -> None:
    """SIGKILL this process the first time, if the topic says so here."""
    note(state, place)
    if state.get("topic") == place and noted(state).count(place) == 1:
        os.kill(os.getpid(), signal.SIGKILL)


def first_step(state: State) -> State:
    note(state, "first")
    return {"heard": ["-"]}


deadly_graph = line_of(deadly, deadly_next)
failing_start = line_of(first_step, deadly_next)
deadly_inside = StateGraph(State)
deadly_inside.add_node("sub", deadly_graph.compile())
deadly_inside.add_edge(START, "sub")
deadly_guarded = line_of(deadly, deadly_next, danger).compile(interrupt_before=["deadly_next", "danger"])


# -- types and payloads


@dataclass
class Term:
    word: str
    count: int


def return_a_lock(state: State) -> State:
    return {"heard": [threading.Lock()]}


locking = line_of(return_a_lock)


class Proposal(BaseModel):
    question: str
    choices: list[str]


def propose(state: State) -> State:
    return {"heard": [Term("coding", 214)]}


def choose(state: State) -> State:
    answer = interrupt(Proposal(question="Which?", choices=[state["heard"][0].word, "costing"]))
    return {"heard": [answer], "report": type(state["heard"][0]).__name__}


typed = line_of(propose, choose)


def ask_with_schema(state: State) -> State:
    return {"heard": [interrupt("a proposal?", response_schema=Proposal).question]}


schemed = line_of(ask_with_schema)


async def slow(state: State) -> State:
    note(state, "slow")
    await asyncio.Event().wait()
    return {}


never_ending = line_of(ask, slow)


def held_up(state: State) -> State:
    note(state, "held")
    while "go" not in noted(state):
        time.sleep(0.001)
    return {"topic": "coding"}


def ask_more(state: State) -> State:
    return {"heard": [interrupt("And?")]}


held_between = line_of(ask, held_up, ask_more, report)
two_steps = line_of(ask, ask_more, report)
steps_inside = StateGraph(State)
steps_inside.add_node("inner", line_of(ask, ask_more).compile())
steps_inside.add_edge(START, "inner")
called = line_of(ask, ask_more).compile()


def call(state: State) -> State:
    return cast(State, called.invoke(state))


steps_called = line_of(call)


def forget_the_time(state: State) -> State:
    if "forgot" not in noted(state):
        note(state, "forgot")
        ids._last_v6_timestamp = None
    return {}


forgetful = line_of(ask, forget_the_time, ask_more)

not_a_graph = 42


# -- steps whose results LangGraph keeps, for whichever run comes next with the same input


def measure(state: State) -> State:
    note(state, "measured")
    return {"topic": "long"}


def cached_line(*steps: Any) -> StateGraph[Any]:
    """A graph of steps in a row, each with a cache policy."""
    builder = StateGraph(State)
    for before, step in zip([START, *(step.__name__ for step in steps)], steps, strict=False):
        builder.add_node(step.__name__, step, cache_policy=CachePolicy())
        builder.add_edge(before, step.__name__)
    return builder


def around(inner: Any, **options: Any) -> StateGraph[Any]:
    """A graph whose only step is another graph."""
    builder = StateGraph(State)
    builder.add_node("inner", inner, **options)
    builder.add_edge(START, "inner")
    return builder


def fails_once(state: State) -> State:
    answer = interrupt("Which term?")
    if "failed" not in noted(state):
        note(state, "failed")
        raise ValueError("not now")
    return {"heard": [answer]}


cached_and_fails_once = cached_line(fails_once).compile(cache=InMemoryCache())
cached = cached_line(measure, ask).compile(cache=InMemoryCache())
cached_in_an_inner_graph = around(cached_line(ask).compile(cache=InMemoryCache())).compile()
cached_around_an_inner_graph = around(line_of(ask).compile(), cache_policy=CachePolicy()).compile(
    cache=InMemoryCache()
)


@task(cache_policy=CachePolicy())
def cached_ask(given: dict[str, Any]) -> Any:
    return interrupt("Which term?")


@entrypoint(cache=InMemoryCache())
def cached_task(given: dict[str, Any]) -> dict[str, Any]:
    return {"heard": [cached_ask(given).result()]}


@entrypoint(cache=InMemoryCache(), cache_policy=CachePolicy())
def cached_as_a_whole(given: dict[str, Any]) -> dict[str, Any]:
    return {"heard": [interrupt("Which term?")]}


guarded_danger = line_of(danger).compile(interrupt_before=["danger"])


def ask_and_call_guarded(state: State) -> State:
    """What a function calls is held in it, and LangGraph forgets what the function was told."""
    note(state, f"told:{interrupt('First?')}")
    guarded_danger.invoke(state)
    return {}


def call_unseen(state: State) -> State:
    line_of(danger).compile(interrupt_before=["danger"]).invoke(state)
    return {}


guarded_at_its_end = around(line_of(ask, danger).compile(interrupt_after=["danger"]))
guarded_around_its_end = around(
    line_of(ask, danger).compile(interrupt_before=["danger"], interrupt_after=["danger"])
)
guarded_called, guarded_unseen = line_of(ask_and_call_guarded), line_of(call_unseen)
