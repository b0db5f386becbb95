"""Plugins as packages announce them: found, imported when asked for, and checked against the contract."""

import contextlib
import functools
import importlib.metadata
import inspect
import re
import sys
from collections.abc import Iterable
from dataclasses import dataclass
from typing import Any

from answerback import agent, provider
from answerback.agent import Agent
from answerback.errors import ConfigurationError
from answerback.provider import Pace, Provider
from answerback.settings import Plugin, sentences
from answerback.settings.source import Source

EntryPoint = importlib.metadata.EntryPoint
EntryPoints = Iterable[EntryPoint]
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


def load(kind: Kind, plugin: Plugin, entry_points: EntryPoints | None = None) -> Any:
    """Import a plugin's class. Raises ConfigurationError."""
    point = _entry_point(kind, plugin, entry_points)
    loaded = _imported(kind, plugin, point)
    _check_class(kind, plugin, point, loaded)
    return loaded


def _entry_point(kind: Kind, plugin: Plugin, entry_points: EntryPoints | None) -> EntryPoint:
    """The entry point that `use` names, or one made of its path.

    Modules beside the configuration are found too, after all that is installed.
    """
    if _PATH.fullmatch(plugin.use):
        if plugin.base_dir not in sys.path:
            sys.path.append(plugin.base_dir)
        return EntryPoint(plugin.name, plugin.use, kind.group)
    announced = _announced(kind, entry_points)
    named = {point.value: point for point in announced if point.name == plugin.use}
    if len(named) == 1:
        return next(iter(named.values()))
    if named:
        paths = " and ".join(sorted(named))
        message = f'Two packages offer a {kind.word} "{plugin.use}": {paths}. Write one of these as use:.'
        raise error_of(kind, plugin, message, "use")
    hint = sentences.suggestion(plugin.use, sorted({p.name for p in announced}))
    message = f"{kind.word}s.{plugin.name}: no {kind.word} {sentences.named(plugin.use)} is installed. {hint}"
    raise error_of(kind, plugin, f"{message} Your own is written package.module:Class.", "use")


def _imported(kind: Kind, plugin: Plugin, point: EntryPoint) -> Any:
    if not point.pattern.match(point.value):
        message = (
            f"The {kind.word} {plugin.name} cannot be imported: its package announces it as {point.value!r}."
        )
        raise error_of(kind, plugin, f"{message} It must be package.module:Class.", "use")
    try:
        return point.load()
    except ModuleNotFoundError as error:
        raise error_of(kind, plugin, _missing(kind, plugin, point, error), "use") from error
    except AttributeError as error:
        message = f"The {kind.word} {plugin.name} cannot be imported: {_one_line(error)}"
        if getattr(error.obj, "__name__", "") == point.module and error.name in point.attr.split("."):
            message = f"The {kind.word} {plugin.name} cannot be used: {point.module} has no {point.attr}."
        raise error_of(kind, plugin, message, "use") from error
    except KeyboardInterrupt:  # Ctrl-C is the operator's
        raise
    except BaseException as error:  # a plugin's module may do anything at all when imported
        message = f"The {kind.word} {plugin.name} cannot be imported: {_one_line(error)}"
        raise error_of(kind, plugin, message, "use") from error


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
        message = f"{point.value} is no {kind.word}: it must be a subclass of {name_of(kind.base)}."
    elif inspect.isabstract(loaded):
        missing = ", ".join(sorted(getattr(loaded, "__abstractmethods__", ())))
        message = f"The {kind.word} {point.value} is not complete: it does not implement {missing}."
    elif getattr(loaded, "contract_version", None) != kind.version:
        message = _other_version(kind, point, getattr(loaded, "contract_version", None))
    elif issubclass(loaded, Provider) and (misfit := _misfit(loaded)):
        message = f"The {kind.word} {point.value} cannot be used: {misfit}."
    else:
        return
    raise error_of(kind, plugin, message, "use")


# What a provider's class says of what its service takes: the types, and in words.
LIMITS: dict[str, tuple[tuple[type, ...], str]] = {
    "pace": ((Pace,), "Pace(account=…, place=…), in messages a second"),
    "max_length": ((int,), "a number of characters, or 0"),
    "max_choices": ((int,), "a number of buttons"),
    "max_label": ((int,), "a number of characters"),
    "patience": ((int, float), "a number of seconds"),
}


def _misfit(loaded: type[Provider]) -> str:
    """The first limit that cannot be worked with; a property says one later, for each provider."""
    for name, (types, what) in LIMITS.items():
        found = inspect.getattr_static(loaded, name)
        fits = isinstance(found, types) and not (isinstance(found, int | float) and found < 0)
        if not fits and not hasattr(type(found), "__get__"):
            return f"its {name} must be {what}"
    return ""


def _other_version(kind: Kind, point: EntryPoint, version: object) -> str:
    newer = isinstance(version, int) and version > kind.version
    return (
        f"The {kind.word} {point.value} was written for version {version} of the contract, "
        f"and this answerback has version {kind.version}: update {'answerback' if newer else 'the plugin'}."
    )


def _announced(kind: Kind, entry_points: EntryPoints | None) -> list[EntryPoint]:
    points = _installed(kind.group, tuple(sys.path)) if entry_points is None else entry_points
    return [point for point in points if point.group == kind.group]


@functools.lru_cache(maxsize=4)
def _installed(group: str, path: tuple[str, ...]) -> EntryPoints:
    """Read once for as long as the path is the same: every package that is installed has to be opened."""
    return importlib.metadata.entry_points(group=group)


def error_of(kind: Kind, plugin: Plugin, message: str, key: str = "") -> ConfigurationError:
    return source_of(kind, plugin).error(key, message)


def source_of(kind: Kind, plugin: Plugin) -> Source:
    prefix = f"{kind.word}s.{plugin.name}"
    return Source(plugin.file, plugin.base_dir, plugin.lines, prefix, plugin.line, plugin.hidden)


def name_of(thing: type) -> str:
    return f"{thing.__module__}.{thing.__name__}"


def _one_line(error: BaseException) -> str:
    try:
        text = next(iter(str(error).splitlines()), "")
    except Exception:  # even its text is the plugin's code
        text = ""
    return f"{type(error).__name__}{f': {text}' if text else ''}."
