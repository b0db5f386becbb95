"""`db`: the database itself; the one group of commands that does not go through the HTTP API."""

from pathlib import Path

import click

from answerback.cli.commands import Commands
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

    def prepare(url: str) -> str:
        seen["before"], _ = migrations.revisions(url)
        seen["now"] = now = migrations.upgrade(url)
        return now

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


@db.command()
@local
def restored(config: str | None, as_json: bool) -> None:
    """Say that the database was restored: what is open is asked again.

    What `db backup` made says so by itself. This is for all others: pg_dump, a snapshot of a disk.
    """
    import asyncio
    import os

    from answerback import migrations, settings, store
    from answerback.cli import terminal
    from answerback.sentences import moment
    from answerback.store import restored
    from answerback.web.records import timestamp

    found = settings.load(config, environ=os.environ)
    opened = store.Store(store.choose(found.database, found.data_dir))
    opened.open(migrations.upgrade)
    try:
        back = asyncio.run(opened.write(restored.said))
    finally:
        opened.close()
    if as_json:
        return terminal.put_json({"as_of": timestamp(back.of), "questions": back.open})
    terminal.note(f"This database counts as one of {moment(back.of, 'en', 'UTC', back.since)} UTC.")
    terminal.note(f"Open questions that are asked again: {back.open}.")


@db.command("renew-secret")
@local
def renew_secret(config: str | None, as_json: bool) -> None:
    """Take another secret: all links sent so far stop working. Stop every gateway first.

    It is the secret that the configuration names now, or else a new one, made in data_dir.
    """
    import asyncio
    import os

    from answerback import installation, migrations, settings, store
    from answerback.cli import terminal
    from answerback.errors import ConfigurationError
    from answerback.store import meta, renewing
    from answerback.store.tx import Tx
    from answerback.tokens import Tokens, hashed

    found = settings.load(config, environ=os.environ)
    opened = store.Store(store.choose(found.database, found.data_dir))
    opened.open(migrations.upgrade)
    try:
        with installation.renewed(found) as secret:
            tokens = Tokens(secret, found.public_url)

            def renew(tx: Tx) -> int:
                if meta.has_secret(tx, tokens.fingerprint):
                    raise ConfigurationError(
                        "The database has the configured `secret` already. Set another one first, the same "
                        "for every gateway."
                    )
                return renewing.renew(tx, tokens.fingerprint, lambda id: hashed(tokens.of(id)))

            count = asyncio.run(opened.write(renew))
    finally:
        opened.close()
    if as_json:
        return terminal.put_json({"links": count})
    terminal.note(f"Another secret counts from now on. Links that do not work any more: {count}.")
    if found.secret is None and found.database != "sqlite":
        terminal.note(f"It is in {found.data_dir}/secret. Every gateway on this database needs the same.")
    if found.signing_secret is None:
        terminal.note(
            "What is posted to a callback_url is signed with another key: `answerback signing-secret`."
        )
