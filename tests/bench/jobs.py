"""The two-question job, the same for every system: two nodes that each ask, and note when they hear.

It runs in the peers' environments too, so it imports nothing but LangGraph.
"""

import time
from collections.abc import Awaitable, Callable
from typing import Any, TypedDict

from langgraph.graph import END, START, StateGraph
from langgraph.types import interrupt

YES, NO = "Yes", "No"
QUESTIONS = (1, 2)
PEOPLE = 20  # each has at most one job at a time, so this is how many jobs run at once
Ask = Callable[[str], Awaitable[str]]


class State(TypedDict, total=False):
    """`job` names the run; `…_at`: when the node had its answer (monotonic nanoseconds)."""

    job: str
    first: str
    second: str
    first_at: int
    second_at: int


class Heard(dict[str, int]):
    """By question, when its node had the answer (monotonic nanoseconds)."""

    async def ask(self, asks: Ask, question: str) -> str:
        answer = await asks(question)
        self[question] = time.monotonic_ns()
        if answer != YES:
            raise ValueError(f"{question} was answered with something else")
        return answer


def question_of(job: str, number: int) -> str:
    """The text of a question, which no other question has."""
    return f"{job} {number}"


def graph(asks: Ask, heard: Heard) -> Any:
    """`asks` is the system's own way to ask; each node begins with it, as some systems demand."""

    async def first(state: State) -> State:
        question = question_of(state["job"], 1)
        return {"first": await heard.ask(asks, question), "first_at": heard[question]}

    async def second(state: State) -> State:
        question = question_of(state["job"], 2)
        return {"second": await heard.ask(asks, question), "second_at": heard[question]}

    builder = StateGraph(State)
    builder.add_node("first", first)
    builder.add_node("second", second)
    builder.add_edge(START, "first")
    builder.add_edge("first", "second")
    builder.add_edge("second", END)
    return builder


def ours() -> Any:
    """The graph as answerback runs it: a plain interrupt."""

    async def asks(question: str) -> str:
        return str(interrupt({"question": question, "choices": [YES, NO]})["content"])

    return graph(asks, Heard())
