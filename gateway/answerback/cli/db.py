"""`db`: the database itself; the one group of commands that does not go through the HTTP API."""

import click

from answerback.cli.errors import Commands
from answerback.cli.options import local


@click.group(cls=Commands)
def db() -> None:
    """The database. Where it is SQLite, stop the gateway first."""


@db.command()
@local
def upgrade(config: str | None, as_json: bool) -> None:
    """Bring the database to the present version; `serve` does that by itself."""
    import os

    from answerback import migrations, settings, store
    from answerback.cli import terminal

    found = settings.load(config, environ=os.environ)
    seen: dict[str, str | None] = {}

    def prepare(url: str) -> None:
        seen["before"], _ = migrations.revisions(url)
        migrations.upgrade(url)
        seen["now"], _ = migrations.revisions(url)

    opened = store.Store(store.choose(found.database, found.data_dir))
    opened.open(prepare)
    opened.close()
    if as_json:
        return terminal.put_json(seen)
    changed = "brought to" if seen["before"] != seen["now"] else "already at"
    terminal.note(f"The database is {changed} revision {seen['now']}.")
