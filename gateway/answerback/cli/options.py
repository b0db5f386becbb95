"""Options that commands share: where the configuration is, how to print, how much to tell."""

import os
from collections.abc import Callable
from typing import Any, TypeVar

import click

from answerback.cli.errors import DEBUG

Command = TypeVar("Command", bound=Callable[..., Any])
FILE = os.path.join("config", "answerback.yaml")  # noqa: PTH118 - pathlib would be one more import at start


def _debug(ctx: click.Context, parameter: click.Parameter, value: bool) -> None:
    if value:
        ctx.meta[DEBUG] = True


def _config(ctx: click.Context, parameter: click.Parameter, value: str | None) -> str | None:
    """The named file, or the one in its usual place, or None for the embedded default."""
    return value or (FILE if os.path.exists(FILE) else None)  # noqa: PTH110


config_option = click.option(
    "--config", metavar="FILE", envvar="ANSWERBACK_CONFIG", callback=_config,
    help="The configuration. [default: $ANSWERBACK_CONFIG, then config/answerback.yaml, then a built-in one]",
)  # fmt: skip
json_option = click.option("--json", "as_json", is_flag=True, help="Print JSON.")
debug_option = click.option(
    "--debug", is_flag=True, expose_value=False, callback=_debug, help="Show the traceback of an error."
)


def local(command: Command) -> Command:
    """The options of commands that read the configuration themselves."""
    return config_option(json_option(debug_option(command)))


def remote(command: Command) -> Command:
    """The options of commands that speak to a gateway: `gateway` is where and how, see `gateway.Place`."""
    url = click.option(
        "--url", metavar="URL", envvar="ANSWERBACK_URL", default="",
        help="The gateway. [default: $ANSWERBACK_URL, then where the configuration listens]",
    )  # fmt: skip
    return local(url(command))


def duration(ctx: click.Context, parameter: click.Parameter, value: str | None) -> float | None:
    """Seconds of `90s`, `10m`, `1h30m`; anything else is wrong usage."""
    from answerback.settings import units

    if value is None:
        return None
    try:
        return units.duration(value)
    except ValueError as error:
        raise click.BadParameter(str(error)) from None


here_option = click.option(
    "--no-answer", is_flag=True,
    help="Only wait: on a terminal, the question could else be answered there.",
)  # fmt: skip
patience_option = click.option(
    "--patience", metavar="TIME", default="60s", show_default=True, callback=duration,
    help="How long the gateway may be away while waiting.",
)  # fmt: skip
