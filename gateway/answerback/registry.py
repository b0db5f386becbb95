"""Plugins: entry points → classes → providers and agents, each checked against its own Settings.

Only what the configuration names is imported, and what cannot be used is a `Problem` beside the rest.
"""

import contextlib
import importlib.metadata
import inspect
import re
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass
from typing import Any, TypeVar

from pydantic import BaseModel

from answerback import agent, provider
from answerback.agent import Agent, AgentContext
from answerback.allowed import Allowed
from answerback.errors import ConfigurationError
from answerback.outgoing import Outgoing
from answerback.provider import Provider, ProviderContext, Stored, nothing_stored
from answerback.settings import Plugin, Settings, sentences
from answerback.settings.checked import checked
from answerback.settings.source import Source

EntryPoint = importlib.metadata.EntryPoint
EntryPoints = Iterable[EntryPoint]
Made = TypeVar("Made")
_PATH = re.compile(r"[^\W\d][\w.]*:[^\W\d][\w.]*")


@dataclass(frozen=True, slots=True)
class Kind:
    """One of the two sorts of plugins."""

    word: str  # "provider"
    group: str  # of its entry points
    base: type
    version: int


PROVIDER = Kind("provider", "answerback.providers", Provider, provider.CONTRACT_VERSION)
AGENT = Kind("agent", "answerback.agents", Agent, agent.CONTRACT_VERSION)


@dataclass(frozen=True, slots=True)
class Installed:
    """A plugin that could be used, as its package announces it; nothing of it has been imported."""

    kind: str  # "provider" or "agent"
    name: str
    path: str  # package.module:Class
    package: str = ""
    version: str = ""


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


def installed(entry_points: EntryPoints | None = None) -> tuple[Installed, ...]:
    """All plugins that packages announce, by kind and name. Imports none of them."""
    found = []
    for kind in (PROVIDER, AGENT):
        points = sorted(_announced(kind, entry_points), key=lambda point: (point.name, point.value))
        found += [_about(kind, point) for point in points]
    return tuple(found)


def _about(kind: Kind, point: EntryPoint) -> Installed:
    package = version = ""
    with contextlib.suppress(Exception):  # a package whose metadata is damaged is a package without a name
        package, version = (point.dist.name, point.dist.version) if point.dist else ("", "")
    return Installed(kind.word, point.name, point.value, package or "", version or "")


def load_provider(plugin: Plugin, entry_points: EntryPoints | None = None) -> type[Provider]:
    """Import a provider's class. Raises ConfigurationError."""
    loaded: type[Provider] = _load(PROVIDER, plugin, entry_points)
    return loaded


def looked_at(
    entry_points: EntryPoints | None = None,
) -> tuple[tuple[Installed, type[Provider] | None, str], ...]:
    """Every provider that packages announce, imported: its class, or None and why not, in a sentence.

    For those who want to know; the gateway imports only what is configured. Never raises.
    """
    found: list[tuple[Installed, type[Provider] | None, str]] = []
    points = sorted(_announced(PROVIDER, entry_points), key=lambda point: (point.name, point.value))
    for point in points:
        about, plugin = _about(PROVIDER, point), Plugin(point.name, point.value)
        try:
            loaded = _imported(PROVIDER, plugin, point)
            _check_class(PROVIDER, plugin, point, loaded)
        except ConfigurationError as error:
            found.append((about, None, error.message))
        else:
            found.append((about, loaded, ""))
    return tuple(found)


def load_agent(plugin: Plugin, entry_points: EntryPoints | None = None) -> type[Agent]:
    """Import an agent adapter's class. Raises ConfigurationError."""
    loaded: type[Agent] = _load(AGENT, plugin, entry_points)
    return loaded


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


def _announced(kind: Kind, entry_points: EntryPoints | None) -> list[EntryPoint]:
    points = importlib.metadata.entry_points(group=kind.group) if entry_points is None else entry_points
    return [point for point in points if point.group == kind.group]


def _error(kind: Kind, plugin: Plugin, message: str, key: str = "") -> ConfigurationError:
    return _source(kind, plugin).error(key, message)


def _source(kind: Kind, plugin: Plugin) -> Source:
    prefix = f"{kind.word}s.{plugin.name}"
    return Source(plugin.file, plugin.base_dir, plugin.lines, prefix, plugin.line, plugin.hidden)


def _load(kind: Kind, plugin: Plugin, entry_points: EntryPoints | None) -> Any:
    point = _entry_point(kind, plugin, entry_points)
    loaded = _imported(kind, plugin, point)
    _check_class(kind, plugin, point, loaded)
    return loaded


def _entry_point(kind: Kind, plugin: Plugin, entry_points: EntryPoints | None) -> EntryPoint:
    """The entry point that `use` names, or one made of its path."""
    if _PATH.fullmatch(plugin.use):
        return EntryPoint(plugin.name, plugin.use, kind.group)
    announced = _announced(kind, entry_points)
    named = {point.value: point for point in announced if point.name == plugin.use}
    if len(named) == 1:
        return next(iter(named.values()))
    if named:
        paths = " and ".join(sorted(named))
        message = f'Two packages offer a {kind.word} "{plugin.use}": {paths}. Write one of these as use:.'
        raise _error(kind, plugin, message, "use")
    hint = sentences.suggestion(plugin.use, sorted({p.name for p in announced}))
    message = f"{kind.word}s.{plugin.name}: no {kind.word} {sentences.named(plugin.use)} is installed. {hint}"
    raise _error(kind, plugin, f"{message} Your own is written package.module:Class.", "use")


