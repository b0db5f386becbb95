"""Options that commands share: where the configuration is, how to print, how much to tell."""

import os
from collections.abc import Callable
from typing import Any, TypeVar

import click
from click.core import ParameterSource

Command = TypeVar("Command", bound=Callable[..., Any])
FILE = os.path.join("config", "answerback.yaml")  # noqa: PTH118 - pathlib would be one more import at start
JSON = "answerback.as_json"


def _anywhere(ctx: click.Context, parameter: click.Parameter, value: Any) -> Any:
    """What was given at any level, the last one counts; or else the default, or the environment's."""
    name = f"answerback.{parameter.name}"
    if ctx.get_parameter_source(parameter.name or "") is ParameterSource.COMMANDLINE:
        ctx.meta[name] = value
    return ctx.meta.get(name, value)


def _config(ctx: click.Context, parameter: click.Parameter, value: str | None) -> str | None:
    """The named file, or the one in its usual place, or None for the embedded default."""
    return _anywhere(ctx, parameter, value) or (FILE if os.path.exists(FILE) else None)  # noqa: PTH110


CONFIG: dict[str, Any] = {
    "metavar": "FILE",
    "help": "The configuration. "
    "[default: $ANSWERBACK_CONFIG, then config/answerback.yaml, then a built-in one]",
}
URL: dict[str, Any] = {
    "metavar": "URL",
    "help": "The gateway. [default: $ANSWERBACK_URL, then where the configuration listens]",
}
AS_JSON: dict[str, Any] = {"is_flag": True, "help": "Print JSON."}
BUGS: dict[str, Any] = {"is_flag": True, "help": "Show the traceback of an error."}

config_option = click.option("--config", envvar="ANSWERBACK_CONFIG", callback=_config, **CONFIG)
url_option = click.option("--url", envvar="ANSWERBACK_URL", default="", callback=_anywhere, **URL)
json_option = click.option("--json", "as_json", callback=_anywhere, **AS_JSON)
debug_option = click.option("--debug", expose_value=False, callback=_anywhere, **BUGS)


def shared() -> list[click.Option]:
    """The same options for a group: they count for the command behind it."""
    kept: dict[str, Any] = {"expose_value": False, "callback": _anywhere}
    return [
        click.Option(["--config"], **kept, **CONFIG),
        click.Option(["--url"], **kept, **URL),
        click.Option(["--json", "as_json"], **kept, **AS_JSON),
        click.Option(["--debug"], **kept, **BUGS),
    ]


def local(command: Command) -> Command:
    """The options of commands that read the configuration themselves."""
    return config_option(json_option(debug_option(command)))


def remote(command: Command) -> Command:
    """The options of commands that speak to a gateway: `gateway` is where and how, see `gateway.Place`."""
    return local(url_option(command))


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
