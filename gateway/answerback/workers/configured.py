"""From the configuration to its agents, each in a worker of its own unless it says `worker: false`."""

from typing import Any, Never

from answerback import registry
from answerback.agent import Agent, AgentContext
from answerback.errors import ConfigurationError
from answerback.settings import Plugin, Settings
from answerback.workers.agent import WorkerAgent


def in_workers(settings: Settings, context: AgentContext | None = None) -> dict[str, Agent]:
    """All configured agents by name, not opened. Never raises: what cannot be used says so in `open`."""
    around = context or AgentContext(settings.data_dir, settings.database, settings.base_dir)
    return {name: _agent(plugin, around) for name, plugin in settings.agents.items()}


def _agent(plugin: Plugin, context: AgentContext) -> Agent:
    if plugin.worker:
        return WorkerAgent(plugin, context)
    try:
        return registry.build_agent(plugin, context)
    except ConfigurationError as error:
        return Unusable(plugin, context, error)


class Unusable(Agent):
    """Stands where an agent is configured that cannot be made; `open` says why."""

    def __init__(self, plugin: Plugin, context: AgentContext, error: ConfigurationError) -> None:
        super().__init__(plugin.name, plugin, context)
        self._error = error

    async def open(self) -> None:
        raise self._error

    async def _refuse(self, *_: Any, **__: Any) -> Never:
        raise self._error

    start = pending = resume = retry = cancel = tip = forget = _refuse
