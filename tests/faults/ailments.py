"""What can befall a database while a gateway runs on it: each is a context manager that ends it again."""

import contextlib
import resource
import sqlite3
from collections.abc import AsyncIterator, Callable, Iterator
from contextlib import AbstractAsyncContextManager
from typing import LiteralString

import psycopg
from psycopg import sql

from answerback.app import App
from answerback.tables import metadata
from tests.faults import small_disk
from tests.support.databases import Database

Ailment = Callable[[App, Database], AbstractAsyncContextManager[None]]


@contextlib.asynccontextmanager
async def sqlite_full(app: App, database: Database) -> AsyncIterator[None]:
    """No byte more fits on the disk: every write to a file of this process fails."""
    before = resource.getrlimit(resource.RLIMIT_FSIZE)
    resource.setrlimit(resource.RLIMIT_FSIZE, (0, before[1]))
    try:
        yield
    finally:
        resource.setrlimit(resource.RLIMIT_FSIZE, before)


@contextlib.asynccontextmanager
async def sqlite_read_only(app: App, database: Database) -> AsyncIterator[None]:
    """The writing connection may only read."""

    connection = await app.context.store.write(lambda tx: tx._cursor.connection)
    connection.execute("PRAGMA query_only=ON")
    try:
        yield
    finally:
        connection.execute("PRAGMA query_only=OFF")  # not by a transaction: none can be begun


@contextlib.asynccontextmanager
async def sqlite_locked(app: App, database: Database) -> AsyncIterator[None]:
    """Somebody else holds the write lock: a backup that hangs, a shell that was left open."""
    await app.context.store.write(lambda tx: tx._cursor.execute("PRAGMA busy_timeout=20") and None)
    other = sqlite3.connect(database.data_dir / "answerback.db", isolation_level=None)
    other.execute("BEGIN EXCLUSIVE")
    try:
        yield
    finally:
        other.execute("ROLLBACK")
        other.close()


@contextlib.asynccontextmanager
async def postgresql_gone(app: App, database: Database) -> AsyncIterator[None]:
    """The server ended all connections and takes no new ones."""
    with _altered(database, "ALLOW_CONNECTIONS false", "ALLOW_CONNECTIONS true"):
        yield


@contextlib.asynccontextmanager
async def postgresql_read_only(app: App, database: Database) -> AsyncIterator[None]:
    """As after a failover to a standby: connections are taken, and nothing can be written."""
    with _altered(database, "SET default_transaction_read_only = on", "RESET default_transaction_read_only"):
        yield


@contextlib.contextmanager
def _altered(database: Database, change: LiteralString, back: LiteralString) -> Iterator[None]:
    """The database changed, and every connection to it ended; at the end, changed back."""
    with _admin(database) as (admin, name):
        admin.execute(sql.SQL("ALTER DATABASE {} " + change).format(name))
        _end_connections(admin, database)
        try:
            yield
        finally:
            admin.execute(sql.SQL("ALTER DATABASE {} " + back).format(name))


@contextlib.asynccontextmanager
async def postgresql_full(app: App, database: Database) -> AsyncIterator[None]:
    """No page more fits on the disk of its tables (see small_disk.py)."""
    with psycopg.connect(database.url, autocommit=True) as admin:
        small_disk.fill(admin)
        try:
            yield
        finally:
            small_disk.empty(admin)


@contextlib.asynccontextmanager
async def postgresql_locked(app: App, database: Database) -> AsyncIterator[None]:
    """Somebody else holds the tables: a dump that hangs, a migration that was left open."""
    await app.context.store.write(lambda tx: tx._cursor.execute("SET lock_timeout = '20ms'") and None)
    with psycopg.connect(database.url) as other:
        _lock_all(other)
        yield
        other.rollback()


def _lock_all(other: psycopg.Connection) -> None:
    tables = sql.SQL(", ").join(sql.Identifier(table.name) for table in metadata.sorted_tables)
    while True:
        try:
            other.execute(sql.SQL("LOCK TABLE {} IN EXCLUSIVE MODE").format(tables))
            return
        except psycopg.errors.DeadlockDetected:  # with the gateway, which took them in another order
            other.rollback()


@contextlib.asynccontextmanager
async def postgresql_restarted(app: App, database: Database) -> AsyncIterator[None]:
    """All connections are ended, as by a restart of the server; new ones are taken at once."""
    with _admin(database) as (admin, _):
        _end_connections(admin, database)
    yield


@contextlib.contextmanager
def _admin(database: Database):
    name = _name(database)
    with psycopg.connect(database.url.replace(f"/{name}?", "/postgres?"), autocommit=True) as connection:
        yield connection, sql.Identifier(name)


def _name(database: Database) -> str:
    return str(psycopg.conninfo.conninfo_to_dict(database.url)["dbname"])


def _end_connections(admin: psycopg.Connection, database: Database) -> None:
    admin.execute(
        "SELECT pg_terminate_backend(pid, 10000) FROM pg_stat_activity WHERE datname = %s", [_name(database)]
    )


AILMENTS: dict[str, dict[str, Ailment]] = {
    "sqlite": {"full": sqlite_full, "read-only": sqlite_read_only, "locked": sqlite_locked},
    "postgresql": {
        "full": postgresql_full,
        "read-only": postgresql_read_only,
        "locked": postgresql_locked,
        "gone": postgresql_gone,
    },
}
