"""What is printed: results to stdout, everything else to stderr; plain where nobody looks."""

import json
import os
import sys
from collections.abc import Sequence
from typing import Any, TextIO

import click


def out(text: str = "", **style: bool) -> None:
    """A result. `style`: bold, dim."""
    _put(text, sys.stdout, style)


def note(text: str = "", **style: bool) -> None:
    """What a person may want to know beside it."""
    _put(text, sys.stderr, style)


def put_json(value: Any) -> None:
    """A result as JSON: in ASCII, which every terminal and every pipe carries."""
    click.echo(json.dumps(value, indent=2 if sys.stdout.isatty() else None))


def table(rows: Sequence[Sequence[str]]) -> None:
    """A result in columns, aligned; the last one is as long as it is."""
    flat = [[" ".join(cell.split()) for cell in row] for row in rows]
    widths = [max(map(len, column)) for column in zip(*flat, strict=True)]
    for row in flat:
        cells = [cell.ljust(width) for cell, width in zip(row[:-1], widths[:-1], strict=True)]
        out("  ".join([*cells, row[-1]]).rstrip())


def safe(text: str, stream: TextIO) -> str:
    """On a terminal, what agents and strangers wrote must not steer it; a pipe gets every character."""
    if not stream.isatty() or text.replace("\n", "").isprintable():
        return text
    from answerback.render.visible import visible

    return visible(text)


def coloured(stream: TextIO) -> bool:
    """Styles only on a terminal, and not where NO_COLOR asks for none (https://no-color.org)."""
    return stream.isatty() and not os.environ.get("NO_COLOR") and os.environ.get("TERM") != "dumb"


def cut(text: str, most: int) -> str:
    """One line, at most `most` characters."""
    line = " ".join(text.split())
    return line if len(line) <= most else line[: most - 1].rstrip() + "…"


def local_time(moment: str | None, *, exact: bool = False) -> str:
    """RFC 3339 as the clock on the wall here: "14:02" today, else with its date; "" for None.

    `exact`: with its seconds.
    """
    if not moment:
        return ""
    import datetime

    then = datetime.datetime.fromisoformat(moment).astimezone()
    today = datetime.datetime.now(datetime.UTC).astimezone().date()
    time = f"{then:%H:%M:%S}" if exact else f"{then:%H:%M}"
    return time if then.date() == today else f"{then.day} {then:%b %Y}, {time}"


def erased(what: str, moment: str | None) -> str:
    """The sentence that it is not known any more; "" while it is."""
    return f"{what} was erased at {local_time(moment)}." if moment else ""


def _put(text: str, stream: TextIO, style: dict[str, bool]) -> None:
    shown = safe(text, stream)
    click.echo(click.style(shown, **style) if style and coloured(stream) else shown, file=stream)
