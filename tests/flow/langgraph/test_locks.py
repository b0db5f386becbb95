"""The lock of a thread: one worker has it, whatever is asked for at the same time."""

import asyncio
from collections.abc import AsyncIterator

import psycopg
import pytest

from answerback.errors import AgentUnavailable
from answerback_agents.langgraph.locks import PostgresGuard, ThreadLocks

pytestmark = pytest.mark.needs_extra("postgres")
LOCKS = """
    SELECT count(*) FROM pg_locks JOIN pg_database ON pg_database.oid = pg_locks.database
    WHERE locktype = 'advisory' AND datname = current_database()
"""


@pytest.fixture
async def guards(postgres_url: str) -> AsyncIterator[tuple[PostgresGuard, PostgresGuard]]:
    """Those of two workers."""
    both = PostgresGuard(postgres_url), PostgresGuard(postgres_url)
    yield both
    for guard in both:
        await guard.close()


def held(url: str) -> int:
    with psycopg.connect(url) as watcher:
        row = watcher.execute(LOCKS).fetchone()
    assert row is not None
    return int(row[0])


async def test_what_one_worker_has_another_does_not_get_until_it_is_given_back(
    guards: tuple[PostgresGuard, PostgresGuard],
) -> None:
    one, two = guards
    assert await one.take(7) and not await two.take(7)
    await one.give(7)
    assert await one.take(8)  # behind it on the same connection: by now the other one is free
    assert await two.take(7) and not await two.take(8)


async def test_many_at_once_are_each_taken_by_one(
    guards: tuple[PostgresGuard, PostgresGuard], postgres_url: str
) -> None:
    taken = await asyncio.gather(*(guard.take(number) for number in range(1, 51) for guard in guards))
    assert [sum(pair) for pair in zip(taken[::2], taken[1::2], strict=True)] == [1] * 50
    assert held(postgres_url) == 50
    for guard in guards:
        for number in range(1, 51):
            await guard.give(number)
        await guard.take(99)
        await guard.give(99)
        await guard.take(100)  # all before it have gone out
    assert held(postgres_url) == 1


async def test_one_that_nobody_waits_for_any_more_is_given_back(
    guards: tuple[PostgresGuard, PostgresGuard], postgres_url: str
) -> None:
    one, two = guards
    await one.take(1)
    waits = asyncio.create_task(one.take(7))
    await asyncio.sleep(0)
    waits.cancel()
    with pytest.raises(asyncio.CancelledError):
        await waits
    await one.take(2)
    await one.take(3)
    assert await two.take(7)


async def test_a_connection_that_is_lost_takes_its_locks_with_it_and_is_made_anew(
    guards: tuple[PostgresGuard, PostgresGuard], postgres_url: str
) -> None:
    one, two = guards
    assert await one.take(7)
    with psycopg.connect(postgres_url, autocommit=True) as admin:
        admin.execute(
            "SELECT pg_terminate_backend(pid) FROM pg_stat_activity "
            "WHERE datname = current_database() AND pid <> pg_backend_pid()"
        )
    with pytest.raises(AgentUnavailable):
        await one.take(8)
    assert await one.take(8) and await two.take(7)
    await one.give(7)  # not ours any more
    assert not await one.take(7)


async def test_in_one_process_a_thread_waits_for_its_turn(postgres_url: str) -> None:
    locks, order = ThreadLocks("mine", PostgresGuard(postgres_url)), list[str]()

    async def works(name: str) -> None:
        async with locks.hold("t"):
            order.append(f"{name} begins")
            await asyncio.sleep(0)
            order.append(f"{name} ends")

    await asyncio.gather(works("a"), works("b"))
    assert order == ["a begins", "a ends", "b begins", "b ends"]
    await locks.close()
