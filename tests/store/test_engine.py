"""The store: transactions grouped in one commit, replayed singly on error, answered after the commit."""

import asyncio
import stat
import threading
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from sqlalchemy import select
from sqlalchemy import text as sql

from answerback import migrations
from answerback.errors import ConfigurationError, StoreUnavailable
from answerback.store import (
    Store,
    Tx,
    adopted,
    choose,
    deliveries,
    due,
    interactions,
    meta,
    pace,
    replies,
    runs,
    stops,
)
from answerback.store.backend import Sqlite
from answerback.store.query import Either, Query, Statement
from answerback.tables import MetaRow

ALL = Query(select(MetaRow.__table__))  # type: ignore[attr-defined]


def put(key: str) -> Callable[[Tx], int]:
    return lambda tx: tx.run(meta.PUT, key=key, value="")


async def keys(store: Store) -> set[str]:
    return {row["key"] for row in await store.read(lambda tx: tx.all(ALL))}


async def test_what_is_answered_is_committed(store: Store) -> None:
    await asyncio.gather(*(store.write(put(f"k{number}")) for number in range(300)))
    assert await keys(store) == {f"k{number}" for number in range(300)}


async def test_one_bad_transaction_spoils_none_of_its_neighbours(store: Store) -> None:
    def bad(tx: Tx) -> None:
        tx.run(meta.PUT, key="half", value="")
        raise ValueError("on purpose")

    results = await asyncio.gather(
        *(store.write(bad if number % 3 == 0 else put(f"k{number}")) for number in range(30)),
        return_exceptions=True,
    )
    assert [isinstance(result, ValueError) for result in results] == [number % 3 == 0 for number in range(30)]
    assert await keys(store) == {f"k{number}" for number in range(30) if number % 3}


async def test_law_10_a_transaction_that_ends_the_program_ends_nothing(store: Store) -> None:
    def ends(tx: Tx) -> None:
        tx.run(meta.PUT, key="half", value="")
        raise SystemExit(1)

    results = await asyncio.gather(store.write(ends), store.write(put("whole")), return_exceptions=True)
    assert [str(results[0]), results[1]] == ["a transaction raised SystemExit", 1]
    assert await keys(store) == {"whole"}


async def test_law_10_what_breaks_in_the_writing_thread_itself_keeps_nobody_waiting(tmp_path: Path) -> None:
    class Broken(Sqlite):
        def is_lost(self, connection: Any, error: Exception) -> bool:
            raise LookupError("a bug")

    migrations.upgrade(f"sqlite:///{tmp_path / 'answerback.db'}")
    broken = Store(Broken(str(tmp_path)))
    broken.open()
    with pytest.raises(LookupError):
        await broken.write(lambda tx: 1 / 0)
    assert await broken.write(put("next")) == 1
    broken.close()


async def test_law_10_what_cannot_be_logged_keeps_nobody_waiting(store: Store) -> None:
    def fails(text: str, *arguments: object, extra: object) -> None:
        raise OSError("no space is left for the log")

    def logs(tx: Tx) -> str:
        tx.log(fails, "written")
        return "first"

    async with asyncio.timeout(30):
        first, second = await asyncio.gather(store.write(logs), store.write(lambda tx: "second"))
    assert (first, second) == ("first", "second")


async def test_a_statement_that_fails_rolls_its_transaction_back(store: Store) -> None:
    broken = Query(sql("SELECT no_such_column FROM meta"))

    def tx(tx: Tx) -> None:
        tx.run(meta.PUT, key="half", value="")
        tx.all(broken)

    with pytest.raises(Exception, match="no_such_column"):
        await store.write(tx)
    await store.write(put("whole"))
    assert await keys(store) == {"whole"}


async def test_readers_cannot_write(store: Store) -> None:
    with pytest.raises(Exception, match=r"(?i)read.?only"):
        await store.read(put("x"))


async def test_a_snapshot_sees_one_moment_whatever_is_committed_meanwhile(store: Store) -> None:
    looked, go_on = threading.Event(), threading.Event()

    def twice(tx: Tx) -> tuple[int, int]:
        before = len(tx.all(ALL))
        looked.set()
        assert go_on.wait(30)
        return before, len(tx.all(ALL))

    async def between(key: str) -> None:
        await asyncio.to_thread(looked.wait, 30)
        await store.write(put(key))
        go_on.set()

    seen, _ = await asyncio.gather(store.snapshot(twice), between("k1"))
    assert seen == (0, 0)
    for event in (looked, go_on):
        event.clear()
    seen, _ = await asyncio.gather(store.read(twice), between("k2"))
    assert seen == (1, 2), "a plain read sees what is new"


