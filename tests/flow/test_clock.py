"""The clock: one job, armed to the next moment that something falls due, never more than a minute ahead."""

import asyncio
import datetime
import logging
from dataclasses import replace

import pytest

from answerback.app import App, build
from answerback.ask import AskRequest
from answerback.clock import Clock
from answerback.model import InteractionStatus, Question
from answerback.provider import Pace, TryLater
from answerback.store import Tx, deliveries, leases
from answerback.testing import MemoryProvider, ScriptedAgent, asks
from tests.flow.test_intake import until
from tests.support.databases import Database
from tests.support.gateway import ALICE, gateway, settings_for

QUESTION = (Question("q1", "Which?"),)


def seconds_to_wake(app: App) -> float:
    """0 while it is looking."""
    jobs = app.clock._scheduler.get_jobs()
    assert len(jobs) <= 1
    if not jobs:
        return 0
    return (jobs[0].next_run_time - datetime.datetime.now(datetime.UTC)).total_seconds()


async def started(database: Database) -> App:
    app = build(settings_for(database), providers={"memory": MemoryProvider()}, agents={})
    await app.start()
    await until(lambda: seconds_to_wake(app) > 5)
    return app


async def test_with_nothing_due_it_looks_once_a_minute(database: Database) -> None:
    app = await started(database)
    assert 50 < seconds_to_wake(app) <= 60
    await app.stop()


async def test_a_deadline_arms_it_earlier_and_is_acted_on(database: Database) -> None:
    app = await started(database)
    await app.asker.ask(AskRequest(QUESTION, expires_in=30))
    await until(lambda: 20 < seconds_to_wake(app) <= 30)
    soon = await app.asker.ask(AskRequest(QUESTION, expires_in=0.2))
    record = await app.reader.wait(soon.interaction.id, 20)
    assert record.status is InteractionStatus.EXPIRED
    await until(lambda: 20 < seconds_to_wake(app) <= 30)
    await app.stop()


async def test_a_machine_whose_time_is_set_back_by_an_hour_is_not_late_by_an_hour(database: Database) -> None:
    """The next look is then an hour and a minute away; the database may be on another machine."""
    app = await started(database)
    app.clock._arm(3660)
    assert seconds_to_wake(app) > 3600
    app.clock._check()  # as every minute
    await until(lambda: 5 < seconds_to_wake(app) <= 60)
    await app.stop()


async def test_a_new_delivery_is_sent_at_once_without_the_clock(database: Database) -> None:
    memory = MemoryProvider()
    app = build(settings_for(database), providers={"memory": memory}, agents={})
    await app.start(clock=False)
    await app.asker.ask(AskRequest(QUESTION))
    await until(lambda: bool(memory.shown))
    assert memory.titles("1001") == ["Which?"]
    await app.stop()


async def test_what_fell_due_is_done_however_long_it_takes_to_hear_what_was_said_meanwhile(
    database: Database,
) -> None:
    """A service that does not answer after the machine was asleep is waited for once."""
    waited, swept = [], asyncio.Event()

    async def catch_up() -> None:
        waited.append(True)
        g.clock.advance(60)

    async def sweep() -> int:
        swept.set()
        return 0

    async with gateway(database) as g:
        await g.app.asker.ask(AskRequest(QUESTION, expires_in=600))
        clock = Clock(g.app.context.store, [sweep], catch_up)
        clock.start()
        await until(lambda: clock._planned is not None)
        g.clock.advance(3600)
        clock.rearm()
        async with asyncio.timeout(20):
            await swept.wait()
        await clock.stop()
        assert waited == [True]


async def test_many_commits_do_not_push_the_next_look_on(database: Database) -> None:
    app = await started(database)
    app.clock.rearm()
    armed = app.clock._wake
    for _ in range(100):
        app.clock.rearm()
    assert app.clock._wake == armed is not None
    await app.stop()


@pytest.mark.parametrize("turns", range(5))
async def test_a_look_that_falls_due_while_it_stops_is_no_error(
    database: Database, caplog: pytest.LogCaptureFixture, turns: int
) -> None:
    app = await started(database)
    app.clock._arm(0)
    for _ in range(turns):
        await asyncio.sleep(0)
    await app.clock.stop()
    for _ in range(10):
        await asyncio.sleep(0)
    await app.stop()
    assert [record.getMessage() for record in caplog.records if record.levelno >= logging.WARNING] == []


HOURS = 2 * 3600.0


class Paced(MemoryProvider):
    pace = Pace(account=1)


async def test_what_waits_by_a_time_that_was_put_back_does_not_wait_for_as_long(
    database: Database, caplog: pytest.LogCaptureFixture
) -> None:
    """As of a machine whose clock was ahead until it heard from others: a turn, and a try after a failure."""
    memory = Paced()
    async with gateway(database, providers={"memory": memory}) as g:
        g.clock.advance(HOURS)
        memory.failures.append(TryLater(20))
        for text in ("First?", "Second?", "Third?"):
            await g.app.asker.ask(AskRequest((Question("q1", text),)))
        await g.app.idle()
        assert memory.titles("1001") == []
        g.clock.advance(-HOURS)
        for _ in range(6):
            await g.app.clock.tick()
            await g.app.idle()
            g.clock.advance(0.5)
        assert sorted(memory.titles("1001")) == ["First?", "Second?", "Third?"]
    warned = [line for line in caplog.messages if "put back by 7200 s or more" in line]
    assert len(warned) == 1  # and its rate is kept after that


async def test_what_waits_for_somebodys_quiet_to_end_waits_on_when_the_time_is_put_back(
    database: Database,
) -> None:
    quiet = replace(ALICE, quiet_hours="10:00-14:00")
    async with gateway(database, contacts={"alice": quiet}) as g:
        await g.app.asker.ask(AskRequest(QUESTION))
        g.clock.advance(-1800)
        await g.app.clock.tick()
        await g.app.idle()
        assert g.memory.shown == []


async def test_a_thread_of_a_dead_gateway_is_not_held_by_the_time_before_it_was_put_back(
    database: Database,
) -> None:
    agent = ScriptedAgent(asks("Which?"))
    async with gateway(database, agent) as g:
        run = await g.run()
        g.clock.advance(HOURS)

        def dead(tx: Tx) -> None:
            assert leases.take(tx, run.agent, run.thread_id, "a dead one") is not None

        await g.app.context.store.write(dead)
        await g.types("1001", "this")  # its thread is held
        assert agent.journal == []
        g.clock.advance(-HOURS)
        await g.app.clock.tick()
        g.clock.advance(leases.SPAN / 1e6 + 1)
        await g.app.clock.tick()
        assert (await g.settled(run.id)).result == ["this"]


async def test_what_a_dead_gateway_was_to_send_waits_no_longer_than_a_claim_when_the_time_is_put_back(
    database: Database,
) -> None:
    async with gateway(database) as g:
        g.clock.advance(HOURS)
        g.memory.failures.append(TryLater(1))
        await g.app.asker.ask(AskRequest(QUESTION))
        await g.app.idle()
        g.clock.advance(60)
        assert len(await g.app.context.store.write(lambda tx: deliveries.claim(tx, "a dead one", 10))) == 1
        g.clock.advance(-HOURS)
        for waited, shown in ((0.0, []), (deliveries.LEASE / 1e6 + 1, ["Which?"])):
            g.clock.advance(waited)
            await g.app.clock.tick()
            await g.app.idle()
            assert g.memory.titles("1001") == shown
