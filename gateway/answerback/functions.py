"""Functions of the operator's own that a setting names as `my_package.module:function`, imported."""

import importlib
import inspect
import sys
from collections.abc import Callable
from typing import Any

from answerback.errors import ConfigurationError
from answerback.settings import Settings


def load(settings: Settings, key: str, path: str, takes: str) -> Callable[..., Any]:
    """The function at `path`, which has to take one argument, `takes`. Raises ConfigurationError.

    Modules beside the configuration are found too, after all that is installed.
    """
    module, _, name = path.partition(":")
    if settings.base_dir not in sys.path:
        sys.path.append(settings.base_dir)
    why = ""
    found: Any = None
    try:
        found = importlib.import_module(module)
    except ModuleNotFoundError as error:
        own = bool(error.name) and f"{module}.".startswith(f"{error.name}.")
        why = f"there is no module {error.name}." if own else f"{module} cannot be imported: {_line(error)}"
    except (Exception, SystemExit) as error:  # a script ends with the latter
        why = f"{module} cannot be imported: {_line(error)}"
    if not why:
        for part in name.split("."):
            found = getattr(found, part, None)
        why = _misfit(path, found, takes)
    if why:
        raise ConfigurationError(f"{key}: {why}", file=settings.file)
    function: Callable[..., Any] = found
    return function


def _misfit(path: str, found: Any, takes: str) -> str:
    """Why it cannot be called so, "" if it can."""
    if found is None:
        return f"{path.partition(':')[0]} has nothing that is called {path.partition(':')[2]}."
    if not callable(found) or isinstance(found, type):
        return f"{path} is no function."
    try:
        signature = inspect.signature(found)
    except ValueError:  # one that is not written in Python does not say what it takes
        return ""
    try:
        signature.bind(None)
    except TypeError:
        return f"{path} must take one argument, {takes}; it takes {signature}."
    return ""


def _line(error: BaseException) -> str:
    text = next(iter(str(error).splitlines()), "")
    return f"{type(error).__name__}{f': {text}' if text else ''}."
