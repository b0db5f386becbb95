"""A transaction's statements: what is held back runs in time, what two write at once is both kept."""

import asyncio
import logging
from typing import Any

import pytest
from sqlalchemy import select

from answerback import migrations
from answerback.store import Store, Tx, audit, choose, claimed, deliveries, meta
from answerback.store.query import Query, joined
from answerback.tables import MetaRow
from tests.support.databases import Database

log = logging.getLogger("answerback.test")
ALL = Query(select(MetaRow.__table__))  # type: ignore[attr-defined]


class Counted:
    """A driver's cursor that notes how often it was asked to execute something."""

    def __init__(self, cursor: Any) -> None:
        self._cursor, self.texts = cursor, list[str]()

    def execute(self, text: str, arguments: Any = ()) -> None:
        self.texts.append(text)
        self._cursor.execute(text, arguments)

    def __getattr__(self, name: str) -> Any:
        return getattr(self._cursor, name)


def later(tx: Tx, *keys: str) -> None:
    for key in keys:
        tx.later(meta.PUT, key=key, value=f"of {key}")


class TestLater:
    async def test_it_is_written_when_the_transaction_ends(self, store: Store) -> None:
        await store.write(lambda tx: later(tx, *(f"k{number:02}" for number in range(40))))
        rows = await store.read(lambda tx: tx.all(ALL))
        assert {row["key"]: row["value"] for row in rows} == {f"k{n:02}": f"of k{n:02}" for n in range(40)}

    async def test_whatever_is_read_after_it_finds_it_done(self, store: Store) -> None:
        def tx_(tx: Tx) -> list[str]:
            later(tx, "one", "two")
            return sorted(row["key"] for row in tx.all(ALL))

        assert await store.write(tx_) == ["one", "two"]

    async def test_one_that_fails_undoes_the_whole_transaction(self, store: Store) -> None:
        def tx_(tx: Tx) -> None:
            later(tx, "before")
            audit.add(tx, "i", "asked", first=True)
            audit.add(tx, "i", "asked", first=True)  # two cannot be the first

        with pytest.raises(Exception, match=r"(?i)unique"):
            await store.write(tx_)
        assert await store.read(lambda tx: tx.all(ALL)) == []

    async def test_on_postgresql_those_together_are_one_statement(self, store: Store) -> None:
        def tx_(tx: Tx) -> list[str]:
            counted = tx._cursor = Counted(tx._cursor)
            later(tx, "a", "b", "c")
            tx.one(ALL)
            return [text.partition(" ")[0] for text in counted.texts]

        by_dialect = {"sqlite": ["INSERT", "INSERT", "INSERT", "SELECT"], "postgresql": ["WITH", "SELECT"]}
        assert await store.write(tx_) == by_dialect[store.backend.dialect]

    def test_their_arguments_are_numbered_on(self) -> None:
        text = joined(("INSERT $1, $2", "UPDATE $2, $1", "INSERT $1"), (2, 2, 1))
        assert text == "WITH w0 AS (INSERT $1, $2), w1 AS (UPDATE $4, $3) INSERT $5"


class TestLog:
    async def test_what_is_committed_is_logged_once_although_it_ran_twice(
        self, store: Store, caplog: pytest.LogCaptureFixture
    ) -> None:
        tries = list[int]()

        def says(tx: Tx) -> None:
            tries.append(1)
            tx.log(log.warning, "%s is asked", "nobody", interaction="i")
            assert caplog.messages == [], "it is not committed yet"

        def fails(tx: Tx) -> None:
            tx.log(log.warning, "of what is rolled back")
            raise ValueError("on purpose")

        store.write_soon(says)  # goes along with what is written next
        with pytest.raises(ValueError, match="on purpose"):
            await store.write(fails)
        assert caplog.messages == ["nobody is asked"]
        assert vars(caplog.records[0])["interaction"] == "i"
        assert len(tries) == 2, "its neighbour spoiled the group, so it ran again by itself"


class TestAuditChain:
    async def test_a_chain_goes_on_where_another_statement_said_that_it_ends(self, store: Store) -> None:
        """`claimed.sent` brings the end of its own interaction's chain along, and of no other."""

        def asked(tx: Tx) -> None:
            for interaction, events in (("mine", 1), ("longer", 3)):
                for number in range(events):
                    audit.add(tx, interaction, f"event {number}", first=number == 0)
                known = {"kind": "question", "status": "queued", "next_attempt_at": None}
                row = {"id": f"to {interaction}", "interaction_id": interaction, "provider": "p", **known}
                deliveries.add(tx, **row)

        def sent(tx: Tx) -> None:
            row = {"id": "to mine", "interaction_id": "mine", "provider": "p"}
            assert claimed.sent(tx, row, ("m1",)).news
            audit.add(tx, "mine", "delivered")

        await store.write(asked)
        await store.write(sent)
        chain = await store.read(lambda tx: audit.of(tx, "mine"))
        assert [(row["seq"], row["event"]) for row in chain] == [(1, "event 0"), (2, "delivered")]
        assert chain[1]["previous"] == chain[0]["hash"] == audit.link(chain[0])

    @pytest.mark.parametrize("database", ["postgresql"], indirect=True)  # SQLite has one process only
    async def test_two_processes_that_add_to_a_chain_at_once_both_do(self, database: Database) -> None:
        """The unique index refuses whoever is second, who then looks again."""
        one, two = (Store(choose(database.url, str(database.data_dir))) for _ in range(2))
        one.open(migrations.upgrade)
        two.open()
        loop, tries = asyncio.get_running_loop(), list[int]()

        def tx_(tx: Tx) -> None:
            tries.append(1)
            if len(tries) == 1:  # between our look and our row, the other one is faster
                audit.known(tx, "i", None)
                other = two.write(lambda tx: audit.add(tx, "i", "by the other"))
                asyncio.run_coroutine_threadsafe(other, loop).result(10)
            audit.add(tx, "i", "by us")

        await one.write(tx_)
        chain = await one.read(lambda tx: audit.of(tx, "i"))
        assert [(row["seq"], row["event"]) for row in chain] == [(1, "by the other"), (2, "by us")]
        for opened in (one, two):
            opened.close()
