"""JSON that an option is given: the text itself, @FILE, or - for standard input."""

import os
import sys
from typing import Any, BinaryIO

import click

STDIN = "-"  # neither this nor what begins with @ is JSON


def parsed(ctx: click.Context, parameter: click.Parameter, value: str | None) -> Any:
    """The value, read strictly; anything else is wrong usage, and says where it stands."""
    if value is None:
        return None
    from answerback.errors import DoesNotFit
    from answerback.values import parse

    raw, source = _read(value)
    try:
        return parse(raw)
    except DoesNotFit as error:
        message = f"{source} is not JSON that can be sent. {error.detail}{_hint(value)}"
        raise click.BadParameter(message) from None


def _read(value: str) -> tuple[str | bytes, str]:
    """What is to be parsed, and where it stands."""
    if value == STDIN:
        return _bytes(sys.stdin.buffer, "standard input"), "standard input"
    if not value.startswith("@"):
        return value, "this"
    name = value[1:]
    if not name:
        raise click.BadParameter("there is no name of a file after the @.")
    try:
        with open(name, "rb") as file:  # noqa: PTH123 - pathlib would be one more import at start
            return _bytes(file, name), name
    except OSError as error:
        raise click.BadParameter(f"{name} cannot be read: {error.strerror}.") from None


def _bytes(file: BinaryIO, name: str) -> bytes:
    """All of it, or one byte more than can be sent: what is read may have no end."""
    from answerback.values import LIMIT

    found = file.read(LIMIT + 1)
    if not found.strip():
        raise click.BadParameter(f"{name} is empty.")
    return found


def _hint(value: str) -> str:
    """Whoever names a file as it is means what stands in it."""
    return f" For what stands in the file: @{value}" if os.path.isfile(value) else ""  # noqa: PTH113
