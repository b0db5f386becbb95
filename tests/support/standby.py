"""A real PostgreSQL with a standby that it does not wait for (streaming replication), which takes over."""

import contextlib
import subprocess
import tempfile
import time
from collections.abc import Iterator
from pathlib import Path
from typing import Any, LiteralString
from urllib.parse import quote

import psycopg
from psycopg import sql

from tests.support.postgres import programs, stopped_even_after_a_kill, unprivileged

# The standby's log needs no `fsync` to be its own after the first one has died.
OPTIONS = "-c listen_addresses= -c fsync=off -c wal_level=replica -c wal_keep_size=64MB -k "
NAME = "answerback"
LONGEST = 30.0  # seconds for what takes one


class Standby:
    """Two servers under one URL: clients connect to whichever may be written to."""

    def __init__(self, folder: Path) -> None:
        self._folder, self._owner = folder, unprivileged(folder)
        hosts = ",".join(quote(str(self._at(server)), safe="") for server in ("one", "two"))
        self.url = f"postgresql://postgres@/{NAME}?host={hosts}&target_session_attrs=read-write"
        self._stack = contextlib.ExitStack()

    def start(self) -> None:
        self._run("initdb", "-D", self._data("one"), "-U", "postgres", "--auth=trust", "--no-sync")
        self._begin("one")
        self._do("one", "CREATE DATABASE {}", NAME)
        source = ["-h", self._at("one"), "-U", "postgres"]
        self._run("pg_basebackup", *source, "-D", self._data("two"), "-R", "-c", "fast", "--no-sync")
        self._begin("two")

    def falls_behind(self) -> None:
        """It has everything until now, and gets nothing more."""
        now = self._do("one", "SELECT pg_current_wal_lsn()")
        self._until(f"SELECT pg_last_wal_replay_lsn() >= '{now}'")
        self._do("two", "ALTER SYSTEM SET primary_conninfo = ''")
        self._do("two", "SELECT pg_reload_conf()")
        self._until("SELECT NOT EXISTS (SELECT 1 FROM pg_stat_wal_receiver)")

    def takes_over(self) -> None:
        """The first server dies, and the second one may be written to."""
        self._run("pg_ctl", "-D", self._data("one"), "-m", "immediate", "-w", "stop")
        assert self._do("two", "SELECT pg_promote()") is True

    def close(self) -> None:
        for server in ("one", "two"):
            with contextlib.suppress(subprocess.CalledProcessError):  # it has never begun, or has ended
                self._run("pg_ctl", "-D", self._data(server), "-m", "immediate", "-w", "stop")
        self._stack.close()

    def _begin(self, server: str) -> None:
        self._at(server).mkdir()
        unprivileged(self._at(server))
        start = ["-w", "-l", self._folder / f"{server}.log", "-o", f"{OPTIONS}{self._at(server)}", "start"]
        self._run("pg_ctl", "-D", self._data(server), *start)
        pid = int((self._data(server) / "postmaster.pid").read_text().split()[0])
        self._stack.enter_context(stopped_even_after_a_kill(pid, self._folder))

    def _data(self, server: str) -> Path:
        return self._folder / f"{server}.data"

    def _at(self, server: str) -> Path:
        return self._folder / server

    def _run(self, program: str, *arguments: str | Path) -> None:
        command = [programs() / program, *arguments]
        subprocess.run(command, cwd="/", capture_output=True, check=True, **self._owner)

    def _do(self, server: str, statement: LiteralString | str, *names: str) -> Any:
        """What it gives first, if anything."""
        url = f"postgresql://postgres@/postgres?host={quote(str(self._at(server)))}"
        with psycopg.connect(url, autocommit=True) as admin:
            order = sql.SQL(statement).format(*map(sql.Identifier, names))
            found = admin.execute(order)
            return (found.fetchone() or (None,))[0] if found.description else None

    def _until(self, question: str) -> None:
        given_up = time.monotonic() + LONGEST
        while not self._do("two", question):
            assert time.monotonic() < given_up, question
            time.sleep(0.01)


@contextlib.contextmanager
def standing_by() -> Iterator[Standby]:
    with tempfile.TemporaryDirectory(prefix="answerback-pair-", ignore_cleanup_errors=True) as name:
        pair = Standby(Path(name))
        try:
            pair.start()
            yield pair
        finally:
            pair.close()
