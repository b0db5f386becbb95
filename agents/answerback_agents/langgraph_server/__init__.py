"""The adapter for agents that live on a LangGraph server, reached through langgraph-sdk."""

from answerback_agents.langgraph_server.adapter import LangGraphServer
from answerback_agents.langgraph_server.settings import Settings

__all__ = ["LangGraphServer", "Settings"]
