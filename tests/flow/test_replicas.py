"""Several gateways on one PostgreSQL: each message once, one reader a provider, wake-ups across."""

import asyncio
import contextlib
from collections.abc import AsyncIterator
from dataclasses import dataclass
from pathlib import Path

import psycopg
import pytest
from sqlalchemy import text

from answerback.agent import Paused, Pending
from answerback.app import App, build
from answerback.ask import AskRequest
from answerback.closing import cancel_run
from answerback.feed import Feed
from answerback.model import InteractionStatus, Question, RunStatus
from answerback.provider import Batch
from answerback.reader import Reader
from answerback.settle import settle
from answerback.store import Tx, interactions, leases, runs
from answerback.store.query import Query
from answerback.testing import ManualClock, MemoryProvider
from tests.flow.test_intake import PolledProvider, until
from tests.support.databases import Database
from tests.support.gateway import settings_for

pytestmark = pytest.mark.needs_extra("postgres")
QUESTION = (Question("q1", "Which?"),)
WAITS = "SELECT 1 FROM pg_stat_activity WHERE datname = current_database() AND wait_event_type = 'Lock'"


@dataclass(slots=True)
class Pair:
    """Two gateways that share a database and a clock, each with its own connection to the service."""

    clock: ManualClock
    phones: tuple[PolledProvider, PolledProvider]
    apps: tuple[App, App]


@contextlib.asynccontextmanager
async def pair(url: str, folder: Path) -> AsyncIterator[Pair]:
    (folder / "secret").write_text("the same secret for both of them")
    clock, phones = ManualClock(), (PolledProvider(), PolledProvider())
    database = Database(url, folder)
    first, second = (
        build(settings_for(database), time=clock, providers={"memory": phone}, agents={}) for phone in phones
    )
    async with contextlib.AsyncExitStack() as stack:
        for app in (first, second):
            app.intake.turn = 0.01
            await app.start(clock=False)
            stack.push_async_callback(stopped, app)
            await until(lambda: bool(phones[0].cursors))
        yield Pair(clock, phones, (first, second))


async def stopped(app: App) -> None:
    if app.context.store.is_open:
        await app.stop()


async def test_one_process_reads_a_polled_provider_and_another_takes_over_when_it_stops(
    postgres_url: str, tmp_path: Path
) -> None:
    async with pair(postgres_url, tmp_path) as both:
        await until(lambda: both.apps[1].intake.state["memory"] == "")
        assert both.phones[0].cursors and both.phones[1].cursors == []
        await both.apps[0].stop()
        await until(lambda: bool(both.phones[1].cursors))


async def test_law_10_who_is_not_the_reader_waits_for_nothing_that_the_reader_holds(
    postgres_url: str, tmp_path: Path
) -> None:
    """Nor the reader for them: should one of them be frozen, the other goes on."""
    connecting = psycopg.AsyncConnection.connect(postgres_url)
    async with pair(postgres_url, tmp_path) as both, await connecting as holding:
        await holding.execute("SELECT 1 FROM thread_lease WHERE agent = 'poll:' FOR UPDATE")
        async with asyncio.timeout(5):
            for _ in range(50):  # its turn to look comes many times meanwhile
                await both.apps[1].asker.ask(AskRequest(QUESTION))


async def test_who_is_frozen_in_a_transaction_loses_it_before_a_lease_lapses(
    postgres_url: str, tmp_path: Path
) -> None:
    async with pair(postgres_url, tmp_path) as both:
        show = Query(text("SHOW idle_in_transaction_session_timeout"))
        row = await both.apps[0].context.store.write(lambda tx: tx.one(show))
        assert row is not None
        seconds = int(str(row["idle_in_transaction_session_timeout"]).removesuffix("s"))
        assert 0 < seconds * 1e6 < leases.SPAN


async def test_a_reader_that_died_is_followed_when_its_lease_has_lapsed(
    postgres_url: str, tmp_path: Path
) -> None:
    async with pair(postgres_url, tmp_path) as both:
        for task in both.apps[0].intake._tasks:
            task.cancel()  # as good as dead: it neither reads nor renews, and gave nothing back
        await both.apps[0].context.store.write(lambda tx: leases.take(tx, "poll:", "memory", "the dead"))
        assert both.phones[1].cursors == []
        both.clock.advance(31)
        await until(lambda: bool(both.phones[1].cursors))


async def test_the_late_write_of_a_reader_that_lost_its_lease_is_refused(
    postgres_url: str, tmp_path: Path
) -> None:
    async with pair(postgres_url, tmp_path) as both:
        receiver = both.apps[0].receiver
        lost = leases.Lease("poll:", "memory", "somebody else", 1)
        late = Batch((both.phones[0].typed("9999", "late"),), "99")
        await receiver.polled("memory", late, lost)
        assert await receiver.cursor("memory") != "99"


