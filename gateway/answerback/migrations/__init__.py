"""Brings a database to the present shape, by Alembic."""

import functools
import pathlib
from typing import Any

from alembic import command
from alembic.config import Config
from alembic.runtime.migration import MigrationContext
from alembic.script import ScriptDirectory
from sqlalchemy import Connection, Engine, create_engine, event, text

from answerback.errors import ConfigurationError

LOCK = 7_203_918_455  # the PostgreSQL advisory lock under which one process migrates


def _config(connection: Connection | None = None) -> Config:
    config = Config()
    config.set_main_option("script_location", str(pathlib.Path(__file__).parent).replace("%", "%%"))
    config.attributes["connection"] = connection
    return config


def upgrade(url: str) -> None:
    """To the newest revision; does nothing when it is there. One process at a time.

    Raises `ConfigurationError`, and changes nothing, if a newer version of answerback has been here.
    """
    engine = create_engine(url)
    if engine.dialect.name == "sqlite":
        _in_one_transaction(engine)
    try:
        with engine.begin() as connection:
            if engine.dialect.name == "postgresql":
                connection.execute(text(f"SELECT pg_advisory_xact_lock({LOCK})"))
            revision = _revision_of(connection)
            if revision is not None and revision not in _known():
                raise ConfigurationError(
                    "This database was brought up to date by a newer version of answerback (revision "
                    f"{revision}; this one knows {_newest()} at most). Nothing was changed. Start that "
                    "version again, or restore a backup from before."
                )
            if revision != _newest():
                command.upgrade(_config(connection), "head")
    finally:
        engine.dispose()


def _in_one_transaction(engine: Engine) -> None:
    """Python's sqlite3 begins none for DDL: killed in between, half the tables would stay behind."""

    @event.listens_for(engine, "connect")
    def _connected(connection: Any, _: object) -> None:
        connection.isolation_level = None

    @event.listens_for(engine, "begin")
    def _begun(connection: Connection) -> None:
        connection.exec_driver_sql("BEGIN IMMEDIATE")


def revisions(url: str) -> tuple[str | None, str | None]:
    """(the database's revision, the newest one)."""
    engine = create_engine(url)
    try:
        with engine.connect() as connection:
            current = _revision_of(connection)
    finally:
        engine.dispose()
    return current, _newest()


def _revision_of(connection: Connection) -> str | None:
    return MigrationContext.configure(connection).get_current_revision()


@functools.cache
def _newest() -> str | None:
    return ScriptDirectory.from_config(_config()).get_current_head()


@functools.cache
def _known() -> frozenset[str]:
    return frozenset(script.revision for script in ScriptDirectory.from_config(_config()).walk_revisions())