async def test_a_snapshot_that_fails_leaves_its_connection_as_it_was(store: Store) -> None:
    broken = Query(sql("SELECT no_such_column FROM meta"))
    for _ in range(4):  # there are two connections
        with pytest.raises(Exception, match="no_such_column"):
            await store.snapshot(lambda tx: tx.all(broken))
        with pytest.raises(Exception, match=r"(?i)read.?only"):
            await store.snapshot(put("x"))
    await store.write(put("k"))
    assert await keys(store) == {"k"} == {row["key"] for row in await store.snapshot(lambda tx: tx.all(ALL))}


async def test_a_raw_event_may_hold_any_bytes(store: Store) -> None:
    raw = bytes(range(256)) * 10
    assert await store.write(
        lambda tx: replies.add(tx, "p", "\x00e", raw) if tx.dialect == "sqlite" else True
    )
    assert await store.write(lambda tx: replies.add(tx, "p", "e2", raw))
    row = await store.read(lambda tx: replies.first(tx, "p", "e2"))
    assert row is not None and bytes(row["raw"]) == raw


async def test_the_pace_hands_out_one_slot_after_the_other(store: Store) -> None:
    def three(tx: Tx) -> list[int]:
        return [pace.reserve(tx, "bot", "", 10) - tx.now for _ in range(3)]

    assert await store.write(three) == [0, 100_000, 200_000]
    assert await store.write(lambda tx: [pace.once(tx, "a", "b", 10**9) for _ in range(2)]) == [True, False]


async def test_the_models_and_the_migrations_agree(store: Store) -> None:
    from alembic.autogenerate import compare_metadata
    from alembic.migration import MigrationContext
    from sqlalchemy import create_engine

    from answerback.tables import metadata

    engine = create_engine(store.backend.url)
    with engine.connect() as connection:
        assert compare_metadata(MigrationContext.configure(connection), metadata) == []
    engine.dispose()
    current, newest = migrations.revisions(store.backend.url)
    assert current == newest is not None


async def test_migrating_twice_changes_nothing(store: Store) -> None:
    await store.write(put("kept"))
    migrations.upgrade(store.backend.url)
    assert await keys(store) == {"kept"}


class Explained:
    """A query's plan in place of its rows."""

    def __init__(self, query: Query | Either) -> None:
        self._query = query

    def on(self, dialect: str) -> Statement:
        statement = self._query.on(dialect)
        return Statement("EXPLAIN QUERY PLAN " + statement.text, statement.arguments)


THREAD = {"agent": "a", "thread_id": "t"}
HOT: dict[str, tuple[Any, dict[str, Any], str]] = {
    "deliveries due": (deliveries.DUE, {"now": 1, "limit": 10}, "delivery_due"),
    "next delivery": (due.NEXT, {}, "delivery_due"),
    "open questions of an account": (
        deliveries.OPEN_FOR,
        {"provider": "p", "external_id": "1", "place": "1", "limit": 5},
        "delivery_open",
    ),
    "delivery by token": (deliveries.BY_TOKEN, {"hash": "h"}, "delivery_token"),
    "interactions due": (interactions.DUE, {"now": 1, "limit": 10}, "interaction_next_action"),
    "next deadline": (due.NEXT, {}, "interaction_next_action"),
    "unresumed": (interactions.UNRESUMED, {"now": 1, "limit": 10}, "interaction_unresumed"),
    "next resume": (due.NEXT, {}, "interaction_unresumed"),
    "pending list": (interactions.LIST_PENDING, {"after": "", "limit": 10}, "interaction_pending"),
    "what was asked for a user": (
        interactions.LIST_OF,
        {"user": "u", "after": "", "limit": 10},
        "interaction_user (asked_by=? AND id>?)",
    ),
    "of it what has a status": (
        interactions.LIST_OF_BY,
        {"user": "u", "after": "", "limit": 10, "status": "pending"},
        "interaction_user (asked_by=? AND id>?)",
    ),
    "next run": (due.NEXT, {}, "run_due"),
    "next stop": (due.NEXT, {}, "run_stop"),
    "a tap's question": (deliveries.ASKED_BY, {"hash": "h"}, "delivery_token"),
    "what a thread asks": (interactions.LIVE_OF, THREAD, "interaction_interrupt"),
    "what of it is pending": (interactions.OF_THREAD, THREAD, "interaction_interrupt"),
    "a question, and what else its thread asks": (
        interactions.HELD_WITH_OTHERS,
        {**THREAD, "id": "i"},
        "interaction_interrupt",
    ),
    "whether something was ever asked": (
        adopted.ASKED,
        {**THREAD, "interrupt_id": "i", "digest": "d"},
        "interaction_interrupted (thread_id=? AND interrupt_id=? AND agent=?)",
    ),
    "a thread's run": (runs.OF_THREAD, THREAD, "run_live"),
    "what has to end before a run begins": (runs.OR_TO_STOP, THREAD, "run_live"),
    "a thread's latest run": (runs.LATEST, THREAD, "run_thread"),
    "a thread's stops": (stops.OF, THREAD, "run_live"),
    "who was told in a run": (deliveries.OF_RUN, {"run_id": "r"}, "interaction_run"),
    "runs due": (runs.DUE, {"now": 1, "limit": 10}, "run_due"),
    "stops due": (stops.DUE, {"now": 1, "limit": 10}, "run_stop"),
}


