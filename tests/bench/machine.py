"""What a run was measured on, and how much else was going on there."""

import importlib.metadata
import os
import platform
import sqlite3
import statistics
import tempfile
import time
from collections.abc import Iterable, Mapping
from pathlib import Path
from typing import Any

PACKAGES = (
    "langgraph",
    "langgraph-checkpoint",
    "langgraph-checkpoint-sqlite",
    "langgraph-checkpoint-postgres",
    "psycopg",
    "aiosqlite",
    "sqlalchemy",
    "starlette",
    "uvicorn",
    "uvloop",
    "httptools",
    "aiohttp",
    "click",
)


SPIN = 0.1  # seconds of processor time
BUSY = 1.2  # from here on other work has a say in the figures
SYNCS = 50


def machine(folder: Path) -> dict[str, Any]:
    """What it runs on. `load`: how many other processes are busy before it begins; they make figures noisy.

    `fsync_ms`: what a commit waits for on the disk of `folder`. Who commits more often is slower where it is
    slow, and that shows in every figure.
    """
    return {
        "cpu": _cpu(),
        "cores": os.cpu_count(),
        "system": f"{platform.system()} {platform.release()}",
        "python": platform.python_version(),
        "sqlite": sqlite3.sqlite_version,
        "load": round(os.getloadavg()[0], 2),
        "fsync_ms": round(_fsync(folder) * 1000, 2),
        "at": time.strftime("%Y-%m-%dT%H:%M:%SZ", time.gmtime()),
        "versions": {name: _version(name) for name in PACKAGES},
    }


def _cpu() -> str:
    for line in Path("/proc/cpuinfo").read_text().splitlines():
        if line.startswith("model name"):
            return line.partition(":")[2].strip()
    return platform.processor() or platform.machine()


def _version(package: str) -> str:
    try:
        return importlib.metadata.version(package)
    except importlib.metadata.PackageNotFoundError:
        return ""


def _fsync(folder: Path) -> float:
    """Seconds until 4 kB are on the disk, at the median."""
    took = []
    with tempfile.TemporaryFile(dir=folder) as file:
        for _ in range(SYNCS):
            begun = time.perf_counter()
            os.pwrite(file.fileno(), bytes(4096), 0)
            os.fsync(file.fileno())
            took.append(time.perf_counter() - begun)
    return statistics.median(took)


def held_up() -> float:
    """How much longer than on a machine of its own this process takes for some work; 1.0 is not at all."""
    begun, used = time.perf_counter(), time.process_time()
    while time.process_time() - used < SPIN:
        pass
    return (time.perf_counter() - begun) / SPIN


def line(about: Mapping[str, Any], held: Iterable[float]) -> str:
    """The machine in one line; `held`: what `held_up` said now and then. A busy one gets a second line."""
    found = about["versions"]
    said = (
        f"{about['cpu']}, {about['cores']} cores, {about['system']}, fsync {about['fsync_ms']} ms, "
        f"Python {about['python']}, SQLite {about['sqlite']}, langgraph {found['langgraph']}"
    )
    factor = statistics.median([1.0, *held])
    if factor < BUSY:
        return said
    return f"{said}\nOther work held this run up {factor:.1f} times: these are no figures to publish."