def _imported(kind: Kind, plugin: Plugin, point: EntryPoint) -> Any:
    if not point.pattern.match(point.value):
        message = (
            f"The {kind.word} {plugin.name} cannot be imported: its package announces it as {point.value!r}."
        )
        raise _error(kind, plugin, f"{message} It must be package.module:Class.", "use")
    try:
        return point.load()
    except ModuleNotFoundError as error:
        raise _error(kind, plugin, _missing(kind, plugin, point, error), "use") from error
    except AttributeError as error:
        message = f"The {kind.word} {plugin.name} cannot be imported: {_one_line(error)}"
        if getattr(error.obj, "__name__", "") == point.module and error.name in point.attr.split("."):
            message = f"The {kind.word} {plugin.name} cannot be used: {point.module} has no {point.attr}."
        raise _error(kind, plugin, message, "use") from error
    except KeyboardInterrupt:  # Ctrl-C is the operator's
        raise
    except BaseException as error:  # a plugin's module may do anything at all when imported
        message = f"The {kind.word} {plugin.name} cannot be imported: {_one_line(error)}"
        raise _error(kind, plugin, message, "use") from error


def _missing(kind: Kind, plugin: Plugin, point: EntryPoint, error: ImportError) -> str:
    """Which package to install: the plugin's own extras say, when it has some."""
    module = error.name
    if not module:
        return f"The {kind.word} {plugin.name} cannot be imported: {_one_line(error)}"
    if f"{point.module}.".startswith(f"{module}."):
        return f"The {kind.word} {plugin.name} does not exist: there is no module {module}."
    for extra in point.extras or [point.name]:
        packages = _not_installed(point, extra)
        if packages and point.dist:
            likely = [name for name in packages if module.partition(".")[0].replace("_", "-") in name]
            package = min(likely or packages, key=len)  # telegram → python-telegram-bot
            return (
                f"The {kind.word} {plugin.name} needs the package {package}: "
                f"pip install '{point.dist.name}[{extra}]'."
            )
    return f"The {kind.word} {plugin.name} needs the module {module}, which is not installed here."


def _not_installed(point: EntryPoint, extra: str) -> list[str]:
    """The requirements of a plugin's extra that are not there."""
    wanted, required = [], None
    with contextlib.suppress(Exception):  # damaged metadata require nothing
        required = point.dist.requires if point.dist else None
    for requirement in required or ():
        name = re.match(r"[A-Za-z0-9._-]+", requirement)
        if name and re.search(rf"extra == ['\"]{re.escape(extra)}['\"]", requirement):
            wanted.append(name[0])
    return [name for name in wanted if not _is_installed(name)]


def _is_installed(package: str) -> bool:
    try:
        importlib.metadata.distribution(package)
    except importlib.metadata.PackageNotFoundError:
        return False
    return True


def _check_class(kind: Kind, plugin: Plugin, point: EntryPoint, loaded: Any) -> None:
    """It must be a complete class of our kind, written for this contract."""
    if not (isinstance(loaded, type) and issubclass(loaded, kind.base)):
        message = f"{point.value} is no {kind.word}: it must be a subclass of {_name(kind.base)}."
    elif inspect.isabstract(loaded):
        missing = ", ".join(sorted(getattr(loaded, "__abstractmethods__", ())))
        message = f"The {kind.word} {point.value} is not complete: it does not implement {missing}."
    elif getattr(loaded, "contract_version", None) != kind.version:
        message = _other_version(kind, point, getattr(loaded, "contract_version", None))
    else:
        return
    raise _error(kind, plugin, message, "use")


def _other_version(kind: Kind, point: EntryPoint, version: object) -> str:
    newer = isinstance(version, int) and version > kind.version
    return (
        f"The {kind.word} {point.value} was written for version {version} of the contract, "
        f"and this answerback has version {kind.version}: update {'answerback' if newer else 'the plugin'}."
    )


def _build(kind: Kind, plugin: Plugin, context: Any, entry_points: EntryPoints | None) -> Any:
    return make(kind, plugin, _load(kind, plugin, entry_points), context)


def make(kind: Kind, plugin: Plugin, loaded: type, context: Any) -> Any:
    """An instance of a class that was imported, with its validated settings. Raises ConfigurationError."""
    options = _options(kind, plugin, loaded)
    try:
        return loaded(plugin.name, options, context)
    except ConfigurationError as error:
        if error.file:
            raise
        raise _error(kind, plugin, error.message) from error
    except KeyboardInterrupt:
        raise
    except BaseException as error:  # its text is not ours to show: it was given secrets
        message = f"The {kind.word} {plugin.name} cannot be made: its class raised {type(error).__name__}."
        raise _error(kind, plugin, message) from error


def _options(kind: Kind, plugin: Plugin, loaded: type) -> BaseModel:
    """The plugin's options as its own Settings; an agent without any takes no options."""
    model: Any = getattr(loaded, "Settings", provider.Settings)
    source = _source(kind, plugin)
    if not (isinstance(model, type) and issubclass(model, BaseModel)):
        message = f"The Settings of {plugin.use} must be a subclass of {_name(provider.Settings)}."
        raise source.error("use", message)
    try:
        options: BaseModel = checked(model, plugin.options, source, foreign=True)
    except ConfigurationError:
        raise
    except Exception as error:  # one of its validators has a bug
        message = f"The settings of the {kind.word} {plugin.name} cannot be checked: {type(error).__name__}."
        raise source.error("", message) from error
    return options


def _name(thing: type) -> str:
    return f"{thing.__module__}.{thing.__name__}"


def _one_line(error: BaseException) -> str:
    try:
        text = next(iter(str(error).splitlines()), "")
    except Exception:  # even its text is the plugin's code
        text = ""
    return f"{type(error).__name__}{f': {text}' if text else ''}."
