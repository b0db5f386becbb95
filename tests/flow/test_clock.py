"""The clock: one job, armed to the next moment that something falls due, never more than a minute ahead."""

import asyncio
import datetime
import logging

import pytest

from answerback.app import App, build
from answerback.ask import AskRequest
from answerback.model import InteractionStatus, Question
from answerback.testing import MemoryProvider
from tests.flow.test_intake import until
from tests.support.databases import Database
from tests.support.gateway import settings_for

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
