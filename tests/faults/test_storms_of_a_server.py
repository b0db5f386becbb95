"""A LangGraph server that is reached badly, at random, while a town is busy: `--slow --kills 1000`."""

import contextlib
import random
from collections.abc import AsyncIterator, Iterator
from pathlib import Path

import pytest

from answerback.agent import Agent
from tests.faults.storm import storm
from tests.faults.storm_strikes import Strike
from tests.faults.storm_town import Town, in_a_worker
from tests.flow.langgraph_server.development import INSTALLED, Proxy, Rule, proxy, running
from tests.support.databases import Database
from tests.support.missing import require

pytestmark = pytest.mark.needs_extra("langgraph")
MANY_REQUESTS = 1_000_000


@pytest.fixture
def server(tmp_path_factory: pytest.TempPathFactory) -> Iterator[str]:
    require((INSTALLED / "ready").exists(), "Run sh scripts/langgraph-server.sh")
    with running(tmp_path_factory.mktemp("server")) as url:
        yield url


def badly(front: Proxy, **how: object) -> Strike:
    """For a moment, this is what becomes of requests, or of some of them."""

    @contextlib.asynccontextmanager
    async def strike(town: Town, chance: random.Random) -> AsyncIterator[None]:
        which = chance.choice(("", "^POST", "^GET", "/join$", "/runs$", "/state$"))
        rule = Rule(which, times=chance.choice((1, 3, MANY_REQUESTS)), **how)
        front.rules.append(rule)
        try:
            yield
        finally:
            front.rules.remove(rule)

    return strike


@pytest.mark.parametrize("long", [False, pytest.param(True, marks=pytest.mark.slow)])
async def test_law_1_a_langgraph_server_that_is_reached_badly_gives_each_answer_to_its_own_step(
    request: pytest.FixtureRequest, server: str, tmp_path: Path, long: bool
) -> None:
    async with proxy(server) as front:
        strikes = [
            badly(front, lost=True),
            badly(front, status=502),
            badly(front, status=429),
            badly(front, status=200, text="no JSON"),
        ]

        def agent(database: Database) -> Agent:
            options = {"url": front.url, "assistant": "journaled"}
            return in_a_worker(database, "answerback_agents.langgraph_server:LangGraphServer", options)

        await storm(request, Database("sqlite", tmp_path), 1, strikes, long, agent)
