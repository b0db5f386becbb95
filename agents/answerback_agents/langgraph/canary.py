"""The canary: proves at start that with this LangGraph an answer still reaches no other question.

Everything about binding rests on two private switches. Should a release drop or rename `STRICT`, an old
answer would silently reach the next question. Without `CACHE`, a step with a `cache_policy` would keep what
it was told, and the next one with the same input, also one that waits for its own answer, would be given
that. What `taking` and `called` compare needs private names as well. Then the adapter must not start at all.
"""

import asyncio
import itertools
from typing import Any, TypedDict

from langchain_core.runnables import RunnableConfig
from langgraph.cache.memory import InMemoryCache
from langgraph.checkpoint.memory import InMemorySaver
from langgraph.graph import START, StateGraph
from langgraph.types import CachePolicy, Command, interrupt

from answerback.errors import ConfigurationError
from answerback_agents.langgraph.taking import Taking

STRICT = "__pregel_strict_resume"
CACHE = "__pregel_cache"  # the cache of a run and of all graphs in it; None: there is none
UNKNOWN = "0" * 32


class _Heard(TypedDict):
    heard: list[str]


def _two_questions(state: _Heard) -> dict[str, Any]:
    return {"heard": [interrupt("first?"), interrupt("second?")]}


async def sing() -> None:
    """Raise `ConfigurationError` unless a resume refuses unknown and stale ids, and gives the right once, and
    a graph that a step calls goes on for the same call alone."""
    builder = StateGraph(_Heard)
    builder.add_node("ask", _two_questions, cache_policy=CachePolicy())
    builder.add_edge(START, "ask")
    graph = builder.compile(checkpointer=InMemorySaver(), cache=InMemoryCache())

    async def give(interrupt_id: str, value: str) -> Any:
        return await graph.ainvoke(Command(resume={interrupt_id: value}), _on("canary"))

    first = (await graph.ainvoke({"heard": []}, _on("canary")))["__interrupt__"][0].id
    await _must_refuse(give, UNKNOWN)
    second = (await give(first, "one"))["__interrupt__"][0].id
    await _must_refuse(give, first)
    if (await give(second, "two"))["heard"] != ["one", "two"]:
        raise ConfigurationError(_REASON)
    cached = await graph.ainvoke({"heard": []}, {"configurable": {"thread_id": "another", STRICT: True}})
    if "__interrupt__" not in cached:
        raise ConfigurationError(_REASON)
    waits = (await graph.ainvoke({"heard": []}, _on("changed")))["__interrupt__"]
    resumed = graph.ainvoke(Command(resume={waits[0].id: "stray"}), _on("changed"))
    changed = await asyncio.create_task(resumed, context=Taking({waits[0].id: UNKNOWN}).context())
    if changed.get("__interrupt__") != waits:
        raise ConfigurationError(_REASON)
    await _must_tell_calls_apart(builder.compile())


async def _must_tell_calls_apart(inner: Any) -> None:
    """Of a step that calls a graph which asks, each time with something else."""
    tries = itertools.count()

    async def call(state: _Heard) -> Any:
        return await inner.ainvoke({"heard": [str(next(tries))]})

    builder = StateGraph(_Heard)
    builder.add_node("call", call)
    builder.add_edge(START, "call")
    graph = builder.compile(checkpointer=InMemorySaver())
    try:
        asks = graph.ainvoke({"heard": []}, _on("calls"))
        before = await asyncio.create_task(asks, context=Taking().context())
        resumed = graph.ainvoke(Command(resume={before["__interrupt__"][0].id: "stray"}), _on("calls"))
        after = await asyncio.create_task(resumed, context=Taking(compares=True).context())
    except Exception as error:
        raise ConfigurationError(_REASON) from error
    if [asked.value for asked in after.get("__interrupt__", ())] != ["first?"]:
        raise ConfigurationError(_REASON)


def _on(thread: str) -> RunnableConfig:
    return {"configurable": {"thread_id": thread, STRICT: True, CACHE: None}}


_REASON = (
    "this version of langgraph does not refuse an answer to a question that no longer waits, or keeps one "
    "for the next, so answers could reach the wrong question; install langgraph>=1.2.20 in a version that "
    "answerback was tested with"
)


async def _must_refuse(give: Any, interrupt_id: str) -> None:
    try:
        await give(interrupt_id, "stray")
    except Exception as error:
        if type(error).__name__ == "UnknownInterruptError":
            return
        raise ConfigurationError(_REASON) from error
    raise ConfigurationError(_REASON)
