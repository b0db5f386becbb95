"""Filled data folders, kept from run to run: filling a million rows takes minutes, copying them seconds."""

import hashlib
import os
import shutil
import sqlite3
from collections.abc import Callable, Iterable
from contextlib import closing
from dataclasses import dataclass
from pathlib import Path

FROM = 50_000  # fewer rows are filled in no time
# Bytes of disk that a pending interaction takes, twice over: what is kept, and the copy in use.
ROOM = 6_000


@dataclass(frozen=True, slots=True)
class Kept:
    """Where filled folders are kept: one for each number of rows, the newest; of fewer than `least` none."""

    root: Path
    least: int = FROM

    def folder(self, folder: Path, count: int, made_of: Iterable[str], fill: Callable[[], None]) -> None:
        """Make `folder` a filled one: a copy of what is kept, or by `fill`, and then that is kept.

        `folder` holds an empty database of today's schema. `made_of`: whatever else the rows depend on.
        """
        if count < self.least:
            fill()
            return
        kept = self.root / f"pending-{count}-{_digest(folder, made_of)}"
        if kept.exists():
            shutil.rmtree(folder)
            shutil.copytree(kept, folder)
            return
        self._drop(count)
        self._room(count)
        fill()
        new = self.root / f"new-{count}-{os.getpid()}"
        shutil.copytree(folder, new)
        new.rename(kept)

    def _drop(self, count: int) -> None:
        for old in self.root.glob(f"pending-{count}-*"):
            shutil.rmtree(old)

    def _room(self, count: int) -> None:
        self.root.mkdir(parents=True, exist_ok=True)
        free, needed = shutil.disk_usage(self.root).free, count * ROOM
        if free < needed:
            raise OSError(f"{count} rows need {needed / 1e9:.1f} GB of disk, {free / 1e9:.1f} GB are free")


def _digest(folder: Path, made_of: Iterable[str]) -> str:
    with closing(sqlite3.connect(folder / "answerback.db")) as database:
        rows = database.execute("SELECT sql FROM sqlite_master WHERE sql IS NOT NULL ORDER BY name")
        schema = [sql for (sql,) in rows]
    return hashlib.sha256("\0".join([*schema, *made_of]).encode()).hexdigest()[:12]
