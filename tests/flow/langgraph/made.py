"""Graphs of programs that are made at random: see programs.py."""

import asyncio
from pathlib import Path
from typing import Annotated, Any, TypedDict

from langchain_core.messages import AIMessage
from langchain_core.tools import tool
from langgraph.errors import NodeError
from langgraph.func import task
from langgraph.graph import END, START, StateGraph
from langgraph.prebuilt import ToolNode
from langgraph.types import Command, RetryPolicy, Send, interrupt

from tests.flow.langgraph.programs import ALIKE, Layer, Program, Step, chosen, of_size, questions


def union(one: list[str], other: list[str]) -> list[str]:
    return sorted({*one, *other})


class Given(TypedDict, total=False):
    heard: Annotated[list[str], union]


class State(Given, total=False):
    log: str
    topic: str


def note(state: State, line: str) -> None:
    with Path(state["log"]).open("a") as file:
        file.write(line + "\n")


def graph(options: dict[str, Any]) -> Any:
    return held(of_size(int(options["seed"]), int(options["most"])))


def held(graph: Program, remembers: bool = False) -> Any:
    """With its breakpoints."""
    before, after = graph.held("before"), graph.held("after")
    return build(graph).compile(remembers or None, interrupt_before=before, interrupt_after=after)


def build(graph: Program) -> StateGraph[Any]:
    builder, last = StateGraph(State, output_schema=Given), START
    for number, layer in enumerate(graph.layers):
        names, gate = [step.name for step in layer.steps], f"gate{number}"
        for step in layer.steps:
            retry = RetryPolicy(0.001, jitter=False, retry_on=ValueError) if step.retried else None
            handler = _mending(step, gate) if step.mended else None
            builder.add_node(
                step.name, _node(step), defer=step.deferred, retry_policy=retry, error_handler=handler
            )
        builder.add_node(gate, lambda state: {})
        if layer.kind == "all":
            for name in names:
                builder.add_edge(last, name)
            builder.add_edge(names, gate)
        else:
            builder.add_conditional_edges(last, _way(layer), names)
            for name in names:
                builder.add_edge(name, gate)
        last = gate
    builder.add_edge(last, END)
    return builder


def _ask(state: State, questions: list[str]) -> list[str]:
    answers = []
    for question in questions:
        topic = state.get("topic", "")
        answers.append(str(interrupt(ALIKE if topic.startswith(ALIKE) else question)))
        note(state, f"heard: {question}\t{answers[-1]}")
    return answers


def _fail_once(state: State, name: str) -> None:
    line = f"fail: {name}{state.get('topic', '')}"
    if line not in Path(state["log"]).read_text().splitlines():
        note(state, line)
        raise ValueError(f"{name} fails")


def _way(layer: Layer) -> Any:
    def way(state: State) -> Any:
        topic, name = state.get("topic", ""), f"{layer.steps[0].name}?"
        _ask(state, questions(name, layer.asks, topic))
        if layer.failing:
            _fail_once(state, name)
        if layer.kind == "sent":
            sent = [State(log=state["log"], topic=f"{topic}/{each}") for each in range(2)]
            return [Send(layer.steps[0].name, each) for each in sent]
        return [layer.steps[each].name for each in chosen(layer, topic)]

    return way


def _mending(step: Step, gate: str) -> Any:
    def mend(state: State, error: NodeError) -> Command[Any]:
        topic, name = state.get("topic", ""), f"{step.name}!"
        answers = _ask(state, questions(name, step.mended, topic))
        note(state, f"end: {name}{topic}")
        return Command(goto=gate, update=State(heard=[f"{name}{topic}: {', '.join(answers)}"]))

    return mend


def _node(step: Step) -> Any:
    if step.inner and step.how == "node":
        return held(step.inner, step.remembers)
    inner = build(step.inner).compile(step.remembers or None) if step.inner else None
    name = f"{step.name}."

    def given(state: State) -> list[State]:
        topic = state.get("topic", "")
        return [State(log=state["log"], topic=f"{topic}/{each}") for each in range(step.times)]

    def before(state: State) -> list[str]:
        return _ask(state, questions(step.name, step.asks, state.get("topic", "")))

    def after(state: State, answers: list[str], heard: list[str]) -> State:
        topic = state.get("topic", "")
        answers += _ask(state, questions(step.name, step.more, topic, step.asks))
        if step.failing:
            _fail_once(state, step.name)
        if step.mended:
            raise ValueError(f"{step.name} fails")
        note(state, f"end: {step.name}{topic}")
        return State(heard=[f"{step.name}{topic}: {', '.join(answers)}", *heard])

    def said(state: State) -> list[str]:
        answers = _ask(state, questions(name, 1, state["topic"]))
        note(state, f"end: {name}{state['topic']}")
        return [f"{name}{state['topic']}: {', '.join(answers)}"]

    @tool
    def by_a_tool(topic: str, log: str) -> str:
        """Ask about this."""
        return said(State(log=log, topic=topic))[0]

    def turn(state: State) -> dict[str, Any]:
        calls = [
            {
                "name": by_a_tool.name,
                "args": {"topic": each["topic"], "log": each["log"]},
                "id": each["topic"],
            }
            for each in given(state)
        ]
        return {"messages": [AIMessage("", tool_calls=calls)]}

    def contents(found: dict[str, Any]) -> list[list[str]]:
        return [[message.content] for message in found["messages"]]

    @task
    async def in_a_task(state: State) -> list[str]:
        return said(state)

    @task
    def in_a_threads_task(state: State) -> list[str]:
        return said(state)

    async def in_the_loop(state: State) -> State:
        answers, found = before(state), list[list[str]]()
        if inner is not None:
            found = [each["heard"] for each in await asyncio.gather(*map(inner.ainvoke, given(state)))]
        elif step.how == "tasks":
            found = [*await asyncio.gather(*map(in_a_task, given(state)))]
        elif step.how == "tools":
            found = contents(await ToolNode([by_a_tool]).ainvoke(turn(state)))
        return after(state, answers, [line for each in found for line in each])

    def in_a_thread(state: State) -> State:
        answers, found = before(state), list[list[str]]()
        if inner is not None:
            found = [inner.invoke(each)["heard"] for each in given(state)]
        elif step.how == "tasks":
            found = [each.result() for each in [*map(in_a_threads_task, given(state))]]
        elif step.how == "tools":
            found = contents(ToolNode([by_a_tool]).invoke(turn(state)))
        return after(state, answers, [line for each in found for line in each])

    return in_the_loop if step.is_async else in_a_thread
