"""The copilot that comes along, `graph: answerback_agents.copilot:graph`: it works for somebody in a browser.

A model with the tools of an MCP server (`options: {model: …, command: …}`), which asks people when it has
to. Whatever changes something is shown to them before it runs, and is done only on their yes: silence or no
means that it is not done. Started with `{"task": "…"}`, it ends with `{"answer": "…"}`. With
`hitl_enabled: false` it asks nobody and confirms nothing.
"""

import contextlib
from collections.abc import AsyncIterator, Mapping
from typing import Any

from langchain_core.language_models import BaseChatModel

from answerback.errors import AgentUnavailable, ConfigurationError
from answerback_agents.copilot.settings import Settings
from answerback_agents.models import chat_model
from answerback_agents.options import checked

__all__ = ["Settings", "graph", "opened"]


Graph = Any  # a StateGraph of `flow`, which is imported only when it is needed
NEEDS = "this needs the package {}: pip install 'answerback[agents,mcp]'"


@contextlib.asynccontextmanager
async def graph(options: Mapping[str, Any]) -> AsyncIterator[Graph]:
    """The copilot as an agent's `options` say, and its server until the agent is closed.

    Raises ConfigurationError, and AgentUnavailable where the server cannot be reached now.
    """
    settings = checked(Settings, options)
    async with opened(settings, chat_model(settings.model)) as made:
        yield made


@contextlib.asynccontextmanager
async def opened(settings: Settings, model: BaseChatModel) -> AsyncIterator[Graph]:
    """The same with a model of your own, whatever the settings call it."""
    try:
        from answerback_agents.copilot.flow import copilot
        from answerback_agents.copilot.server import Away, Server
        from answerback_agents.copilot.tools import tools_of
    except ImportError as error:
        raise ConfigurationError(NEEDS.format(error.name)) from error
    async with contextlib.AsyncExitStack() as stack:
        try:
            server = await stack.enter_async_context(Server(_where(settings)))
            tools = await tools_of(server)
            made = copilot(model, tools, people=settings.hitl_enabled, unasked=settings.unasked)
        except (FileNotFoundError, PermissionError) as error:
            message = f"options.command: {settings.words[0]} cannot be started: {error.strerror}"
            raise ConfigurationError(message) from error
        except Away as error:
            raise AgentUnavailable(f"The MCP server cannot be reached: {error}.") from error
        except ValueError as error:
            raise ConfigurationError(f"options: {error}") from error
        yield made


def _where(settings: Settings) -> Any:
    """The server as `mcp.Client` takes it."""
    from mcp.client.stdio import StdioServerParameters

    if settings.url:
        return settings.url
    command, *words = settings.words
    return StdioServerParameters(command=command, args=words, env=settings.env)
