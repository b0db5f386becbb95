"""`check`: whether the configuration can be used, all of it, before anything is started."""

import click

from answerback.cli.errors import Exit
from answerback.cli.options import local


@click.command()
@click.option(
    "--online",
    is_flag=True,
    help="Also ask each provider's service who we are there, and PostgreSQL whether it can be used.",
)
@local
def check(config: str | None, online: bool, as_json: bool) -> None:
    """Check the configuration, and import what it names. Lists every problem with its place; exits with 1."""
    import asyncio
    import logging
    import os

    from answerback import settings
    from answerback.cli import checking, terminal
    from answerback.errors import ConfigurationError

    logging.getLogger("answerback").addHandler(logging.NullHandler())  # what it says is in what is found
    try:
        loaded = settings.load(config, environ=os.environ)
        found = asyncio.run(checking.check(loaded, online=online))
    except ConfigurationError as error:
        found = checking.Found([], [str(error)])
    if as_json:
        said = {"found": dict(found.facts), "problems": found.problems, "notes": found.notes}
        terminal.put_json({"ok": not found.problems, **said})
    else:
        terminal.table(found.facts)
        for problem in found.problems + found.notes:
            terminal.note(problem)
    click.get_current_context().exit(Exit.ERROR if found.problems else Exit.FINE)
