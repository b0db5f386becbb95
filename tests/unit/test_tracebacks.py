"""Law 11: a traceback says which exception it was and where, and nothing of what it said."""

import asyncio
import contextlib
import io
import json
import logging
import sys
import threading
import warnings
from collections.abc import Callable, Iterator

import pytest

from answerback.cli.logs import JsonLines, TextLines
from answerback.tracebacks import MOST, keep_discreet, told

SECRET = "the combination is 7-21-9"


class Bad(Exception):
    """With notes, a cause, and a text that only it has."""


def caught(deed: Callable[[], object]) -> BaseException:
    try:
        deed()
    except BaseException as error:
        return error
    raise AssertionError("nothing was raised")


def from_a_cause() -> None:
    try:
        raise ValueError(SECRET)
    except ValueError as error:
        error.add_note(SECRET)
        raise Bad(SECRET) from error


def while_handling() -> None:
    try:
        raise ValueError(SECRET)
    except ValueError:
        raise KeyError(SECRET)  # noqa: B904 - that is what happens


def in_a_group() -> None:
    raise ExceptionGroup(SECRET, [ValueError(SECRET), ExceptionGroup(SECRET, [Bad(SECRET)])])


def as_code() -> None:
    compile(f"'{SECRET}", SECRET, "exec")


@pytest.mark.parametrize(
    ("deed", "names"),
    [
        (from_a_cause, ["ValueError: ", "which led to", "tests.unit.test_tracebacks.Bad: "]),
        (while_handling, ["ValueError: ", "while it was handled", "KeyError: "]),
        (in_a_group, ["ExceptionGroup: ", "ValueError: ", "tests.unit.test_tracebacks.Bad: "]),
        (as_code, ["SyntaxError: "]),
    ],
)
def test_law_11_each_exception_is_named_with_its_place_and_without_its_words(
    deed: Callable[[], object], names: list[str]
) -> None:
    found = told(caught(deed))
    assert SECRET not in found
    places = [found.find(name) for name in names]
    assert -1 not in places and places == sorted(places), found
    assert f"in {deed.__name__}" in found


def test_exceptions_that_led_to_each_other_are_told_once() -> None:
    one, other = ValueError(SECRET), KeyError(SECRET)
    one.__cause__, other.__cause__ = other, one
    assert told(one).count("Error: ") == 2
    first = error = ValueError(SECRET)
    for _ in range(MOST * 2):
        error.__cause__ = error = ValueError(SECRET)
    assert told(first).count("ValueError: ") == MOST


def test_both_forms_of_the_log_say_no_more() -> None:
    error = caught(from_a_cause)
    record = logging.LogRecord("a", logging.ERROR, "", 1, "it failed", (), (type(error), error, None))
    text, line = TextLines().format(record), JsonLines().format(record)
    assert SECRET not in text + line
    assert "Bad: " in text and "Bad: " in json.loads(line)["traceback"]


@contextlib.contextmanager
def logged() -> Iterator[io.StringIO]:
    """What this process logs, as `serve` writes it, and its hooks as they were."""
    written = io.StringIO()
    handler, root = logging.StreamHandler(written), logging.getLogger()
    handler.setFormatter(TextLines())
    hooks = threading.excepthook, sys.unraisablehook, sys.excepthook
    format_before = warnings.formatwarning
    root.addHandler(handler)
    try:
        yield written
    finally:
        root.removeHandler(handler)
        threading.excepthook, sys.unraisablehook, sys.excepthook = hooks
        warnings.formatwarning = format_before


async def test_law_11_what_nobody_catches_is_logged_without_its_words_too() -> None:
    async def forgotten() -> None:
        raise ValueError(SECRET)

    loop = asyncio.get_running_loop()
    with logged() as written:
        keep_discreet(loop)
        thread = threading.Thread(target=from_a_cause)
        thread.start()
        await asyncio.to_thread(thread.join)
        task = loop.create_task(forgotten())
        await asyncio.wait([task])
        del task
        error = caught(as_code)
        sys.excepthook(type(error), error, error.__traceback__)
        loop.call_soon(in_a_group)
        await asyncio.sleep(0)
    assert SECRET not in written.getvalue()
    for said in ("a thread ended", "never retrieved", "Bad: ", "ExceptionGroup: ", "the process ends"):
        assert said in written.getvalue()


async def test_law_11_a_warning_says_its_kind_and_its_place_without_its_words() -> None:
    with logged() as written, warnings.catch_warnings():
        keep_discreet(asyncio.get_running_loop())
        warnings.simplefilter("always")
        logging.captureWarnings(True)
        try:
            warnings.warn(f"expected a number, got {SECRET}", UserWarning, stacklevel=1)
        finally:
            logging.captureWarnings(False)
    assert SECRET not in written.getvalue()
    assert "test_tracebacks.py" in written.getvalue() and "UserWarning" in written.getvalue()
