"""A copy of `data_dir` while the gateway runs: its databases as of one moment each, and the other files.

The gateway's own database is copied first: then a checkpoint is there for all that the copy says was asked.
It is marked as a copy, see `restored`.
"""

import os
import shutil
import sqlite3
import time
from collections.abc import Iterator
from contextlib import closing
from pathlib import Path
from urllib.parse import quote

from answerback.errors import ConfigurationError, StoreUnavailable
from answerback.store.backend import private
from answerback.store.restored import COPIED

OWN = "answerback.db"
HEADER = b"SQLite format 3\x00"  # https://sqlite.org/fileformat.html, 1.3
PASSING = ("-wal", "-shm", "-journal")  # what a database has beside it; the copy needs none of it
LOCK = "lock"


def copy(data_dir: str, folder: Path, *, now: int | None = None) -> list[str]:
    """Copy all of `data_dir` into `folder`, which is made, or empty; the names of the files, in order.

    `now`, in microseconds since the epoch, is what the copy is marked with.
    Raises `ConfigurationError` for a folder that cannot be used, `StoreUnavailable` for what cannot be read
    or written, and when a copy is not sound; then the copy is not whole.
    """
    source = Path(data_dir).resolve()
    if not (source / OWN).is_file():
        raise ConfigurationError(f"There is no database in {source} to back up.")
    _make(folder, source)
    done = []
    try:
        for file in _files(source):
            _copy(file, folder / file.relative_to(source))
            done.append(str(file.relative_to(source)))
        _mark(folder / OWN, time.time_ns() // 1000 if now is None else now)
        _sync(folder)
    except (OSError, sqlite3.Error) as error:
        raise StoreUnavailable(f"The backup in {folder} is not whole, delete it: {error}.") from error
    return done


def _make(folder: Path, source: Path) -> None:
    if folder.resolve().is_relative_to(source):
        raise ConfigurationError(f"{folder} is in data_dir itself. Name a folder elsewhere.")
    try:
        folder.mkdir(mode=0o700, parents=True, exist_ok=True)
        empty = not any(folder.iterdir())
    except OSError as error:
        raise ConfigurationError(f"{folder} cannot be used: {error.strerror}.") from None
    if not empty:
        raise ConfigurationError(f"{folder} is not empty. Name a new folder: no backup is overwritten.")


def _files(source: Path) -> Iterator[Path]:
    """Our own database, then everybody else's, then what is none."""
    found = sorted(path for path in source.rglob("*") if path.is_file() and not path.is_symlink())
    kept = [path for path in found if not path.name.endswith(PASSING) and path != source / LOCK]
    yield from sorted(kept, key=lambda path: (path != source / OWN, not _is_database(path)))


def _is_database(path: Path) -> bool:
    with path.open("rb") as file:
        return file.read(len(HEADER)) == HEADER


def _copy(file: Path, to: Path) -> None:
    to.parent.mkdir(mode=0o700, parents=True, exist_ok=True)
    open(to, "xb", opener=private).close()  # ours alone to read, before anything is in it
    if _is_database(file):
        _snapshot(file, to)
    else:
        shutil.copyfile(file, to)
    shutil.copymode(file, to)
    _sync(to)


def _snapshot(file: Path, to: Path) -> None:
    """All of a database as it is at one moment; who writes it goes on, and nothing of it is changed."""
    with closing(_open(file, "ro")) as source, closing(_open(to, "rw")) as target:
        source.backup(target)
        (found,) = target.execute("PRAGMA quick_check(1)").fetchone()
    if found != "ok":
        raise sqlite3.DatabaseError(f"the copy of {file.name} is damaged: {found}")


def _mark(own: Path, now: int) -> None:
    """Whoever goes on with it must know. The copy of a copy that nobody has gone on with stays as old."""
    with closing(_open(own, "rw")) as opened, opened:
        if opened.execute("SELECT 1 FROM sqlite_master WHERE name = 'meta'").fetchone():
            opened.execute("INSERT OR IGNORE INTO meta (key, value) VALUES (?, ?)", (COPIED, str(now)))
    _sync(own)


def _open(path: Path, mode: str) -> sqlite3.Connection:
    return sqlite3.connect(f"file:{quote(str(path.resolve()))}?mode={mode}", uri=True, timeout=30)


def _sync(path: Path) -> None:
    handle = os.open(path, os.O_RDONLY)
    try:
        os.fsync(handle)
    finally:
        os.close(handle)
