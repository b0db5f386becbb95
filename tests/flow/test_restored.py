"""A database that was put back: an answer to a question that is lost reaches none of those that are not."""

import asyncio
import contextlib
import logging
from collections.abc import AsyncIterator
from pathlib import Path

import pytest

from answerback.ask import AskRequest
from answerback.settings import Route
from answerback.signals import Signals
from answerback.store import restored
from answerback.store.copying import copy
from answerback.testing import ManualClock, MemoryProvider, asks
from answerback.wakeups import Wakeups
from tests.support.databases import Database
from tests.support.gateway import Gateway, gateway
from tests.support.replicated import Replicated
from tests.support.standby import Standby, standing_by

LOST = "Answers since 12:00 may be lost. If you gave one, please give it again."
HOUR = 3600.0
ROUTE = Route("default", ask=("alice",), providers=("memory",), reminders=(2 * HOUR,))


async def ask(g: Gateway, text: str) -> str:
    asked = await g.app.asker.ask(AskRequest((asks(text),)))
    await g.app.idle()
    return str(asked.interaction.id)


@contextlib.asynccontextmanager
async def two_gateways(database: Database) -> AsyncIterator[tuple[Gateway, Gateway]]:
    """With one clock, and one phone for each person."""
    clock, providers = ManualClock(), {"memory": MemoryProvider()}
    async with (
        gateway(database, clock=clock, providers=providers) as one,
        gateway(database, clock=clock, providers=providers) as other,
    ):
        yield one, other


async def put_back(g: Gateway) -> None:
    """An hour after everything else that is in the database."""
    g.clock.advance(HOUR)
    await g.app.context.store.write(restored.said)


async def answer_of(g: Gateway, id: str) -> str:
    record = await g.app.reader.interaction(id)
    return record.answer.text if record.answer is not None else ""


async def test_law_1_a_text_that_names_no_question_decides_nothing_until_it_was_asked_again(
    database: Database,
) -> None:
    async with gateway(database) as g:
        id = await ask(g, "Which folder?")
        await put_back(g)
        await g.types("1001", "all of it")  # for a question of which nothing is known here
        assert await answer_of(g, id) == ""
        unsure = "I am not sure what “all of it” is for. Is it this question?"
        assert g.memory.titles("1001")[-1] == unsure
        await g.later(60)
        await g.types("1001", "only logs")
        assert await answer_of(g, id) == "only logs"


async def test_who_was_asked_is_asked_again_and_told_why_once(database: Database) -> None:
    async with gateway(database, routes={"default": ROUTE}) as g:
        await ask(g, "Which folder?")
        await put_back(g)
        await g.sweep()
        again = g.memory.shown[-1].message
        assert again.title == "Which folder?"
        assert LOST in again.body
        await g.later(HOUR)  # the reminder that the route has
        assert g.memory.titles("1001") == ["Which folder?"] * 3
        assert LOST not in g.memory.shown[-1].message.body


@pytest.mark.parametrize("by", ["reply", "code"])
async def test_what_names_its_question_counts_at_once(database: Database, by: str) -> None:
    async with gateway(database) as g:
        id = await ask(g, "Which folder?")
        await put_back(g)
        [shown] = g.memory.shown
        if by == "reply":
            await g.types("1001", "only logs", references=[shown.id])
        else:
            await g.types("1001", f"only logs #{shown.message.code}")
        record = await g.app.reader.interaction(id)
        assert record.answer is not None and record.answer.values == {"q1": "only logs"}


async def test_what_is_asked_afterwards_is_as_ever(database: Database) -> None:
    async with gateway(database) as g:
        await put_back(g)
        id = await ask(g, "Which folder?")
        assert LOST not in g.memory.shown[-1].message.body
        await g.types("1001", "only logs")
        assert await answer_of(g, id) == "only logs"


async def test_who_put_a_question_off_is_asked_when_they_wanted(database: Database) -> None:
    async with gateway(database) as g:
        id = await ask(g, "Which folder?")
        await g.types("1001", "snooze 2h")
        await put_back(g)
        before = len(g.memory.shown)
        await g.sweep()
        assert len(g.memory.shown) == before
        await g.types("1001", "all of it")
        assert await answer_of(g, id) == ""
        await g.later(HOUR)
        assert LOST in g.memory.shown[-1].message.body


async def loses_the_last_question(g: Gateway, standby: Replicated | Standby) -> str:
    """Two questions, of which a standby that takes over has the first, as it gives back."""
    kept = await ask(g, "Which folder?")
    standby.falls_behind()
    g.clock.advance(60)
    await ask(g, "Delete all of it?")
    g.clock.advance(60)
    standby.takes_over()
    return kept


async def asks_for_the_other_again(g: Gateway, kept: str) -> None:
    """What is written for the one that is lost answers nothing, and then the other one is asked again."""
    await g.types("1001", "yes", sent_at=g.clock())
    assert await answer_of(g, kept) == ""
    await g.sweep()
    assert LOST in g.memory.shown[-1].message.body
    await g.types("1001", "only logs")
    assert await answer_of(g, kept) == "only logs"


