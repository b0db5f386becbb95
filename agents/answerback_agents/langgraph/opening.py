"""Opening one graph: loaded as it is configured, given a saver that outlives the process, and a reader."""

import contextlib
import copy
import logging
from collections.abc import Iterator
from typing import Any

import pydantic
from langgraph.checkpoint.base import BaseCheckpointSaver
from langgraph.checkpoint.memory import InMemorySaver
from langgraph.store.memory import InMemoryStore

from answerback.agent import AgentContext
from answerback.errors import ConfigurationError
from answerback_agents.langgraph import breakpoints, contexts, elsewhere, loading, own, savers, tooled
from answerback_agents.langgraph.faces import Saver
from answerback_agents.langgraph.locks import ThreadLocks
from answerback_agents.langgraph.reading import Reader

NO_CONTEXT = (
    "the graph's context_schema wants what nobody gives, so its steps do not find it in runtime.context. "
    "Give the agent a `context` with its keys."
)
FORGETS = (
    "what steps put into the graph's store is gone when the agent's process ends. Compile it with a store "
    "that keeps it, such as LangGraph's AsyncSqliteStore."
)
log = logging.getLogger("answerback.agents.langgraph")


class Settings(pydantic.BaseModel):
    """What the configuration says of an agent with `use: langgraph`."""

    model_config = pydantic.ConfigDict(extra="forbid")

    graph: str
    """`path/to/file.py:name` (from the configuration's directory) or `package.module:name`."""
    dialect: str = ""
    """`package:function` that is asked first how to read a payload."""
    types: list[str] = []
    """Further types that checkpoints may contain, `package.module:Class`."""
    ask_again_if_changed: bool = True
    """Whether an answer is given only to a step that still asks what was answered."""
    context: dict[str, Any] = {}
    """What the steps have as `runtime.context`, by the graph's `context_schema`. Its values are texts too."""
    options: dict[str, Any] = {}
    """For a factory that takes `options`. In a file every single value is a text."""


async def opened(
    settings: Settings,
    context: AgentContext,
    name: str,
    locks: ThreadLocks,
    stack: contextlib.AsyncExitStack,
) -> tuple[loading.Graph, Reader]:
    """The graph with its saver, and what reads its threads, whose locks are `locks`.

    Raises ConfigurationError, AgentUnavailable.
    """
    loaded = await loading.load_object(settings.graph, context.base_dir, name)
    ours = await savers.open_saver(context, name, stack, locks)
    allowed = own.types(loaded.module) | {_type_key(kind) for kind in settings.types}
    offer = loading.Offer(ours.with_allowlist(allowed), settings.options)
    graph = await loading.build(loaded.value, offer, loaded.file, stack)
    tooled.install()
    elsewhere.check_steps(graph, loaded.file)
    chosen = await _chosen(graph, ours, name)
    graph = copy.copy(graph)  # the user's object stays as it is
    graph.checkpointer = saver = savers.as_used(graph, chosen.with_allowlist(allowed))
    # A builder or factory was given a copy of ours: what is read is the same place all the same.
    mine = savers.is_same_place(saver, ours)
    look = await savers.open_look(saver, context, name, stack) if mine else saver.aget_tuple
    return graph, Reader(
        graph=graph,
        saver=saver,
        look=look,
        own=await loading.load_dialect(settings.dialect, context.base_dir, name),
        names=own.names_in(graph, loaded.module),
        has_breakpoints=breakpoints.has_breakpoints(graph),
        is_ours=mine,
    )


def lacks(graph: loading.Graph, settings: Settings) -> Iterator[str]:
    """What a graph that was opened does not have or does not keep, as sentences."""
    if contexts.is_wanting(graph.context_schema, settings.context):
        yield NO_CONTEXT
    if isinstance(graph.store, InMemoryStore):
        yield FORGETS


async def _chosen(graph: loading.Graph, ours: Saver, name: str) -> Saver:
    """The graph's own saver if what it keeps outlives the process, else ours."""
    own = graph.checkpointer
    if isinstance(own, BaseCheckpointSaver) and not isinstance(own, InMemorySaver):
        return own if type(own) is type(ours) else await savers.usable(own)
    if isinstance(own, InMemorySaver):
        log.warning("agent %s: its graph's saver forgets; threads are kept durably instead", name)
    return ours


def _type_key(name: str) -> tuple[str, str]:
    module, colon, kind = name.partition(":")
    if not (module and colon and kind):
        raise ConfigurationError(f"types: “{name}” is not of the form package.module:Class")
    return module, kind
