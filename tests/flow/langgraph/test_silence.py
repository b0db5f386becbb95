"""A PostgreSQL that says nothing any more holds up no agent for ever: checkpoints and locks are given up."""

from collections.abc import AsyncIterator
from typing import Any

import pytest

from answerback.errors import AgentUnavailable
from answerback_agents.langgraph.committer import Committer
from answerback_agents.langgraph.locks import PostgresGuard
from answerback_agents.langgraph.on_postgres import Postgres
from tests.support.network import Network, network_to

PATIENCE = 0.2


@pytest.fixture
async def way(postgres_url: str) -> AsyncIterator[tuple[Network, str]]:
    async with network_to(postgres_url) as found:
        yield found


@pytest.mark.parametrize("reads", [False, True])
async def test_law_10_a_checkpoint_of_which_nothing_is_heard_is_given_up_and_the_next_is_kept(
    way: tuple[Network, str], reads: bool
) -> None:
    network, url = way
    database = Postgres(url, "public", reads=reads, patience=PATIENCE)
    committer = Committer(database)

    def look() -> Any:
        return database.cursor().execute("SELECT 1 AS one").fetchone()

    try:
        assert await committer.do(look) == {"one": 1}
        network.lost.set()
        with pytest.raises(Exception, match=r"connection|said nothing"):
            await committer.do(look)
        network.heal()
        assert await committer.do(look) == {"one": 1}
    finally:
        network.heal()
        await committer.close()


async def test_law_10_so_is_a_lock_of_which_nothing_is_heard(way: tuple[Network, str]) -> None:
    network, url = way
    guard = PostgresGuard(url, PATIENCE)
    assert await guard.take(7)
    network.lost.set()
    with pytest.raises(AgentUnavailable):
        await guard.take(8)
    network.heal()
    assert await guard.take(8)
    await guard.close()