@pytest.mark.parametrize("name", HOT)
async def test_a_hot_query_uses_its_partial_index(tmp_path: Path, name: str) -> None:
    query, values, index = HOT[name]
    opened = Store(choose("sqlite", str(tmp_path)))
    opened.open(migrations.upgrade)
    plan = await opened.read(lambda tx: tx.all(Explained(query), **values))
    opened.close()
    assert any(index in row["detail"] for row in plan), plan


async def test_a_second_process_is_kept_out_of_a_data_directory(tmp_path: Path) -> None:
    first = Store(choose("sqlite", str(tmp_path)))
    first.open(migrations.upgrade)
    with pytest.raises(ConfigurationError, match="Another answerback is using"):
        Store(choose("sqlite", str(tmp_path))).open(migrations.upgrade)
    first.close()
    second = Store(choose("sqlite", str(tmp_path)))
    second.open(migrations.upgrade)
    second.close()


@pytest.mark.needs_extra("postgres")
@pytest.mark.parametrize("options", ["hunter22=1", "connect_timeout=hunter22", "autocommit=1"])
def test_options_that_no_connection_has_are_refused_and_not_repeated(tmp_path: Path, options: str) -> None:
    """Law 11: behind a ? that was not encoded stands a piece of the password."""
    with pytest.raises(ConfigurationError, match="an option that PostgreSQL's own library") as refused:
        choose(f"postgresql://alice@localhost/answerback?{options}", str(tmp_path))
    assert "hunter22" not in str(refused.value) and refused.value.__suppress_context__


async def test_only_the_owner_may_read_the_files(tmp_path: Path) -> None:
    opened = Store(choose("sqlite", str(tmp_path / "var")))
    opened.open(migrations.upgrade)
    await opened.write(put("x"))
    modes = {file.name: stat.S_IMODE(file.stat().st_mode) for file in (tmp_path / "var").iterdir()}
    opened.close()
    assert set(modes) >= {"answerback.db", "answerback.db-wal", "lock"}
    assert set(modes.values()) == {0o600}


async def test_what_nobody_waits_for_is_done_before_what_is_written_next(store: Store) -> None:
    store.write_soon(put("soon"))
    row = await store.write(lambda tx: tx.one(meta.GET, key="soon"))
    assert row is not None


async def test_what_nobody_waits_for_is_committed_by_itself(store: Store) -> None:
    stored = asyncio.Event()
    loop = asyncio.get_running_loop()
    store.write_soon(
        lambda tx: (tx.run(meta.PUT, key="soon", value=""), loop.call_soon_threadsafe(stored.set))
    )
    await stored.wait()
    await store.settled()
    assert "soon" in await keys(store)


async def test_what_went_along_with_another_commit_asks_for_none_of_its_own(store: Store) -> None:
    store.write_soon(put("soon"))
    assert store._timer is not None
    await store.write(put("now"))
    assert store._timer is None
    store.write_soon(put("again"))
    assert store._timer is not None


async def test_what_nobody_waits_for_is_under_way_until_it_is_committed(store: Store) -> None:
    begun, go_on = threading.Event(), threading.Event()

    def slowly(tx: Tx) -> None:
        begun.set()
        go_on.wait(30)

    store.write_soon(slowly)
    along = asyncio.create_task(store.settled())
    await asyncio.to_thread(begun.wait, 30)
    waits = store.waits  # the writer has it already
    go_on.set()
    await along
    assert (waits, store.waits) == (True, False)


async def test_what_nobody_waits_for_is_committed_at_the_end(tmp_path: Path) -> None:
    opened = Store(choose("sqlite", str(tmp_path)))
    opened.open(migrations.upgrade)
    opened.write_soon(put("soon"))
    opened.close()
    again = Store(choose("sqlite", str(tmp_path)))
    again.open()
    assert "soon" in await keys(again)
    again.close()


async def test_what_comes_after_the_end_is_refused_at_once(tmp_path: Path) -> None:
    closed = Store(choose("sqlite", str(tmp_path)))
    closed.open(migrations.upgrade)
    closed.close()
    with pytest.raises(StoreUnavailable, match="is closed"):
        await closed.write(put("late"))


async def test_what_nobody_waits_for_fails_alone_and_is_logged(
    store: Store, caplog: pytest.LogCaptureFixture
) -> None:
    def bad(tx: Tx) -> None:
        raise ValueError("on purpose")

    store.write_soon(put("before"))
    store.write_soon(bad)
    await store.write(put("after"))
    await store.settled()
    assert await keys(store) == {"before", "after"}
    assert [record.name for record in caplog.records] == ["answerback.store"]
