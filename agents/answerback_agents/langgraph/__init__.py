"""The LangGraph adapter: any graph on LangGraph, unchanged, behind the agent contract."""

import os

# Checkpoints may only name types that the graph's own code declares; langgraph reads this once, on import.
os.environ.setdefault("LANGGRAPH_STRICT_MSGPACK", "true")

from answerback_agents.langgraph import elsewhere, entered, failing, handlers, once, taking, tasked, unkept
from answerback_agents.langgraph.adapter import LangGraph
from answerback_agents.langgraph.opening import Settings

__all__ = ["LangGraph", "Settings"]

taking.install()  # before a graph is loaded, so that its steps ask by it
entered.install()
tasked.install()
handlers.install()
failing.install()
elsewhere.install()
unkept.install()
once.install()
