"""What was asked, answered, expired and cancelled is counted, once, after it was committed."""

from dataclasses import replace

import pytest

from answerback.agent import Pending
from answerback.ask import AskRequest
from answerback.errors import AlreadyAnswered
from answerback.metrics import Gauge, Metric, Metrics, Time
from answerback.model import Json, OnExpire, StandsIn
from answerback.provider import Message, Sent, StandInSettings, answering
from answerback.settings import Hitl, Route
from answerback.store import Store, Tx, choose
from answerback.testing import MemoryProvider, ScriptedAgent, asks
from tests.support.databases import Database
from tests.support.gateway import Gateway, gateway

A, X = Metric.ASKED, Metric.ANSWERED
WHICH = asks("Which?", "A", "B")


def route(on_expire: OnExpire = OnExpire.AUTO, expires_in: float | None = 60.0) -> dict[str, Route]:
    return {"default": Route("default", ("alice",), ("memory",), expires_in=expires_in, on_expire=on_expire)}


def counted(g: Gateway) -> dict[str, int]:
    """Of the configured agent: what is not 0."""
    metrics = g.app.context.metrics
    numbers = {
        "asked": metrics.of(Metric.ASKED, "scripted"),
        **{by: metrics.of(X, "scripted", by) for by in ("person", "stand-in", "default", "api")},
        "expired": metrics.of(Metric.EXPIRED, "scripted"),
        "cancelled": metrics.of(Metric.CANCELLED, "scripted"),
        **{
            f"run {how}": metrics.of(Metric.RUNS, "scripted", how)
            for how in ("completed", "failed", "cancelled")
        },
    }
    return {name: number for name, number in numbers.items() if number}


class Program(MemoryProvider):
    """A stand-in that takes the first choice."""

    stand_in = StandsIn.PROGRAM
    Settings = StandInSettings

    async def send(self, message: Message) -> Sent:
        if message.asked is None:
            return Sent(("m",))
        return Sent(("m",), replies=(answering(message, "a"),))


class Presets(ScriptedAgent):
    def _pending(self, step: int, position: int) -> Pending:
        return replace(super()._pending(step, position), default="b")


async def test_an_answer_is_counted_for_who_gave_it(database: Database) -> None:
    async with gateway(database, ScriptedAgent(WHICH), routes=route()) as g:
        await g.run()
        g.clock.advance(30)
        await g.taps("1001", "A")
        assert counted(g) == {"asked": 1, "person": 1, "run completed": 1}
        text = g.app.context.metrics.exposition().decode()
        assert f'{Time.ANSWER}_sum{{agent="scripted",by="person"}} 30.0' in text
        assert f'{Time.ANSWER}_bucket{{agent="scripted",by="person",le="15.0"}} 0.0' in text
        assert f'{Time.ANSWER}_bucket{{agent="scripted",by="person",le="60.0"}} 1.0' in text


async def test_an_answer_that_came_too_late_is_not_counted(database: Database) -> None:
    async with gateway(database, ScriptedAgent(WHICH), routes=route()) as g:
        await g.run()
        (record,) = (await g.app.reader.interactions()).items
        tap = g.memory.tapped("1001", "B")
        await g.app.receiver.respond(record.id, "a", by="ops", via="api")
        with pytest.raises(AlreadyAnswered):
            await g.app.receiver.respond(record.id, "b", by="ops", via="api")
        await g.receive(tap)
        assert counted(g) == {"asked": 1, "api": 1, "run completed": 1}


async def test_a_stand_in_and_a_default_are_told_from_people(database: Database) -> None:
    providers = {"program": Program("program")}
    async with gateway(database, ScriptedAgent(WHICH), providers=providers, hitl=Hitl(mode="program")) as g:
        await g.run()
        assert counted(g) == {"asked": 1, "stand-in": 1, "run completed": 1}
    async with gateway(database, Presets(WHICH), routes=route(OnExpire.DEFAULT)) as g:
        await g.run()
        await g.later(61)
        assert counted(g) == {"asked": 1, "default": 1, "run completed": 1}
        assert f"{Time.ANSWER}_count" not in g.app.context.metrics.exposition().decode()


async def test_silence_expires_and_a_cancelled_run_takes_its_questions_with_it(database: Database) -> None:
    async with gateway(database, ScriptedAgent(WHICH), routes=route()) as g:
        await g.run()
        await g.later(61)
        assert counted(g) == {"asked": 1, "expired": 1, "run completed": 1}
    async with gateway(database, ScriptedAgent((WHICH, asks("And?"))), routes=route()) as g:
        run = await g.run()
        await g.app.runner.cancel(run.id)
        assert counted(g) == {"asked": 2, "cancelled": 2, "run cancelled": 1}
        await g.later(61)
        assert counted(g) == {"asked": 2, "cancelled": 2, "run cancelled": 1}


async def test_a_run_that_fails_is_counted(database: Database) -> None:
    async with gateway(database, ScriptedAgent(WHICH, asks("Why?"))) as g:
        await g.run()
        await g.taps("1001", "A")
        await g.types("1001", "fail")
        assert counted(g) == {"asked": 2, "person": 2, "run failed": 1}


async def test_what_others_ask_is_counted_under_no_name(database: Database) -> None:
    async with gateway(database, ScriptedAgent(WHICH)) as g:
        for agent in ("", "of somebody's own"):
            await g.app.asker.ask(AskRequest((WHICH,), agent=agent))
        assert counted(g) == {} and g.app.context.metrics.of(A, "") == 2


async def test_the_same_ask_again_is_not_counted_again(database: Database) -> None:
    async with gateway(database) as g:
        for _ in range(2):
            await g.app.asker.ask(AskRequest((WHICH,), idempotency_key="k"))
        assert g.app.context.metrics.of(A) == 1


async def test_what_waits_now_is_looked_up(database: Database) -> None:
    async with gateway(database, ScriptedAgent((WHICH, asks("And?")))) as g:
        assert await g.app.reader.gauges() == {Gauge.PENDING: 0}
        await g.run()
        assert await g.app.reader.gauges() == {Gauge.PENDING: 2}
        await g.taps("1001", "A")
        assert await g.app.reader.gauges() == {Gauge.PENDING: 1}


async def test_what_was_rolled_back_is_not_counted_and_what_was_replayed_only_once(
    database: Database,
) -> None:
    metrics = Metrics()
    here = Store(choose(database.url, str(database.data_dir)), metrics)
    here.open()

    def fine(tx: Tx) -> Json:
        tx.count(Metric.UNREACHED, "memory")
        return None

    def bad(tx: Tx) -> None:
        tx.count(Metric.UNREACHED, "other")
        raise ValueError("told to")

    here.write_soon(fine)
    here.write_soon(bad)
    await here.write(fine)
    here.close()
    assert (metrics.of(Metric.UNREACHED, "memory"), metrics.of(Metric.UNREACHED, "other")) == (2, 0)
