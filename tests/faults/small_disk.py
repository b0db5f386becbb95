"""A PostgreSQL of its own whose tables lie on a disk of a few megabytes, so that it can really be full.

The disk is a tmpfs that only the server sees: both live in a user namespace, for which no rights are needed.
Its log (WAL) lies elsewhere, as it should: a server that cannot write that stops, and is then simply gone.
"""

import subprocess
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from urllib.parse import quote

import psycopg
import pytest
from psycopg import sql
from sqlalchemy import BigInteger, Integer, LargeBinary

from answerback.tables import metadata
from tests.support.postgres import programs, stopped_even_after_a_kill, unprivileged

MEGABYTES = 40
MOUNT = 'mount -t tmpfs -o size="$1" tmpfs "$2" && shift 2 && exec "$@"'
ALONE = ["unshare", "--user", "--map-current-user", "--keep-caps", "--mount", "sh", "-c", MOUNT, "sh"]
# Autovacuum would give back what `fill` took.
OPTIONS = "-c listen_addresses= -c fsync=off -c autovacuum=off -c full_page_writes=off -k "


@contextmanager
def running() -> Iterator[str]:
    """The URL of an empty database on the small disk. Skips the test where the kernel does not allow it."""
    with tempfile.TemporaryDirectory(prefix="answerback-small-", ignore_cleanup_errors=True) as name:
        folder = Path(name)
        small, data = folder / "disk", folder / "data"
        small.mkdir()
        owner = unprivileged(folder, small)

        def run(*command: str | Path) -> subprocess.CompletedProcess[str]:
            return subprocess.run(command, cwd="/", capture_output=True, text=True, check=False, **owner)

        run(
            programs() / "initdb", "-D", data, "-U", "postgres", "--auth=trust", "--no-sync"
        ).check_returncode()
        start = ["-D", data, "-w", "-l", folder / "log", "-o", OPTIONS + name, "start"]
        started = run(*ALONE, f"{MEGABYTES}m", small, programs() / "pg_ctl", *start)
        if started.returncode != 0:
            pytest.skip(f"This kernel lets nobody mount a small disk: {started.stderr.strip()[-200:]}")
        pid = int((data / "postmaster.pid").read_text().split()[0])
        try:
            with stopped_even_after_a_kill(pid, folder):
                yield _database(folder, small)
        finally:
            run(programs() / "pg_ctl", "-D", data, "-m", "immediate", "-w", "stop")


def _database(folder: Path, small: Path) -> str:
    url = f"postgresql://postgres@/{{}}?host={quote(str(folder))}"
    with psycopg.connect(url.format("postgres"), autocommit=True) as admin:
        admin.execute(sql.SQL("CREATE TABLESPACE small LOCATION {}").format(sql.Literal(str(small))))
        admin.execute("CREATE DATABASE answerback TABLESPACE small")
    return url.format("answerback")


def fill(admin: psycopg.Connection) -> None:
    """Take the last free page of the disk, and then the free room in the pages of every table."""
    admin.execute("CREATE TABLE filler (content bytea)")
    admin.execute("ALTER TABLE filler ALTER content SET STORAGE PLAIN")
    page = "INSERT INTO filler SELECT decode(repeat('ab', 7000), 'hex') FROM generate_series(1, {})"
    for pages in (1000, 100, 1):  # a statement that needs many pages fails before the last one is taken
        _until_full(admin, page.format(pages))
    for table in metadata.sorted_tables:
        for length in (32, 8):  # what a row leaves of a page may be enough for a shorter one
            values = ", ".join(_anything(column.type, length) for column in table.columns)
            names = ", ".join(f'"{column.name}"' for column in table.columns)
            _until_full(admin, f'INSERT INTO "{table.name}" ({names}) SELECT {values}', keep=False)


def empty(admin: psycopg.Connection) -> None:
    """Give it back."""
    admin.execute("DROP TABLE filler")


def _until_full(admin: psycopg.Connection, statement: str, *, keep: bool = True) -> None:
    """Until it fails. Rows that are not kept still take what they took, until they are vacuumed."""
    while True:
        try:
            with admin.transaction(force_rollback=not keep):
                admin.execute(statement)
        except psycopg.errors.DiskFull:
            return


def _anything(kind: object, length: int) -> str:
    if isinstance(kind, BigInteger | Integer):
        return "(random() * 1000000000)::bigint"
    if isinstance(kind, LargeBinary):
        return "'\\x00'::bytea"
    return f"left(md5(random()::text), {length})"
