"""One LangGraph server for all tests here, each with a proxy, adapters and another client of its own."""

import contextlib
from collections.abc import AsyncIterator, Iterator
from pathlib import Path

import pytest
from langgraph_sdk import get_client

from tests.flow.langgraph_server.development import INSTALLED, Proxy, proxy, running
from tests.flow.langgraph_server.harness import Elsewhere, Harness
from tests.flow.langgraph_server.made_graphs import FEW, MANY
from tests.support.missing import require


@pytest.fixture(scope="session")
def server(tmp_path_factory: pytest.TempPathFactory) -> Iterator[str]:
    """The URL of a real server, in an environment of its own: it is not open source."""
    there = (INSTALLED / "ready").exists()
    require(there, "No LangGraph server is installed (Elastic License 2.0): sh scripts/langgraph-server.sh")
    with running(tmp_path_factory.mktemp("server"), FEW) as url:
        yield url


@pytest.fixture(scope="session")
def larger_server(tmp_path_factory: pytest.TempPathFactory) -> Iterator[str]:
    """One with many graphs."""
    with running(tmp_path_factory.mktemp("larger"), MANY) as url:
        yield url


@pytest.fixture
async def front(server: str) -> AsyncIterator[Proxy]:
    """The server behind a proxy that can be told to misbehave."""
    async with proxy(server) as made:
        yield made


@pytest.fixture
async def harness(front: Proxy, tmp_path: Path) -> AsyncIterator[Harness]:
    """Opens adapters that reach the server through the proxy; all are closed at the end."""
    async with contextlib.AsyncExitStack() as stack:
        yield Harness(front, tmp_path, stack)


@pytest.fixture
async def elsewhere(server: str, tmp_path: Path) -> AsyncIterator[Elsewhere]:
    """Somebody else's client of the same server."""
    client = get_client(url=server, api_key=None)
    yield Elsewhere(client, tmp_path)
    await client.aclose()
