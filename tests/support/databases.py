"""Where one test keeps its rows: the configuration's `database` value and an empty data directory."""

from dataclasses import dataclass
from pathlib import Path


@dataclass(frozen=True, slots=True)
class Database:
    """`url` is the configuration's: `sqlite` (its file is in `data_dir`), or a postgresql:// URL."""

    url: str
    data_dir: Path

    @property
    def dialect(self) -> str:
        """`sqlite` or `postgresql`."""
        return self.url.partition(":")[0]
