"""`db`: the database itself; the one group of commands that does not go through the HTTP API."""

from pathlib import Path

import click

from answerback.cli.errors import Commands
from answerback.cli.options import local


@click.group(cls=Commands)
def db() -> None:
    """The database."""


@db.command()
@local
def upgrade(config: str | None, as_json: bool) -> None:
    """Bring the database to the present version; `serve` does that by itself. Stop the gateway first."""
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


@db.command()
@click.argument("folder", type=click.Path(path_type=Path))
@local
def backup(config: str | None, as_json: bool, folder: Path) -> None:
    """Copy the database, the checkpoints and the secret into FOLDER, which is made. The gateway may run."""
    import os

    from answerback import settings
    from answerback.cli import terminal
    from answerback.errors import ConfigurationError
    from answerback.store import copying

    found = settings.load(config, environ=os.environ)
    if found.database != "sqlite":
        message = "This database is PostgreSQL's: back it up with pg_dump, and keep the secret beside it"
        raise ConfigurationError(f"{message} (secret, secret_file, or {found.data_dir}/secret).")
    copied = copying.copy(found.data_dir, folder)
    if as_json:
        return terminal.put_json({"folder": str(folder), "files": copied})
    terminal.note(f"Copied into {folder}: {', '.join(copied)}.")
    if found.secret is not None:
        terminal.note("The secret is in the configuration, not in the copy: keep it with the backup.")
