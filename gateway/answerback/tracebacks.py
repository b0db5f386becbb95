"""Tracebacks without the words of exceptions: these may hold an answer, an address or a token (law 11).

Whoever reads the log is told which exception it was and each line that led there. What it said is lost: a
database names the row that it refused, a library the address that it called, a graph the answer it got.
"""

import asyncio
import logging
import sys
import threading
import traceback
import warnings
from collections.abc import Iterator
from types import TracebackType
from typing import Any

HIDDEN = "(what it said is not logged: it may hold a secret)"
BECAUSE, MEANWHILE = "which led to this exception:", "while it was handled, this exception came up:"
MOST = 10  # exceptions that led to one, or that are in one group
log = logging.getLogger("answerback.unhandled")
ExceptionInfo = tuple[type[BaseException], BaseException, TracebackType | None] | tuple[None, None, None]


class Discreet(logging.Formatter):
    """A formatter whose tracebacks are those of this module."""

    def format(self, record: logging.LogRecord) -> str:
        """One line, and the traceback: not the one that another formatter has left in the record."""
        record.exc_text = None
        return super().format(record)

    def formatException(self, ei: ExceptionInfo) -> str:
        """As lines, the last exception last."""
        return "" if ei[1] is None else told(ei[1])


def told(error: BaseException) -> str:
    """An exception and what led to it, as lines."""
    return "\n".join(_lines(error))


def _lines(error: BaseException) -> Iterator[str]:
    led: list[tuple[BaseException, str]] = []
    each, how = error, ""
    while len(led) < MOST and all(each is not one for one, _ in led):
        led.append((each, how))
        before, how = (
            (each.__cause__, BECAUSE)
            if each.__cause__ is not None or each.__suppress_context__
            else (each.__context__, MEANWHILE)
        )
        if before is None:
            break
        each = before
    for each, how in reversed(led):
        yield from _one(each)
        if how:
            yield how


def _one(error: BaseException) -> Iterator[str]:
    if error.__traceback__ is not None:
        yield "Traceback (most recent call last):"
        yield "".join(traceback.format_tb(error.__traceback__)).rstrip("\n")
    kind = type(error)
    where = "" if kind.__module__ == "builtins" else f"{kind.__module__}."
    yield f"{where}{kind.__qualname__}: {HIDDEN}"
    if isinstance(error, BaseExceptionGroup):
        for one in error.exceptions[:MOST]:
            yield "one of a group:"
            yield from _one(one)


def keep_discreet(loop: asyncio.AbstractEventLoop) -> None:
    """What nobody catches, in the loop, in a thread or in the process, is logged without its words too;

    and so is what is warned of.
    """
    loop.set_exception_handler(_in_loop)
    warnings.formatwarning = _warned
    sys.excepthook = lambda kind, error, _: _log("the process ends with an exception", error)
    threading.excepthook = lambda met: _log("a thread ended with an exception", met.exc_value)
    sys.unraisablehook = lambda met: _log("an exception could not be raised", met.exc_value)


def _warned(message: object, category: type[Warning], filename: str, lineno: int, line: object = None) -> str:
    """A library may warn of a value that it was given, and quote that."""
    return f"{filename}:{lineno}: {category.__name__}: {HIDDEN}"


def _in_loop(loop: asyncio.AbstractEventLoop, context: dict[str, Any]) -> None:
    _log(str(context.get("message", "an exception was not handled")), context.get("exception"))


def _log(what: str, error: BaseException | None) -> None:
    if not isinstance(error, SystemExit | KeyboardInterrupt):
        log.error(what, exc_info=error)
