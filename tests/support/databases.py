"""Where one test keeps its rows: the configuration's `database` value and a data directory."""

import contextlib
import functools
import tempfile
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

from answerback import migrations
from answerback.store import choose

if TYPE_CHECKING:
    from tests.support.postgres import PostgresServer


@dataclass(frozen=True, slots=True)
class Database:
    """`url` is the configuration's: `sqlite` (its file is in `data_dir`), or a postgresql:// URL."""

    url: str
    data_dir: Path

    @property
    def dialect(self) -> str:
        """`sqlite` or `postgresql`."""
        return self.url.partition(":")[0]

    def prepare(self, data_dir: Path) -> None:
        """Its tables, for a gateway that is given this `data_dir`; on PostgreSQL they are there."""
        if self.dialect == "sqlite":
            put_tables(data_dir)


def put_tables(data_dir: Path) -> None:
    """What a first start with SQLite leaves in its `data_dir`: far quicker than the migrations."""
    data_dir.mkdir(mode=0o700, parents=True, exist_ok=True)
    file = data_dir / "answerback.db"
    if not file.exists():
        file.write_bytes(_tables())


def with_tables(server: "PostgresServer") -> contextlib.AbstractContextManager[str]:
    """What a first start with PostgreSQL leaves: the URL of a database with tables and no rows."""
    return server.database(server.template("tables", _migrated))


def _migrated(url: str) -> None:
    migrations.upgrade(choose(url, "").url)


@functools.cache
def _tables() -> bytes:
    with tempfile.TemporaryDirectory() as folder:
        file = Path(folder, "answerback.db")
        migrations.upgrade(f"sqlite:///{file}")
        return file.read_bytes()
