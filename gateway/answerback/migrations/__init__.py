"""Brings a database to the present shape, by Alembic."""

import pathlib

from alembic import command
from alembic.config import Config
from alembic.runtime.migration import MigrationContext
from alembic.script import ScriptDirectory
from sqlalchemy import Connection, create_engine, text

LOCK = 7_203_918_455  # the PostgreSQL advisory lock under which one process migrates


def _config(connection: Connection | None = None) -> Config:
    config = Config()
    config.set_main_option("script_location", str(pathlib.Path(__file__).parent).replace("%", "%%"))
    config.attributes["connection"] = connection
    return config


def upgrade(url: str) -> None:
    """To the newest revision; does nothing when it is there. One process at a time."""
    engine = create_engine(url)
    try:
        with engine.begin() as connection:
            if engine.dialect.name == "postgresql":
                connection.execute(text(f"SELECT pg_advisory_xact_lock({LOCK})"))
            command.upgrade(_config(connection), "head")
    finally:
        engine.dispose()


def revisions(url: str) -> tuple[str | None, str | None]:
    """(the database's revision, the newest one)."""
    engine = create_engine(url)
    try:
        with engine.connect() as connection:
            current = MigrationContext.configure(connection).get_current_revision()
    finally:
        engine.dispose()
    return current, ScriptDirectory.from_config(_config()).get_current_head()
