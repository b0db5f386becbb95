"""An adapter on a real saver for each test: on SQLite and on PostgreSQL."""

import contextlib
from collections.abc import AsyncIterator, Callable
from pathlib import Path

import pytest

from tests.flow.langgraph.harness import Harness
from tests.support.databases import Database


@pytest.fixture
async def harness(database: Database) -> AsyncIterator[Harness]:
    """Opens adapters on one database; all are closed at the end."""
    async with contextlib.AsyncExitStack() as stack:
        yield Harness(database.url, database.data_dir, stack)


@pytest.fixture
async def light(tmp_path: Path) -> AsyncIterator[Harness]:
    """The same on SQLite only, for what has nothing to do with the saver."""
    async with contextlib.AsyncExitStack() as stack:
        yield Harness("sqlite", tmp_path, stack)


@pytest.fixture
def log(tmp_path: Path) -> Callable[[], list[str]]:
    """The lines that the graph's steps have written."""
    path = tmp_path / "log"
    return lambda: path.read_text().split() if path.exists() else []
