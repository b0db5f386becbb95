"""What the command line decides for all groups, and the databases they measure on."""

import contextlib
import tempfile
from collections.abc import AsyncIterator
from dataclasses import dataclass
from pathlib import Path
from typing import IO

import psycopg

from tests.bench.kept import Kept
from tests.support.postgres import running_postgres


@dataclass(frozen=True, slots=True)
class Options:
    """`quick` measures less of everything, for the development of the benchmark itself.

    `folder` goes when the run is over, `kept` stays. `log` takes what other processes say.
    """

    rounds: int
    quick: bool
    folder: Path
    kept: Kept
    log: IO[str]
    only_databases: tuple[str, ...] = ("sqlite", "postgresql")

    def fewer(self, count: int) -> int:
        return max(4, count // 4) if self.quick else count

    def fresh(self, name: str) -> Path:
        """A new folder below `folder`."""
        return Path(tempfile.mkdtemp(prefix=f"{name}-", dir=self.folder))

    async def databases(self) -> AsyncIterator[tuple[str, str, Path]]:
        """(name, the configuration's `database`, an empty data folder) of each."""
        if "sqlite" in self.only_databases:
            yield "sqlite", "sqlite", self.fresh("sqlite")
        if "postgresql" in self.only_databases:
            with running_postgres() as server, server.database() as url:
                _durable(server.url)
                yield "postgresql", url, self.fresh("postgresql")


def _durable(url: str) -> None:
    """As a server is installed: the tests' own switches off what makes a commit survive a power cut."""
    with contextlib.closing(psycopg.connect(url, autocommit=True)) as admin:
        admin.execute("ALTER SYSTEM SET fsync = on")
        admin.execute("ALTER SYSTEM SET full_page_writes = on")
        admin.execute("SELECT pg_reload_conf()")
