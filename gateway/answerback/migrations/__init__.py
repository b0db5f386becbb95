"""Brings a database to the present shape, by Alembic."""

import contextlib
import functools
import pathlib
import sqlite3
from typing import Any

from alembic import command
from alembic.config import Config
from alembic.runtime.migration import MigrationContext
from alembic.script import ScriptDirectory
from sqlalchemy import Connection, Engine, create_engine, event, make_url, text
from sqlalchemy.exc import OperationalError, ProgrammingError

from answerback.errors import ConfigurationError
from answerback.tables import IN_USE

LOCK = 7_203_918_455  # the PostgreSQL advisory lock under which one process migrates
PATIENCE = 10.0  # seconds for gateways that are just stopping
# https://www.postgresql.org/docs/current/errcodes-appendix.html: lock_not_available, insufficient_privilege
TIMED_OUT, NOT_ALLOWED = "55P03", "42501"


def _config(connection: Connection | None = None) -> Config:
    config = Config()
    config.set_main_option("script_location", str(pathlib.Path(__file__).parent).replace("%", "%%"))
    config.attributes["connection"] = connection
    return config


def upgrade(url: str, patience: float = PATIENCE) -> str:
    """To the newest revision, which it returns; does nothing when it is there. One process at a time.

    Raises `ConfigurationError`, and changes nothing, if a newer version of answerback has been here, if
    gateways of an older one still use the database after `patience` seconds, or if its user may not do it.
    """
    if _seen(url) == _newest():
        return _newest()
    engine = _engine(url)
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
                _wait_for_others(connection, patience)
                command.upgrade(_config(connection), "head")
    except ProgrammingError as error:
        if getattr(error.orig, "sqlstate", None) != NOT_ALLOWED:
            raise
        raise ConfigurationError(
            "PostgreSQL lets {user} make no tables in this database. As an administrator, say ALTER DATABASE "
            "{dbname} OWNER TO {user}.".format_map({"user": "…", "dbname": "…"} | _parts(url))
        ) from error
    finally:
        engine.dispose()
    return _newest()


def _seen(url: str) -> str | None:
    """The database's revision by its own driver, or None where that finds none.

    SQLAlchemy, by which a database is changed, asks a server much more before it knows as much.
    """
    if url.startswith("sqlite"):
        with contextlib.closing(sqlite3.connect(make_url(url).database or "")) as file:
            return _revision_in(file, sqlite3.Error)
    import psycopg

    with psycopg.connect(_plain(url), autocommit=True) as session:
        return _revision_in(session, psycopg.ProgrammingError)


def _revision_in(connection: Any, none: type[Exception]) -> str | None:
    try:
        found = connection.execute("SELECT version_num FROM alembic_version").fetchone()
    except none:
        return None
    return found and found[0]  # type: ignore[no-any-return]


def _wait_for_others(connection: Connection, patience: float) -> None:
    """Until no gateway uses the database, so that none writes to tables that it does not know."""
    if connection.dialect.name != "postgresql":
        return
    connection.execute(text(f"SET LOCAL lock_timeout = '{patience}s'"))
    try:
        connection.execute(text(f"SELECT pg_advisory_xact_lock({IN_USE})"))
    except OperationalError as error:
        if getattr(error.orig, "sqlstate", None) != TIMED_OUT:
            raise
        raise ConfigurationError(
            "This version has to bring the database up to date, and a gateway of an older one uses it. Stop "
            "every gateway on this database, then start this one. Nothing was changed."
        ) from error
    connection.execute(text("SET LOCAL lock_timeout = DEFAULT"))


def _engine(url: str) -> Engine:
    """PostgreSQL's own library reads the URL: SQLAlchemy knows none with several hosts that have ports."""
    if not url.startswith("postgresql"):
        return create_engine(url)
    import psycopg

    return create_engine("postgresql+psycopg://", creator=lambda: psycopg.connect(_plain(url)))


def _parts(url: str) -> dict[str, Any]:
    import psycopg

    return psycopg.conninfo.conninfo_to_dict(_plain(url))


def _plain(url: str) -> str:
    """Without SQLAlchemy's driver."""
    return url.replace("+psycopg", "", 1)


def _in_one_transaction(engine: Engine) -> None:
    """Python's sqlite3 begins none for DDL: killed in between, half the tables would stay behind."""

    @event.listens_for(engine, "connect")
    def _connected(connection: Any, _: object) -> None:
        connection.isolation_level = None

    @event.listens_for(engine, "begin")
    def _begun(connection: Connection) -> None:
        connection.exec_driver_sql("BEGIN IMMEDIATE")


def revisions(url: str) -> tuple[str | None, str]:
    """(the database's revision, the newest one)."""
    return _seen(url), _newest()


def _revision_of(connection: Connection) -> str | None:
    return MigrationContext.configure(connection).get_current_revision()


@functools.cache
def _newest() -> str:
    newest = ScriptDirectory.from_config(_config()).get_current_head()
    assert newest is not None, "there are migrations"
    return newest


@functools.cache
def _known() -> frozenset[str]:
    return frozenset(script.revision for script in ScriptDirectory.from_config(_config()).walk_revisions())
