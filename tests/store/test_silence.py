"""A PostgreSQL that says nothing any more: nobody waits for it for ever, and nothing is done twice."""

import asyncio
import contextlib
from collections.abc import AsyncIterator, Callable

import psycopg
import pytest
from sqlalchemy import select

from answerback import migrations
from answerback.errors import StoreUnavailable
from answerback.store import Store, Tx, meta
from answerback.store.backend import Postgresql
from answerback.store.engine import READERS
from answerback.store.query import Query
from answerback.store.silence import SECONDS, Silence
from answerback.tables import MetaRow
from tests.support.network import Network, network_to

ALL = Query(select(MetaRow.__table__))  # type: ignore[attr-defined]


class Seconds:
    """A clock that is set by hand."""

    def __init__(self) -> None:
        self.now = 0.0

    def __call__(self) -> float:
        return self.now


@contextlib.asynccontextmanager
async def far(postgres_url: str) -> AsyncIterator[tuple[Store, Network, Seconds]]:
    """A store on a server to which there is such a way."""
    await asyncio.to_thread(
        migrations.upgrade, postgres_url.replace("postgresql://", "postgresql+psycopg://")
    )
    seconds = Seconds()
    async with network_to(postgres_url) as (network, url):
        store = Store(Postgresql(url, silence=Silence(seconds, often=0.01)))
        await asyncio.to_thread(store.open)
        try:
            yield store, network, seconds
        finally:
            network.heal()
            await asyncio.to_thread(store.close)


def put(key: str) -> Callable[[Tx], int]:
    return lambda tx: tx.run(meta.PUT, key=key, value="")


async def keys(store: Store) -> list[str]:
    found = await store.read(lambda tx: tx.all(ALL))
    return [row["key"] for row in found if row["key"].startswith("k")]


async def lost(network: Network, seconds: Seconds, *waiting: asyncio.Future) -> list[object]:
    """What becomes of those who wait, once it has been too long."""
    await asyncio.wait_for(network.lost.wait(), 30)
    done, _ = await asyncio.wait(waiting, timeout=0.2)
    assert not done, "a server may take its time"
    async with asyncio.timeout(30):
        while not all(each.done() for each in waiting):  # one that asks only now waits from now on
            seconds.now += SECONDS + 1
            await asyncio.wait(waiting, timeout=0.05)
    return await asyncio.gather(*waiting, return_exceptions=True)


async def test_who_waits_is_refused_and_what_comes_later_goes_on(postgres_url: str) -> None:
    async with far(postgres_url) as (store, network, seconds):
        await store.write(put("k1"))
        network.lose_after = b"k2"
        together = [asyncio.ensure_future(store.write(put(key))) for key in ("k2", "k3")]
        (first, second) = await lost(network, seconds, *together)
        assert isinstance(first, StoreUnavailable) and isinstance(second, StoreUnavailable)
        network.heal()
        await store.write(put("k4"))
        assert await keys(store) == ["k1", "k4"]


async def test_a_commit_that_nobody_heard_of_is_not_made_again(postgres_url: str) -> None:
    runs: list[str] = []

    def once(tx: Tx) -> None:
        runs.append("k1")
        tx.run(meta.PUT, key="k1", value="")

    async with far(postgres_url) as (store, network, seconds):
        network.lose_after = b"COMMIT"
        (refused,) = await lost(network, seconds, asyncio.ensure_future(store.write(once)))
        assert isinstance(refused, StoreUnavailable)
        network.heal()
        await store.settled()
        assert (await keys(store), runs) == (["k1"], ["k1"])


async def test_who_reads_is_refused_too(postgres_url: str) -> None:
    async with far(postgres_url) as (store, network, seconds):
        assert await asyncio.gather(*[keys(store) for _ in range(READERS)]) == [[]] * READERS
        network.lose_after = b"meta"
        reads = [asyncio.ensure_future(store.read(lambda tx: tx.all(ALL))) for _ in range(3)]
        assert {type(each) for each in await lost(network, seconds, *reads)} == {StoreUnavailable}
        network.heal()
        assert await keys(store) == []


@pytest.mark.parametrize("seconds", [0.0, SECONDS])
async def test_a_server_that_takes_its_time_is_waited_for(postgres_url: str, seconds: float) -> None:
    silence, connection = Silence(lambda: seconds), psycopg.connect(postgres_url)
    with connection:
        silence._since[connection] = 0.0
        silence.look()
        assert connection.execute("SELECT 1").fetchone() == (1,)
