"""Plugins: the classes that the configuration names → providers and agents, each with its checked Settings.

Only what the configuration names is imported, and what cannot be used is a `Problem` beside the rest.
"""

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any, TypeVar

from pydantic import BaseModel

from answerback import provider
from answerback.agent import Agent, AgentContext
from answerback.allowed import Allowed
from answerback.discovery import AGENT, PROVIDER, EntryPoints, Kind, error_of, load, name_of, source_of
from answerback.errors import ConfigurationError
from answerback.outgoing import Outgoing
from answerback.provider import Provider, ProviderContext, Stored, nothing_stored
from answerback.settings import Plugin, Settings
from answerback.settings.checked import checked

Made = TypeVar("Made")


@dataclass(frozen=True, slots=True)
class Problem:
    """A configured plugin that cannot be used, and why."""

    kind: str
    name: str
    error: ConfigurationError

    def __str__(self) -> str:
        return str(self.error)


@dataclass(frozen=True, slots=True)
class Registry:
    """What the configuration names, by name, in its order; `problems` is what is missing from it."""

    providers: dict[str, Provider]
    agents: dict[str, Agent]
    problems: tuple[Problem, ...] = ()


def build_provider(
    plugin: Plugin, context: ProviderContext, entry_points: EntryPoints | None = None
) -> Provider:
    """A provider with its validated settings, not opened. Raises ConfigurationError."""
    built: Provider = _build(PROVIDER, plugin, context, entry_points)
    return built


def build_agent(plugin: Plugin, context: AgentContext, entry_points: EntryPoints | None = None) -> Agent:
    """An agent adapter with its validated settings, not opened. Raises ConfigurationError."""
    built: Agent = _build(AGENT, plugin, context, entry_points)
    return built


def offered(
    settings: Settings,
    data_dir: str,
    extra: dict[str, Any] | None = None,
    stored: Stored = nothing_stored,
) -> ProviderContext:
    """What every provider is given beside its own settings; its `http` is to be closed at the end."""
    http = Outgoing(Allowed(settings.outgoing))
    return ProviderContext(settings.public_url, data_dir, extra or {}, settings.base_dir, http, stored)


def build(
    settings: Settings,
    *,
    provider_context: ProviderContext | None,
    agent_context: AgentContext | None,
    entry_points: EntryPoints | None = None,
) -> Registry:
    """Everything that the configuration names; without a context, that kind is left out. Never raises."""
    problems: list[Problem] = []

    def each(kind: Kind, plugins: Mapping[str, Plugin], make: Callable[[Plugin], Made]) -> dict[str, Made]:
        made = {}
        for name, plugin in plugins.items():
            try:
                made[name] = make(plugin)
            except ConfigurationError as error:
                problems.append(Problem(kind.word, name, error))
        return made

    providers: dict[str, Provider] = {}
    agents: dict[str, Agent] = {}
    if provider_context is not None:
        context = provider_context
        providers = each(PROVIDER, settings.providers, lambda p: build_provider(p, context, entry_points))
    if agent_context is not None:
        around = agent_context
        agents = each(AGENT, settings.agents, lambda p: build_agent(p, around, entry_points))
    return Registry(providers, agents, tuple(problems))


def _build(kind: Kind, plugin: Plugin, context: Any, entry_points: EntryPoints | None) -> Any:
    return make(kind, plugin, load(kind, plugin, entry_points), context)


def make(kind: Kind, plugin: Plugin, loaded: type, context: Any) -> Any:
    """An instance of a class that was imported, with its validated settings. Raises ConfigurationError."""
    options = _options(kind, plugin, loaded)
    try:
        return loaded(plugin.name, options, context)
    except ConfigurationError as error:
        if error.file:
            raise
        raise error_of(kind, plugin, error.message) from error
    except KeyboardInterrupt:
        raise
    except BaseException as error:  # its text is not ours to show: it was given secrets
        message = f"The {kind.word} {plugin.name} cannot be made: its class raised {type(error).__name__}."
        raise error_of(kind, plugin, message) from error


def _options(kind: Kind, plugin: Plugin, loaded: type) -> BaseModel:
    """The plugin's options as its own Settings; an agent without any takes no options."""
    model: Any = getattr(loaded, "Settings", provider.Settings)
    source = source_of(kind, plugin)
    if not (isinstance(model, type) and issubclass(model, BaseModel)):
        message = f"The Settings of {plugin.use} must be a subclass of {name_of(provider.Settings)}."
        raise source.error("use", message)
    try:
        options: BaseModel = checked(model, plugin.options, source, foreign=True)
    except ConfigurationError:
        raise
    except Exception as error:  # one of its validators has a bug
        message = f"The settings of the {kind.word} {plugin.name} cannot be checked: {type(error).__name__}."
        raise source.error("", message) from error
    return options
