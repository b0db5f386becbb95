"""The canary: proves at start that this LangGraph still refuses an answer to a question that is gone.

Everything about binding rests on the private switch `STRICT`. Should a release drop or rename it, an old
answer would silently reach the next question; then the adapter must not start at all.
"""

from typing import Any, TypedDict

from langchain_core.runnables import RunnableConfig
from langgraph.checkpoint.memory import InMemorySaver
from langgraph.graph import START, StateGraph
from langgraph.types import Command, interrupt

from answerback.errors import ConfigurationError

STRICT = "__pregel_strict_resume"
UNKNOWN = "0" * 32


class _Heard(TypedDict):
    heard: list[str]


def _two_questions(state: _Heard) -> dict[str, Any]:
    return {"heard": [interrupt("first?"), interrupt("second?")]}


async def sing() -> None:
    """Raise `ConfigurationError` unless a strict resume refuses unknown and stale ids and takes the right."""
    builder = StateGraph(_Heard)
    builder.add_node("ask", _two_questions)
    builder.add_edge(START, "ask")
    graph = builder.compile(checkpointer=InMemorySaver())
    config: RunnableConfig = {"configurable": {"thread_id": "canary", STRICT: True}}

    async def give(interrupt_id: str, value: str) -> Any:
        return await graph.ainvoke(Command(resume={interrupt_id: value}), config)

    first = (await graph.ainvoke({"heard": []}, config))["__interrupt__"][0].id
    await _must_refuse(give, UNKNOWN)
    second = (await give(first, "one"))["__interrupt__"][0].id
    await _must_refuse(give, first)
    if (await give(second, "two"))["heard"] != ["one", "two"]:
        raise ConfigurationError(_REASON)


_REASON = (
    "this version of langgraph does not refuse an answer to a question that no longer waits, so answers "
    "could reach the wrong question; install langgraph>=1.2.20 in a version that answerback was tested with"
)


async def _must_refuse(give: Any, interrupt_id: str) -> None:
    try:
        await give(interrupt_id, "stray")
    except Exception as error:
        if type(error).__name__ == "UnknownInterruptError":
            return
        raise ConfigurationError(_REASON) from error
    raise ConfigurationError(_REASON)
