"""A pool of connections before PostgreSQL: one of sessions is as good as none, others are refused."""

import asyncio
import contextlib
import threading
from collections.abc import Iterator
from pathlib import Path

import psycopg
import pytest

from answerback import migrations
from answerback.errors import ConfigurationError, StoreUnavailable
from answerback.store import Store, choose, meta
from tests.support.pooler import pooled

pytestmark = pytest.mark.needs_extra("postgres")


@contextlib.contextmanager
def used_by_others(url: str, clients: int) -> Iterator[None]:
    """So many others have transactions in this pool, one after the other."""
    over, begun = threading.Event(), threading.Barrier(clients + 1)

    def use() -> None:
        with psycopg.connect(url, autocommit=True, prepare_threshold=None) as connection:
            begun.wait()
            while not over.is_set():
                with connection.transaction():
                    connection.execute("SELECT 1")

    threads = [threading.Thread(target=use) for _ in range(clients)]
    for thread in threads:
        thread.start()
    begun.wait()
    try:
        yield
    finally:
        over.set()
        for thread in threads:
            thread.join()


async def test_a_gateway_keeps_its_records_behind_a_pool_of_sessions(
    postgres_url: str, tmp_path: Path
) -> None:
    with pooled(postgres_url, "session") as url:
        store = Store(choose(url, str(tmp_path)))
        store.open(migrations.upgrade)
        try:
            await store.write(lambda tx: meta.keep(tx, "kept", "yes"))
            assert await store.read(lambda tx: meta.get(tx, "kept")) == "yes"
        finally:
            await asyncio.to_thread(store.close)


@pytest.mark.parametrize("others", [0, 3])
def test_law_1_one_of_transactions_is_refused_because_no_lock_lasts_there(
    postgres_url: str, tmp_path: Path, others: int
) -> None:
    with pooled(postgres_url, "transaction") as url, used_by_others(url, others):
        store = Store(choose(url, str(tmp_path)))
        with pytest.raises(ConfigurationError, match="pool_mode = session"):
            store.open(migrations.upgrade)
    assert not store.is_open


def test_one_of_statements_is_refused_too(postgres_url: str, tmp_path: Path) -> None:
    with pooled(postgres_url, "statement") as url:
        store = Store(choose(url, str(tmp_path)))
        with pytest.raises(StoreUnavailable, match="statement pooling mode"):
            store.open(migrations.upgrade)
