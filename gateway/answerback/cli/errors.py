"""Errors on the command line: what, where, what to do; a traceback only with --debug."""

import enum
import signal
from typing import Any

import click

DEBUG = "answerback.debug"


class Exit(enum.IntEnum):
    """What a script learns."""

    FINE = 0
    ERROR = 1
    USAGE = 2
    EXPIRED = 3
    CANCELLED = 4
    NO = 5
    INTERRUPTED = 128 + signal.SIGINT


def tell(error: Exception, *, as_json: bool) -> None:
    """One line on stderr: what is wrong; as JSON a problem document, as the HTTP API has them."""
    import json

    click.echo(json.dumps(problem(error)) if as_json else f"answerback: {sentence(error)}", err=True)


def sentence(error: Exception) -> str:
    """What a person is told of an error."""
    from answerback.errors import AnswerbackError

    if isinstance(error, AnswerbackError):
        return str(error)
    if isinstance(error, EOFError):
        return "The input ended, so nothing was answered."
    if isinstance(error, OSError) and error.strerror:
        return f"{error.filename or 'The operating system'}: {error.strerror}."
    return f"Something unexpected happened ({type(error).__name__}). --debug shows where."


def problem(error: Exception) -> dict[str, Any]:
    """An error as a problem document (RFC 9457): what the API refused as it told it, or one of our own.

    `status` is that of the HTTP API; where it was not asked, the one that fits best.
    """
    from http import HTTPStatus

    status, code, title = _kind(error)
    known = status in {each.value for each in HTTPStatus}
    return {
        "type": f"urn:answerback:problem:{code}",
        "title": title or (HTTPStatus(status).phrase if known else "Error"),
        "status": status,
        "code": code,
        "detail": _usage(error) if isinstance(error, click.ClickException) else sentence(error),
    }


def _kind(error: Exception) -> tuple[int, str, str]:
    """Status, code, and a title where the status has none that fits."""
    from answerback.errors import AnswerbackError, ConfigurationError, Refused

    if isinstance(error, Refused):
        return error.status, error.code, ""
    if isinstance(error, click.UsageError):
        return 400, "usage", "Wrong Usage"
    if isinstance(error, click.ClickException):
        return 500, "failed", "Failed"
    if isinstance(error, ConfigurationError):
        return 500, "configuration", "Wrong Configuration"
    if isinstance(error, EOFError):
        return 400, "no-input", "No Input"
    if isinstance(error, AnswerbackError):  # the gateway, a database or an agent that is away
        return 503, "unavailable", ""
    return 500, "internal", ""


def _usage(error: click.ClickException) -> str:
    """The sentence, and where to read more."""
    context = getattr(error, "ctx", None)
    if context is None:
        return error.format_message()
    if isinstance(error, getattr(click.exceptions, "NoArgsIsHelpError", ())):  # its text is the whole help
        return f"Missing command. See: {context.command_path} --help"
    return f"{error.format_message()} See: {context.command_path} --help"
