"""Loading: from the `graph` setting to a compiled graph."""

import asyncio
import contextlib
import dataclasses
import importlib
import importlib.util
import inspect
import os
import sys
import traceback
from collections.abc import Iterator
from pathlib import Path
from types import ModuleType
from typing import Any

from langgraph.graph import StateGraph
from langgraph.pregel import Pregel

from answerback.errors import AgentUnavailable, ConfigurationError
from answerback_agents import dialects
from answerback_agents.langgraph import own
from answerback_agents.langgraph.values import error_line

Graph = Pregel[Any, Any, Any, Any]
_NO_OPTIONS = (
    "`options` are for a function that takes `options` and returns a graph, and {}; "
    "leave them out, or name such a function"
)


@dataclasses.dataclass(frozen=True, slots=True)
class Loaded:
    """What a path named: the object, the file it comes from, and its module's name."""

    value: Any
    file: str
    module: str


async def load_object(path: str, base_dir: str, agent: str = "agent") -> Loaded:
    """The object that `file.py:name` or `package.module:name` names.

    The import runs in a thread, as in a fresh interpreter: without a running loop, and without blocking ours.
    """
    place, colon, name = path.rpartition(":")
    if not (colon and place and name):
        raise ConfigurationError(f"“{path}” needs a name: path/to/file.py:name or package.module:name")
    load = _import_file if place.endswith(".py") else _import_name
    module = await asyncio.to_thread(load, place, base_dir, agent)
    where = getattr(module, "__file__", None) or place
    return Loaded(_attribute(module, name, where), where, module.__name__)


async def load_dialect(path: str, base_dir: str, agent: str = "agent") -> dialects.Own | None:
    """The function that is asked first how to read a payload; None for "". Raises ConfigurationError."""
    if not path:
        return None
    own = (await load_object(path, base_dir, agent)).value
    if not callable(own):
        raise ConfigurationError(f"dialect: {path} is not a function")
    return own  # type: ignore[no-any-return]


def _attribute(module: ModuleType, name: str, where: str) -> Any:
    found: Any = module
    for part in name.split("."):
        if not hasattr(found, part):
            graphs = [key for key, value in vars(module).items() if isinstance(value, Pregel | StateGraph)]
            hint = f"; it has {', '.join(graphs)}" if graphs else "; name a graph or its factory"
            raise ConfigurationError(f"nothing is called “{name}” here{hint}", file=where)
        found = getattr(found, part)
    return found


def _import_name(place: str, base_dir: str, agent: str) -> ModuleType:
    _on_path(Path(base_dir).resolve())
    with _explained(place):
        return importlib.import_module(place)


def _import_file(place: str, base_dir: str, agent: str) -> ModuleType:
    """Import a file the way Python runs it: with its siblings, and inside its package if it has one."""
    file = Path(base_dir, place).resolve()
    if not file.is_file():
        raise ConfigurationError(f"no such file; paths start at {Path(base_dir).resolve()}", file=str(file))
    root, parts = file.parent, [file.stem]
    while (root / "__init__.py").is_file():
        root, parts = root.parent, [root.name, *parts]
    _on_path(root)
    name = ".".join(parts if parts[-1] != "__init__" else parts[:-1])
    with _explained(str(file)):
        if len(parts) > 1:
            return importlib.import_module(name)
        return _execute(file, name if _is_free(name, file) else f"{name}_{agent}")


def _is_free(name: str, file: Path) -> bool:
    """A file may be called like a library; then its module gets another name and hides nothing."""
    if name in sys.stdlib_module_names or not name.isidentifier():
        return False
    taken = sys.modules.get(name)
    return taken is None or getattr(taken, "__file__", None) == str(file)


def _execute(file: Path, name: str) -> ModuleType:
    taken = sys.modules.get(name)
    if taken is not None and getattr(taken, "__file__", None) == str(file):
        return taken
    spec = importlib.util.spec_from_file_location(name, file)
    assert spec is not None and spec.loader is not None, "a .py file always has a loader"
    module = importlib.util.module_from_spec(spec)
    sys.modules[name] = module  # checkpoints name types by module: it has to be found again
    try:
        spec.loader.exec_module(module)
    except BaseException:
        del sys.modules[name]
        raise
    return module


def _on_path(directory: Path) -> None:
    if str(directory) not in sys.path:
        sys.path.insert(0, str(directory))


@contextlib.contextmanager
def _explained(place: str) -> Iterator[None]:
    try:
        yield
    except ConfigurationError:
        raise
    except (Exception, SystemExit) as error:
        file, line = where(error, place)
        message = f"the graph does not import: {error_line(error)}; {_remedy(error)}"
        raise ConfigurationError(message, file=file, line=line) from error


