"""A real PgBouncer in front of a PostgreSQL."""

import os
import shutil
import socket
import subprocess
import tempfile
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import psycopg

from tests.support.missing import require
from tests.support.ports import free_port

# https://www.pgbouncer.org/config.html
CONFIGURATION = """
[databases]
* = host={host} user=postgres
[pgbouncer]
listen_addr = 127.0.0.1
listen_port = {port}
unix_socket_dir =
auth_type = any
pool_mode = {mode}
logfile = {folder}/log
"""
LONGEST = 20.0  # seconds until it listens


@contextmanager
def pooled(postgres_url: str, mode: str) -> Iterator[str]:
    """The URL of the same database through a pool in this mode: session, transaction or statement."""
    program = require(
        shutil.which("pgbouncer", path="/usr/sbin:/usr/bin"), "PgBouncer is missing: apt install pgbouncer"
    )
    about = psycopg.conninfo.conninfo_to_dict(postgres_url)
    with tempfile.TemporaryDirectory(prefix="answerback-pool-", ignore_cleanup_errors=True) as name:
        folder, port = Path(name), free_port()
        file = folder / "pgbouncer.ini"
        file.write_text(CONFIGURATION.format(host=about["host"], port=port, mode=mode, folder=folder))
        more: dict[str, Any] = {}
        if os.geteuid() == 0:  # it refuses to run as root, and only its owner comes to the server's socket
            owner = Path(str(about["host"])).stat()
            os.chown(folder, owner.st_uid, owner.st_gid)
            more = {"user": owner.st_uid, "group": owner.st_gid, "extra_groups": []}
        process = subprocess.Popen([program, "-q", file], stderr=subprocess.DEVNULL, cwd="/", **more)
        try:
            _wait_for(port, process)
            yield f"postgresql://postgres@127.0.0.1:{port}/{about['dbname']}?sslmode=disable"
        finally:
            process.kill()
            process.wait()


def _wait_for(port: int, process: "subprocess.Popen[bytes]") -> None:
    until = time.monotonic() + LONGEST
    while process.poll() is None and time.monotonic() < until:
        try:
            socket.create_connection(("127.0.0.1", port)).close()
        except OSError:
            time.sleep(0.01)
        else:
            return
    raise AssertionError(f"PgBouncer does not listen: {process.poll()}")