async def test_every_question_is_sent_once_whoever_was_asked_to_ask(
    postgres_url: str, tmp_path: Path
) -> None:
    async with pair(postgres_url, tmp_path) as both:
        await asyncio.gather(
            *(
                both.apps[number % 2].asker.ask(AskRequest(QUESTION, title=f"{number}"))
                for number in range(20)
            )
        )
        await asyncio.gather(*(app.idle() for app in both.apps))
        for _ in range(3):
            both.clock.advance(61)
            await asyncio.gather(*(app.deliverer.pump() for app in both.apps))
            await asyncio.gather(*(app.idle() for app in both.apps))
        headings = [shown.message.heading for phone in both.phones for shown in phone.shown]
    assert sorted(headings) == sorted(f"🟦 {number}" for number in range(20))


async def test_who_waits_on_one_process_is_woken_by_an_answer_on_the_other(
    postgres_url: str, tmp_path: Path
) -> None:
    async with pair(postgres_url, tmp_path) as both:
        asked = await both.apps[0].asker.ask(AskRequest(QUESTION))
        patient = Reader(both.apps[1].context, look_again=3600)
        waiting = asyncio.create_task(patient.wait(asked.interaction.id, 3600))
        await until(lambda: bool(both.apps[1].context.signals._waiting))
        await listening(both.apps[1])
        await both.apps[0].receiver.respond(asked.interaction.id, "here", by="", via="api")
        record = await asyncio.wait_for(waiting, 30)
        assert record.status is InteractionStatus.COMPLETED


async def test_who_follows_the_events_on_one_process_hears_at_once_of_the_other(
    postgres_url: str, tmp_path: Path
) -> None:
    async with pair(postgres_url, tmp_path) as both:
        here, there = both.apps
        asked = await there.asker.ask(AskRequest(QUESTION))
        await there.idle()
        await listening(here)
        patient = Feed(here.context, look_again=3600)
        begin = await patient.begin()
        async with contextlib.aclosing(patient.follow(begin.place)) as steps:
            while await anext(steps) is not None:
                pass  # what came of asking
            following = asyncio.create_task(anext(steps))
            await until(lambda: bool(here.context.signals._waiting))
            await there.receiver.respond(asked.interaction.id, "here", by="", via="api")
            step = await asyncio.wait_for(following, 30)
        assert step is not None and step.events[0].event == "interaction.answered"


async def listening(app: App) -> None:
    """Until the process hears wake-ups: they are hints, and before that nobody promised any."""
    assert app.wakeups is not None
    await asyncio.wait_for(app.wakeups.hearing.wait(), 30)


def test_another_secret_is_refused(postgres_url: str, tmp_path: Path) -> None:
    from answerback.errors import ConfigurationError

    async def start(folder: Path) -> None:
        folder.mkdir()
        app = build(
            settings_for(Database(postgres_url, folder)), providers={"memory": MemoryProvider()}, agents={}
        )
        await app.start(clock=False)
        await app.stop()

    asyncio.run(start(tmp_path / "one"))
    with pytest.raises(ConfigurationError, match="another `secret`"):
        asyncio.run(start(tmp_path / "two"))


@pytest.mark.parametrize("ends_first", [False, True])
async def test_a_run_that_is_cancelled_elsewhere_while_its_agent_asks_leaves_no_open_question(
    postgres_url: str, tmp_path: Path, ends_first: bool
) -> None:
    """Whichever is first: the question is withdrawn, or it is not asked."""
    async with pair(postgres_url, tmp_path) as both:
        one, two = (app.context for app in both.apps)
        await one.store.write(lambda tx: runs.add(tx, "r", "mine", "t", None, {"ask": ["ana"]}, None))
        asks = Paused((Pending("i" * 32, "digest", QUESTION),))
        loop = asyncio.get_running_loop()
        cancelling = None

        def asking(tx: Tx) -> None:
            nonlocal cancelling
            settle(tx, one, "mine", "t", asks, [])
            cancel = two.store.write(lambda tx: cancel_run(tx, two, "r", "cancelled"))
            cancelling = asyncio.run_coroutine_threadsafe(cancel, loop)
            with psycopg.connect(postgres_url, autocommit=True) as watcher:
                while not cancelling.done() and not watcher.execute(WAITS).fetchone():
                    continue

        if ends_first:
            await two.store.write(lambda tx: cancel_run(tx, two, "r", "cancelled"))
            await one.store.write(lambda tx: settle(tx, one, "mine", "t", asks, []))
        else:
            await one.store.write(asking)
            assert cancelling is not None
            await asyncio.wrap_future(cancelling)
        run = await one.store.read(lambda tx: runs.get(tx, "r"))
        assert run is not None and run.status is RunStatus.CANCELLED
        found = await one.store.read(lambda tx: interactions.page(tx, None, 10, ""))
        assert [each.status for each in found] == ([] if ends_first else [InteractionStatus.CANCELLED])