async def test_law_1_a_standby_that_took_over_without_the_last_question_gets_no_answer_to_it(
    replicated: Replicated, postgres_url: str, tmp_path: Path, caplog: pytest.LogCaptureFixture
) -> None:
    async with gateway(Database(postgres_url, tmp_path)) as g:
        await asks_for_the_other_again(g, await loses_the_last_question(g, replicated))
        assert "lacks what was committed" in caplog.text


@pytest.mark.needs_extra("postgres")
async def test_law_1_so_it_is_with_a_real_one(tmp_path: Path) -> None:
    with standing_by() as pair:
        async with gateway(Database(pair.url, tmp_path)) as g:
            await asks_for_the_other_again(g, await loses_the_last_question(g, pair))


async def test_sessions_that_end_lose_nothing_and_nobody_is_asked_again(
    replicated: Replicated, postgres_url: str, tmp_path: Path
) -> None:
    async with gateway(Database(postgres_url, tmp_path)) as g:
        id = await ask(g, "Which folder?")
        g.clock.advance(60)
        replicated.falls_behind()
        await g.app.context.store.settled()
        g.clock.advance(61)
        await g.types("1001", "only logs", sent_at=g.clock())
        assert g.memory.titles("1001") == ["✅ You wrote “only logs” · 12:02. Going on."]
        assert await answer_of(g, id) == "only logs"


async def test_a_message_that_was_on_its_way_belongs_to_nothing_any_more(
    replicated: Replicated, postgres_url: str, tmp_path: Path, caplog: pytest.LogCaptureFixture
) -> None:
    async with gateway(Database(postgres_url, tmp_path)) as g:
        kept = await ask(g, "Which folder?")
        replicated.falls_behind()
        g.clock.advance(60)
        g.memory.hang = asyncio.Event()
        await g.app.asker.ask(AskRequest((asks("Delete all of it?"),)))
        replicated.takes_over()
        g.memory.hang.set()
        await g.app.idle()
        assert g.memory.titles("1001") == ["Which folder?", "Delete all of it?"]
        await g.types("1001", "yes", references=[g.memory.shown[-1].id])
        assert await answer_of(g, kept) == ""
    assert not [record for record in caplog.records if record.levelno >= logging.ERROR]


async def test_just_after_a_lost_connection_others_may_still_have_to_look(
    replicated: Replicated, postgres_url: str, tmp_path: Path
) -> None:
    async with two_gateways(Database(postgres_url, tmp_path)) as (one, other):
        kept = await ask(one, "Which folder?")
        replicated.falls_behind()
        one.clock.advance(60)
        await ask(one, "Delete all of it?")
        replicated.takes_over()
        await other.types("1001", "yes", sent_at=one.clock())  # which has lost nothing itself
        assert await answer_of(other, kept) == ""


async def test_who_has_nothing_to_write_looks_once_a_connection_was_lost(
    replicated: Replicated, postgres_url: str
) -> None:
    looks = asyncio.Queue[None]()
    wakeups = Wakeups(postgres_url, "one", Signals(), lambda: looks.put(None), again=0.01)
    wakeups.start()
    try:
        async with asyncio.timeout(30):
            await looks.get()
            replicated.falls_behind()
            await looks.get()
    finally:
        await wakeups.close()


async def test_of_two_gateways_that_notice_it_one_has_people_asked_again(
    replicated: Replicated, postgres_url: str, tmp_path: Path
) -> None:
    async with two_gateways(Database(postgres_url, tmp_path)) as (one, other):
        await ask(one, "Which folder?")
        replicated.falls_behind()
        one.clock.advance(60)
        for each in (one, other):
            await ask(each, "What else?")
        one.clock.advance(60)
        replicated.takes_over()
        for each in (one, one, other, other, one):
            one.clock.advance(1)
            await each.sweep()
        assert one.memory.titles("1001").count("Which folder?") == 2


async def test_a_backup_that_is_started_says_so_once(
    tmp_path: Path, caplog: pytest.LogCaptureFixture
) -> None:
    (tmp_path / "data").mkdir()
    async with gateway(Database("sqlite", tmp_path / "data")) as g:
        open_, answered = await ask(g, "Which folder?"), await ask(g, "Which file?")
        phone = g.memory
        now = g.clock()
        await asyncio.to_thread(copy, str(tmp_path / "data"), tmp_path / "backup", now=now)
        await g.types("1001", "mine.txt", references=[phone.shown[1].id])
        assert await answer_of(g, answered) == "mine.txt"
        clock = g.clock
        clock.advance(HOUR)
    here = Database("sqlite", tmp_path / "backup")
    with caplog.at_level(logging.WARNING, "answerback.app"):
        async with gateway(here, providers={"memory": phone}, clock=clock) as g:
            await g.types("1001", "delete", sent_at=clock())
            assert {await answer_of(g, id) for id in (open_, answered)} == {""}
            await g.sweep()
            assert [LOST in shown.message.body for shown in phone.shown[-2:]] == [True, True]
        assert "this database is a backup of 12:00 UTC" in caplog.text
        caplog.clear()
        async with gateway(here, providers={"memory": phone}, clock=clock) as g:
            shown = len(phone.shown)
            await g.later(HOUR)
            assert len(phone.shown) == shown
            entries = (await g.app.auditor.entries(100)).items
            assert [each.interaction_id for each in entries if each.event == "restored"] == ["database"]
        assert "backup" not in caplog.text
