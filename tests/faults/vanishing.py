"""A worker's machine vanishes from the network: its server hears nothing any more, not even that it is gone.

    python -m tests.faults.vanishing    in a network namespace of its own, see `ALONE`

The server and two workers are in it; that which vanishes has an address of its own, which is taken away.
"""

import asyncio
import fcntl
import os
import signal
import socket
import struct
import subprocess
import sys
import tempfile
from pathlib import Path

from answerback_agents.langgraph.locks import PostgresGuard
from tests.support.postgres import programs, stopped_even_after_a_kill, unprivileged

ROOT = [] if os.geteuid() == 0 else ["--user", "--map-current-user", "--keep-caps"]
ALONE = ["unshare", *ROOT, "--net"]
HERE, THERE, PORT = "127.0.0.1", "10.0.0.1", 5432
SOON = "keepalives_idle=1&keepalives_interval=1&keepalives_count=1&tcp_user_timeout=500"
THREAD = 7
# https://man7.org/linux/man-pages/man7/netdevice.7.html
SIOCSIFFLAGS, SIOCSIFADDR, UP = 0x8914, 0x8916, 0x1


class Machines:
    """The addresses of this namespace."""

    def __init__(self) -> None:
        self._socket = socket.socket(socket.AF_INET, socket.SOCK_DGRAM)
        self._set(SIOCSIFFLAGS, "lo", struct.pack("H", UP))

    def appears(self, address: str) -> None:
        self._set(SIOCSIFADDR, "lo:1", struct.pack("HH4s", socket.AF_INET, 0, socket.inet_aton(address)))

    def vanishes(self) -> None:
        self._set(SIOCSIFFLAGS, "lo:1", struct.pack("H", 0))

    def _set(self, what: int, name: str, value: bytes) -> None:
        fcntl.ioctl(self._socket, what, struct.pack("16s24s", name.encode(), value))


def start_server(folder: Path) -> None:
    owner, data = unprivileged(folder), folder / "data"

    def run(*command: str | Path) -> None:
        subprocess.run(command, cwd="/", stdout=subprocess.DEVNULL, check=True, **owner)

    run(programs() / "initdb", "-D", data, "-U", "postgres", "--auth=trust", "--no-sync")
    with (data / "pg_hba.conf").open("a") as file:
        file.write(f"host all all {THERE}/32 trust\n")
    options = f"-c listen_addresses={HERE},{THERE} -c fsync=off -k {folder}"
    run(programs() / "pg_ctl", "-D", data, "-w", "-l", folder / "log", "-o", options, "start")


def say(word: str) -> None:
    sys.stdout.write(word + "\n")
    sys.stdout.flush()


def worker(address: str) -> PostgresGuard:
    return PostgresGuard(f"postgresql://postgres@{address}:{PORT}/postgres?sslmode=disable&{SOON}")


async def play(machines: Machines) -> None:
    """Says `held` while the one that has the lock is there, and `free` once another one has it."""
    one, two = worker(THERE), worker(HERE)
    assert await one.take(THREAD)
    for _ in range(20):
        assert not await two.take(THREAD)
    say("held")
    machines.vanishes()
    while not await two.take(THREAD):  # noqa: ASYNC110 (it is the server that has to notice)
        await asyncio.sleep(0.05)
    say("free")


def main() -> None:
    machines = Machines()
    machines.appears(THERE)
    with tempfile.TemporaryDirectory(prefix="answerback-vanishing-", ignore_cleanup_errors=True) as name:
        folder = Path(name)
        start_server(folder)
        pid = int((folder / "data" / "postmaster.pid").read_text().split()[0])
        with stopped_even_after_a_kill(pid, folder):
            try:
                asyncio.run(play(machines))
            finally:
                os.kill(pid, signal.SIGQUIT)


if __name__ == "__main__":
    main()
