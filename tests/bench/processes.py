"""Other processes: the far side, a gateway served by the command line, and what /proc says of them."""

import contextlib
import os
import secrets
import subprocess
import sys
import time
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

ROOT = Path(__file__).parents[2]
PROGRAM = Path(sys.executable).with_name("answerback")


@dataclass(frozen=True, slots=True)
class FarSide:
    """Where it is, and the secret that signs its webhooks."""

    url: str
    secret: str


@contextlib.contextmanager
def far_side() -> Iterator[FarSide]:
    """The loopback provider's far side, for as long as the block runs."""
    secret = secrets.token_hex(16)
    with subprocess.Popen(
        [sys.executable, "-m", "tests.bench.far", secret],
        cwd=ROOT,
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        text=True,
    ) as process:
        assert process.stdin and process.stdout
        try:
            yield FarSide(f"http://127.0.0.1:{int(process.stdout.readline())}", secret)
        finally:
            process.stdin.close()


@contextlib.contextmanager
def served(config: Path) -> Iterator[int]:
    """`answerback serve` with a configuration, once it is ready; its process id."""
    command = [str(PROGRAM), "serve", "--config", str(config), "--listen", "127.0.0.1:0"]
    environ = {**os.environ, "PYTHONPATH": str(ROOT)}  # the loopback provider is part of the tests
    with (
        config.with_suffix(".log").open("w") as log,
        subprocess.Popen(
            command, cwd=ROOT, env=environ, stdout=subprocess.PIPE, stderr=log, text=True
        ) as process,
    ):
        assert process.stdout
        try:
            if not process.stdout.readline().startswith("Ready"):
                raise RuntimeError("answerback serve did not start")
            yield process.pid
        finally:
            process.terminate()


@contextlib.contextmanager
def one_core() -> Iterator[None]:
    """Everything that is started within the block, processes and threads, shares one core.

    So what is compared is work, and not how much of it a second core happens to hide.
    """
    before = os.sched_getaffinity(0)
    os.sched_setaffinity(0, {max(before)})
    try:
        yield
    finally:
        os.sched_setaffinity(0, before)


def cpu_with_workers() -> float:
    """CPU seconds of this process and of the workers that a gateway in it has started."""
    return time.process_time() + sum(cpu_seconds(pid) for pid in _workers())


def _workers() -> list[int]:
    children = [path.read_text().split() for path in Path("/proc/self/task").glob("*/children")]
    pids = [int(pid) for found in children for pid in found]
    return [pid for pid in pids if b"answerback.workers" in Path(f"/proc/{pid}/cmdline").read_bytes()]


def cpu_seconds(pid: int) -> float:
    """CPU time of a process's threads so far, to the nanosecond (the first field of /proc/…/schedstat).

    Not from its `stat`, which counts ticks of 10 ms: what wakes up for less may never be seen there.
    """
    found = Path(f"/proc/{pid}/task").glob("*/schedstat")
    return sum(int(path.read_text().split()[0]) for path in found) / 1e9


def resident_bytes(pid: int) -> int:
    """Resident memory of a process."""
    pages = int(Path(f"/proc/{pid}/statm").read_text().split()[1])
    return pages * os.sysconf("SC_PAGE_SIZE")
