"""What the tests of several gateways share: one preloaded process, and a fleet on a database of its own."""

import os
import signal
import time
from collections.abc import AsyncIterator, Iterator
from pathlib import Path
from typing import TYPE_CHECKING

import pytest

from tests.replicas.fleet import PATIENCE, Fleet, Nest, fleet, nesting

if TYPE_CHECKING:
    from tests.support.postgres import PostgresServer


@pytest.fixture(scope="session")
def nest() -> Iterator[Nest]:
    with nesting() as started:
        yield started


@pytest.fixture(scope="session")
def installed(nest: Nest, postgres: "PostgresServer", tmp_path_factory: pytest.TempPathFactory) -> str:
    """The name of a template in which a gateway and its agent have made their tables."""

    def fill(url: str) -> None:
        folder = tmp_path_factory.mktemp("installed")
        pid = nest.start(
            name="first", folder=str(folder), database=url, token="1:a", api_base="http://[::1]:9"
        )
        given_up = time.monotonic() + PATIENCE
        while not (folder / "first" / "ready").exists():
            assert time.monotonic() < given_up
            time.sleep(0.01)
        os.kill(pid, signal.SIGTERM)
        assert nest.reap(pid) == 0

    return postgres.template("replicas", fill)


@pytest.fixture
async def replicas(
    nest: Nest, postgres: "PostgresServer", installed: str, tmp_path: Path
) -> AsyncIterator[Fleet]:
    """A fleet without replicas yet, on a database that has been used before."""
    with postgres.database(installed) as url:
        async with fleet(nest, url, tmp_path) as made:
            yield made


@pytest.fixture
async def beginners(nest: Nest, postgres_url: str, tmp_path: Path) -> AsyncIterator[Fleet]:
    """The same on an empty database."""
    async with fleet(nest, postgres_url, tmp_path) as made:
        yield made
