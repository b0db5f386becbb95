"""The sessions of a PostgreSQL server of a test's own, seen as processes: the others keep theirs."""

from pathlib import Path

import psycopg

from tests.support.postgres import PostgresServer


def sessions(server: PostgresServer, database: str) -> list[int]:
    """Process ids of a database's, as the server titles them: `postgres: USER DATABASE HOST STATE`."""
    found = Path(f"/proc/{server.pid}/task/{server.pid}/children").read_text().split()
    return [int(pid) for pid in found if f" {database} " in title(pid)]


def title(pid: str) -> str:
    """What a process is called; "" once it is gone."""
    try:
        return Path(f"/proc/{pid}/cmdline").read_bytes().replace(b"\0", b" ").decode()
    except FileNotFoundError:
        return ""


def made(server: PostgresServer, name: str) -> str:
    """The URL of a new database, by a connection of its own: the server's end with its sessions.

    Copied by its files, it is nothing that the server would have to recover.
    """
    with psycopg.connect(server.url, autocommit=True) as admin:
        admin.execute(f"CREATE DATABASE {name} STRATEGY file_copy")
    return server.url_of(name)
