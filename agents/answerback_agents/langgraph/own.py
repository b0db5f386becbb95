"""Own: which code is the user's, and what it declares: its types, and the names of its steps and tasks."""

import dataclasses
import enum
import functools
import os
import sys
import sysconfig
from pathlib import Path
from types import ModuleType
from typing import Any

import pydantic
from langgraph.func import _TaskFunction
from langgraph.pregel import Pregel

from answerback import errors
from answerback_agents.langgraph import tasked, tooled
from answerback_agents.langgraph.evidence import Names


def names_in(graph: Pregel[Any, Any, Any, Any], graph_module: str) -> Names:
    """The names of all steps, those of inner graphs too, and of the tasks that they may call.

    Of tasks, those are known that stand in modules, or were made in functions while the graph was loaded.
    """
    graphs = [graph, *(inner for _, inner in graph.get_subgraphs(recurse=True))]
    tasks = {
        getattr(value, "__name__", "")
        for module in modules(graph_module)
        for value in list(vars(module).values())
        if isinstance(value, _TaskFunction)
    }
    return Names(
        frozenset(name for found in graphs for name in getattr(found, "nodes", ())),
        frozenset(tasks | tasked.names() | ({tooled.NAME} if tooled.is_used() else set())),
    )


def types(graph_module: str) -> set[tuple[str, ...]]:
    """The data types (models, dataclasses, enums, named tuples) of the user's code and the graph's package.

    Checkpoints may contain these without naming them in the state's schema: as results of tasks, inside
    `Any`, or as an interrupt's payload. Types of installed packages need the schema, or the `types` setting.
    """
    return {
        (value.__module__, value.__name__)
        for module in modules(graph_module)
        for value in list(vars(module).values())
        if isinstance(value, type) and value.__module__ == module.__name__ and _is_data(value)
    }


def modules(graph_module: str) -> list[ModuleType]:
    """Those of the user's code and of the graph's package, as far as they are imported."""
    package = graph_module.partition(".")[0]
    return [module for module in list(sys.modules.values()) if _is_own_module(module, package)]


def _is_own_module(module: Any, package: str) -> bool:
    file = getattr(module, "__file__", None)
    if not isinstance(module, ModuleType) or not isinstance(file, str):
        return False
    return module.__name__.partition(".")[0] == package or is_own(file)


def _is_data(kind: type) -> bool:
    named_tuple = issubclass(kind, tuple) and hasattr(kind, "_fields")
    return issubclass(kind, pydantic.BaseModel | enum.Enum) or dataclasses.is_dataclass(kind) or named_tuple


@functools.cache
def is_own(file: str) -> bool:
    """Whether a file is the user's: neither the standard library's nor an installed package's, nor ours.

    Compared as text, and once: it is asked for every module there is, several times when an agent is opened.
    """
    return not os.path.normpath(file).startswith(_libraries())


@functools.cache
def _libraries() -> tuple[str, ...]:
    """The folders where code that is not the user's lives, as they are written and as they are resolved."""
    paths = sysconfig.get_paths()
    known = [Path(paths[key]) for key in ("stdlib", "platstdlib", "purelib", "platlib")]
    known += [Path(sys.base_prefix, "lib"), Path(errors.__file__).parent, Path(__file__).parents[1]]
    both = {os.path.normpath(path) for written in known for path in (written, written.resolve())}
    return tuple(path + os.sep for path in both)
