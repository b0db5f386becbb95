"""Steps that run on a LangGraph server (`RemoteGraph`) may not ask in a graph of ours.

LangGraph resumes such a step by its task, not by the id of what it asked: where it has gone on meanwhile, as
after a crash here, the answer to one question would reach the next (law 1). What is a step, or what a step
names, is refused before anything runs; what a step makes as it runs makes it fail once it asks.
"""

import contextlib
import functools
from collections.abc import AsyncIterator, Callable, Iterator
from typing import Any

from langgraph.errors import GraphInterrupt
from langgraph.pregel import Pregel
from langgraph.pregel.remote import RemoteGraph

from answerback.errors import ConfigurationError
from answerback_agents.langgraph.taking import is_ours

_WAY_OUT = (
    "on a LangGraph server (RemoteGraph), where the answer to one of its questions could reach the next; "
    "make the graph there an agent of its own (use: langgraph-server)"
)


class AsksElsewhere(RuntimeError):
    """A step called a graph on a LangGraph server, and that asks."""

    def __init__(self, name: str) -> None:
        super().__init__(f"the graph “{name}”, which this step called, asks {_WAY_OUT}")


def check_steps(graph: Pregel[Any, Any, Any, Any], file: str) -> None:
    """Raises `ConfigurationError` for a step that runs elsewhere."""
    for path, inner in graph.get_subgraphs(recurse=True):
        if not isinstance(inner, Pregel):
            step = path.rpartition("|")[2]
            raise ConfigurationError(f"the step “{step}” runs {_WAY_OUT}", file=file)


def install() -> None:
    """Have what a step of ours calls there raise `AsksElsewhere` when it asks. Once a process is enough."""
    if not hasattr(RemoteGraph.stream, "__wrapped__"):
        setattr(RemoteGraph, "stream", _sync(RemoteGraph.stream))  # noqa: B010 (mypy: it is overloaded)
        setattr(RemoteGraph, "astream", _async(RemoteGraph.astream))  # noqa: B010


def _sync(stream: Any) -> Callable[..., Iterator[Any]]:
    @functools.wraps(stream)
    def guarded(self: RemoteGraph, *args: Any, **more: Any) -> Iterator[Any]:
        try:
            yield from stream(self, *args, **more)
        except GraphInterrupt as asked:
            raise _refused(self, asked) from None

    return guarded


def _async(stream: Any) -> Callable[..., AsyncIterator[Any]]:
    @functools.wraps(stream)
    async def guarded(self: RemoteGraph, *args: Any, **more: Any) -> AsyncIterator[Any]:
        try:
            async with contextlib.aclosing(stream(self, *args, **more)) as chunks:
                async for chunk in chunks:
                    yield chunk
        except GraphInterrupt as asked:
            raise _refused(self, asked) from None

    return guarded


def _refused(graph: RemoteGraph, asked: GraphInterrupt) -> Exception:
    return AsksElsewhere(graph.assistant_id) if is_ours() else asked
