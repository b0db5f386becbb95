"""Two versions on one PostgreSQL: none ever writes to tables that it does not know."""

import asyncio
from collections.abc import AsyncIterator
from pathlib import Path

import psycopg
import pytest
from sqlalchemy import create_engine

from answerback import migrations
from answerback.errors import ConfigurationError, StoreUnavailable
from answerback.store import Store, choose, meta
from tests.store.test_migrations import LATER, to
from tests.support.replicated import ENDED_OF
from tests.support.two import WAIT

pytestmark = pytest.mark.needs_extra("postgres")
BEFORE = LATER[-2]


@pytest.fixture
async def older(postgres_url: str, tmp_path: Path) -> AsyncIterator[Store]:
    """The store of a gateway of the version before, on a database as that one has left it."""
    store = Store(choose(postgres_url, str(tmp_path)))

    def prepare(url: str) -> str:
        engine = create_engine(url)
        to(engine, BEFORE)
        engine.dispose()
        return BEFORE

    store.open(prepare)
    yield store
    await asyncio.to_thread(store.close)


def upgrade(store: Store, patience: float = 0.1) -> str:
    """What a newer version does as it starts."""
    return migrations.upgrade(store.backend.url, patience)


async def test_the_newer_one_does_not_start_while_the_older_one_runs_and_says_what_to_do(
    older: Store,
) -> None:
    with pytest.raises(ConfigurationError, match=r"Stop every gateway on this database.*Nothing was changed"):
        await asyncio.to_thread(upgrade, older)
    await older.write(lambda tx: meta.keep(tx, "still", "works"))
    assert migrations.revisions(older.backend.url)[0] == BEFORE


async def test_it_starts_once_the_older_one_has_stopped(older: Store, postgres_url: str) -> None:
    waiting = asyncio.create_task(asyncio.to_thread(upgrade, older, 30.0))
    async with await psycopg.AsyncConnection.connect(postgres_url, autocommit=True) as watching:
        while await (await watching.execute(WAIT)).fetchone() != (1,):
            assert not waiting.done()
            await asyncio.sleep(0.01)
    await asyncio.to_thread(older.close)
    assert await waiting == LATER[-1]


async def test_law_3_the_older_one_writes_nothing_more_once_the_newer_one_was_there(
    older: Store, postgres_url: str
) -> None:
    with psycopg.connect(
        psycopg.conninfo.make_conninfo(postgres_url, dbname="postgres"), autocommit=True
    ) as admin:
        admin.execute(ENDED_OF, [[psycopg.conninfo.conninfo_to_dict(postgres_url)["dbname"]]])
    await asyncio.to_thread(upgrade, older)
    for _ in range(2):
        with pytest.raises(StoreUnavailable, match="newer version of answerback"):
            await older.write(lambda tx: meta.keep(tx, "still", "works"))


async def test_those_of_one_version_run_beside_each_other(postgres_url: str, tmp_path: Path) -> None:
    one, two = (Store(choose(postgres_url, str(tmp_path))) for _ in range(2))
    for store in (one, two):
        await asyncio.to_thread(store.open, migrations.upgrade)
    try:
        for store in (one, two):
            await store.write(lambda tx: meta.keep(tx, "both", "work"))
    finally:
        for store in (one, two):
            await asyncio.to_thread(store.close)
