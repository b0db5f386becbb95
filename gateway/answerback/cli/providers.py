"""`providers`: what is installed and configured, and whether it works; `new` writes one, `try` tests one."""

from typing import TYPE_CHECKING

import click

from answerback.cli.commands import Commands
from answerback.cli.errors import Exit
from answerback.cli.options import debug_option, json_option, local, remote

if TYPE_CHECKING:
    from answerback.cli.plugins import Listed


@click.group(cls=Commands, invoke_without_command=True)
@remote
@click.pass_context
def providers(ctx: click.Context, config: str | None, url: str, as_json: bool) -> None:
    """List the ways to reach people, and whether they work.

    A gateway that runs says it; without one, the configuration is checked.
    """
    if ctx.invoked_subcommand is not None:
        return
    from answerback.cli import plugins, terminal

    found = plugins.listed(config, url)
    if as_json:
        terminal.put_json(found.as_json())
    else:
        _show(found)
    ctx.exit(Exit.ERROR if found.problems else Exit.FINE)


@providers.command()
@click.argument("name")
@click.argument("folder", metavar="[DIR]", default="")
@json_option
@debug_option
def new(name: str, folder: str, as_json: bool) -> None:
    """Write a provider of your own, with its tests.

    A package is made in DIR, or in answerback-NAME here. It works as it is: change it until it is yours.
    """
    from pathlib import Path

    from answerback.cli import scaffold, terminal

    made = Path(folder or f"answerback-{name}")
    files = scaffold.write(name, made)
    if as_json:
        return terminal.put_json({"name": name, "folder": str(made), "files": [str(file) for file in files]})
    for file in files:
        terminal.out(str(file))
    terminal.note(f"Now: cd {made} && pip install --editable '.[dev]' && pytest")


@providers.command("try", context_settings={"ignore_unknown_options": True})  # groups have ids like -1001
@click.argument("name")
@click.argument("address")
@local
def try_(config: str | None, as_json: bool, name: str, address: str) -> None:
    """Send one message that asks nothing.

    NAME is a provider of the configuration. ADDRESS is an id at its service, or a contact of the
    configuration who has an address there.
    """
    import asyncio
    import os

    from answerback import settings
    from answerback.cli import terminal, trying

    loaded = settings.load(config, environ=os.environ)
    found = asyncio.run(trying.attempt(loaded, name, address))
    if as_json:
        terminal.put_json(
            {"status": found.status, "message_ids": list(found.message_ids), "detail": found.detail}
        )
    elif found.fine:
        terminal.out(found.detail)
    else:
        terminal.note(found.detail)
    click.get_current_context().exit(Exit.FINE if found.fine else Exit.ERROR)


def _show(found: "Listed") -> None:
    from answerback.cli import terminal

    if not found.configured:
        terminal.note("No provider is configured: see providers in the configuration.")
    else:
        terminal.note(f"Configured, as {found.gateway} says:" if found.gateway else "Configured:", bold=True)
        terminal.table([[one.name, one.use, one.state] for one in found.configured])
    terminal.note()
    terminal.note("Installed here:", bold=True)
    terminal.table([[one.name, one.source, one.about] for one in found.installed])
    for problem in found.problems:
        terminal.note(problem)