def where(error: BaseException, place: str = "") -> tuple[str, int]:
    """The last line of the user's own code that is involved; `place` and 0 if none is."""
    if isinstance(error, SyntaxError) and error.filename:
        return error.filename, error.lineno or 0
    for frame in reversed(traceback.extract_tb(error.__traceback__)):
        if not frame.filename.startswith("<") and own.is_own(frame.filename):
            return frame.filename, frame.lineno or 0
    return place, 0


def _remedy(error: BaseException) -> str:
    if isinstance(error, ImportError) and "relative import" in str(error):
        return "put an empty __init__.py beside the file, name package.module:name, or import without the dot"
    if isinstance(error, ModuleNotFoundError):
        return f"install “{error.name}”, or put it beside the file"
    if _misses_a_variable(error):
        return "set this environment variable where the gateway runs"
    if isinstance(error, SystemExit):
        return 'put what should only run as a script under `if __name__ == "__main__":`'
    return "correct this line; `python FILE` shows the same error in full"


def _misses_a_variable(error: BaseException) -> bool:
    """Whether it is the KeyError of `os.environ[…]`."""
    frames = traceback.extract_tb(error.__traceback__)
    return isinstance(error, KeyError) and frames[-1].filename in ("<frozen os>", os.__file__)


@dataclasses.dataclass(frozen=True, slots=True)
class Offer:
    """What a factory is given if it takes it: a saver as `checkpointer`, and the agent's `options`."""

    saver: Any
    options: dict[str, Any]


async def build(found: Any, offer: Offer, where: str, stack: contextlib.AsyncExitStack) -> Graph:
    """A compiled graph from a graph, a builder or a factory. Raises ConfigurationError, AgentUnavailable."""
    if not isinstance(found, Pregel | StateGraph) and callable(found):
        found = await _made(found, offer, where, stack)
    elif offer.options:
        raise ConfigurationError(_NO_OPTIONS.format("this is no factory"), file=where)
    if isinstance(found, StateGraph):
        with _compiled(where):
            found = found.compile(checkpointer=offer.saver)
    if isinstance(found, Pregel):
        return found
    raise _no_graph(f"of the type {type(found).__name__}", where)


def _no_graph(what: str, where: str) -> ConfigurationError:
    return ConfigurationError(
        f"this is {what}, not a graph; name a StateGraph, a compiled graph, an @entrypoint, or a function "
        "that returns one",
        file=where,
    )


@contextlib.contextmanager
def _compiled(place: str) -> Iterator[None]:
    try:
        yield
    except (ConfigurationError, AgentUnavailable):
        raise
    except (Exception, SystemExit) as error:
        file, line = where(error, place)
        how = f"; {_remedy(error)}" if _misses_a_variable(error) else ""
        message = f"the graph cannot be made: {error_line(error)}{how}"
        raise ConfigurationError(message, file=file, line=line) from error


async def _made(factory: Any, offer: Offer, where: str, stack: contextlib.AsyncExitStack) -> Any:
    with _compiled(where):
        made = factory(**_arguments(factory, offer, where))
        if inspect.isawaitable(made):
            made = await made
        if hasattr(made, "__aenter__"):
            made = await stack.enter_async_context(made)
        elif hasattr(made, "__enter__"):
            made = stack.enter_context(made)
        return made


def _arguments(factory: Any, offer: Offer, where: str) -> dict[str, Any]:
    """`checkpointer` is ours, `config` an empty one, as LangGraph's own server calls factories."""
    empty = {"configurable": dict[str, Any]()}
    offered = {"checkpointer": offer.saver, "config": empty, "options": offer.options}
    given: dict[str, Any] = {}
    try:
        parameters = inspect.signature(factory).parameters
    except ValueError:  # a TypedDict, or another type that says nothing about how it is made
        raise _no_graph(f"the type {getattr(factory, '__name__', factory)}", where) from None
    for name, parameter in parameters.items():
        if parameter.kind in (parameter.VAR_POSITIONAL, parameter.VAR_KEYWORD):
            continue
        if name in offered:
            given[name] = offered[name]
        elif parameter.default is parameter.empty:
            message = f"the factory wants “{name}”, which nobody can give it; give it a default"
            raise ConfigurationError(message, file=where)
    if offer.options and "options" not in given:
        raise ConfigurationError(_NO_OPTIONS.format("this factory takes none"), file=where)
    return given
