"""A folder for one run, removed when it is over; what a killed run left is removed by the next one."""

import contextlib
import os
import shutil
from collections.abc import Iterator
from pathlib import Path


@contextlib.contextmanager
def workspace(root: Path) -> Iterator[Path]:
    """`root/run-PID`, empty."""
    root.mkdir(parents=True, exist_ok=True)
    for old in [*root.glob("run-*"), *root.glob("new-*")]:
        if not _runs(old.name.rpartition("-")[2]):
            shutil.rmtree(old, ignore_errors=True)
    folder = root / f"run-{os.getpid()}"
    folder.mkdir()
    try:
        yield folder
    finally:
        shutil.rmtree(folder, ignore_errors=True)


def _runs(pid: str) -> bool:
    return Path("/proc", pid).exists()
