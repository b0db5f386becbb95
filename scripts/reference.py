"""Writes docs/reference.md from the program itself: `make reference`. A test holds the two together."""

import inspect
from collections.abc import Iterator
from pathlib import Path

import click

from answerback import errors
from answerback.cli import root
from answerback.cli.errors import Exit

FILE = Path(__file__).parents[1] / "docs" / "reference.md"
HEAD = """\
# Reference

Every command of `answerback` with its options, what it exits with, and the errors of the HTTP API. \
`make reference` writes this page from the program. The HTTP API is described by your gateway itself, at \
`/docs`; the configuration has [a page of its own](configuration.md).
"""
CODES = {
    Exit.FINE: "Answered, or fine. With `--confirm`: yes.",
    Exit.ERROR: "Something went wrong; stderr says what, and what to do.",
    Exit.USAGE: "The command line cannot be understood.",
    Exit.EXPIRED: "Nobody answered before the deadline.",
    Exit.CANCELLED: "The question or the run was withdrawn.",
    Exit.NO: "Answered no.",
    Exit.INTERRUPTED: "Ctrl-C.",
}
NOT_REFUSED = {  # what the API answers beside the errors of `errors.Refused`
    (401, "unauthorized"): "There is no key, or none that is known here, and you are not known otherwise.",
    (409, "not-pending"): "The agent does not wait for this any more.",
    (500, "internal"): "A fault of the gateway's own, or of its function `authenticate`; it is in the log.",
    (
        503,
        "unavailable",
    ): "Nothing was accepted: the database, the agent or `authenticate` is away. Try again.",
}


ABOUT_ERRORS = """\
Problem documents ([RFC 9457](https://www.rfc-editor.org/rfc/rfc9457)): `code` is stable, `detail` is a \
sentence that says what to do.
"""


ANYWHERE = """\
They stand before the command, between its words or behind them: `answerback --json interactions list`, \
`answerback interactions list --json`. `answerback demo` and `answerback serve` take what they need of these.

With `--json`, results are objects on stdout. A command that could not do its work says why in one object \
on the last line of stderr, with the same exit code: a problem document, as \
[the HTTP API has them](#errors-of-the-http-api). Codes beside those there are of the command line alone: \
`usage`, `configuration`, `no-input` and `failed`; `unavailable` also means that no gateway answers.
"""


def reference() -> str:
    """The whole page."""
    parts = [HEAD, *_shared(), "## Commands\n", *_commands(root, "answerback"), *_codes(), *_errors()]
    return "\n".join(parts)


def _shared() -> Iterator[str]:
    """The options that nearly every command has, once."""
    yield "## Options of every command\n"
    yield from _table([each for each in _options(_leaf()) if each.name in SHARED])
    yield ANYWHERE


SHARED = {"config", "url", "as_json", "debug"}


def _leaf() -> click.Command:
    found = root.get_command(click.Context(root), "ask")
    assert found is not None
    return found


def _commands(group: click.Group, path: str) -> Iterator[str]:
    context = click.Context(group)
    for name in group.list_commands(context):
        command = group.get_command(context, name)
        assert command is not None
        yield from _command(command, f"{path} {name}")
        if isinstance(command, click.Group):
            yield from _commands(command, f"{path} {name}")


def _command(command: click.Command, path: str) -> Iterator[str]:
    arguments = [each for each in command.params if isinstance(each, click.Argument)]
    what = " ".join([path, *(each.make_metavar(click.Context(command)) for each in arguments)])
    yield f"### {path.removeprefix('answerback ')}\n"
    yield f"`{what}`\n"
    paragraphs = inspect.cleandoc(command.help or "").replace("\f", "").split("\n\n")
    for paragraph in paragraphs:
        yield _prose(paragraph) + "\n"
    own = [each for each in _options(command) if each.name not in SHARED]
    if own:
        yield from _table(own)


def _prose(paragraph: str) -> str:
    r"""A paragraph; one that click is told to leave alone (`\b`) is a block."""
    if paragraph.startswith("\b"):
        return "```text\n" + paragraph.removeprefix("\b").strip("\n") + "\n```"
    return " ".join(paragraph.split())


def _options(command: click.Command) -> list[click.Option]:
    return [each for each in command.params if isinstance(each, click.Option) and not each.hidden]


def _table(options: list[click.Option]) -> Iterator[str]:
    yield "| Option | |\n| --- | --- |"
    for option in options:
        names = " / ".join([*option.opts, *option.secondary_opts])
        takes = "" if option.is_flag else f" {option.make_metavar(click.Context(click.Command('x')))}"
        about = " ".join((option.help or "").split())
        if option.show_default and option.default is not None and not option.is_flag:
            about = f"{about} [default: {option.default}]".strip()
        yield f"| `{(names + takes).replace('|', chr(92) + '|')}` | {about} |"
    yield ""


def _codes() -> Iterator[str]:
    yield "## Exit codes\n"
    yield "| Code | |\n| --- | --- |"
    yield from (f"| {int(code)} | {CODES[code]} |" for code in Exit)
    yield ""


def _errors() -> Iterator[str]:
    """Problem documents (RFC 9457) by status and code."""
    yield "## Errors of the HTTP API\n"
    yield ABOUT_ERRORS
    yield "| Status | `code` | |\n| --- | --- | --- |"
    tree = inspect.getdoc(errors) or ""
    rows = {
        (each.status, each.code): _sentence(tree.split(f" {each.__name__} ", 1)[1].partition("\n")[0])
        for each in errors.Refused.__subclasses__()
    }
    for (status, code), about in sorted((rows | NOT_REFUSED).items()):
        yield f"| {status} | `{code}` | {about} |"
    yield ""


def _sentence(text: str) -> str:
    text = text.strip()
    return f"{text[0].upper()}{text[1:]}."


if __name__ == "__main__":
    FILE.write_text(reference(), encoding="utf-8")
