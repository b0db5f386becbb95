"""Polled providers: what waited while we were down is read before anything that fell due is elapsed."""

import asyncio
import contextlib
from collections.abc import AsyncIterator, Callable

import pytest

from answerback.app import App, build
from answerback.errors import TryLater
from answerback.intake import Intake
from answerback.metrics import Metric
from answerback.model import OnExpire
from answerback.provider import Batch, Inbound
from answerback.run import Run, RunRequest
from answerback.settings import Route
from answerback.testing import ManualClock, MemoryProvider, ScriptedAgent, asks
from tests.support.databases import Database
from tests.support.gateway import gateway, settings_for

ROUTE = {"default": Route("default", ("alice",), ("memory",), expires_in=600.0, on_expire=OnExpire.AUTO)}


async def until(happened: Callable[[], bool]) -> None:
    """Wait for what another task does."""
    async with asyncio.timeout(30):
        while not happened():  # noqa: ASYNC110 (nothing there tells us)
            await asyncio.sleep(0.001)


class PolledProvider(MemoryProvider):
    """A service that keeps events until they are confirmed by the next cursor."""

    def __init__(self) -> None:
        super().__init__()
        self.waiting: list[Inbound] = []
        self.confirmed = 0
        self.cursors: list[str] = []
        self.away = 0
        self.is_held = False  # a poll that brings nothing, also of what comes meanwhile

    async def poll(self, cursor: str, wait: float | None = None) -> Batch:
        if self.away:
            self.away -= 1
            raise TryLater(0.01, "the service is away")
        self.cursors.append(cursor)
        self.confirmed = int(cursor or 0)
        if wait is None and self.confirmed >= len(self.waiting):
            self.is_held = True
            try:
                await asyncio.Event().wait()
            finally:
                self.is_held = False
        return Batch(
            tuple(self.waiting[self.confirmed :][:1]), str(min(self.confirmed + 1, len(self.waiting)))
        )


@contextlib.asynccontextmanager
async def awake(
    database: Database, agent: ScriptedAgent, clock: ManualClock, phone: MemoryProvider
) -> AsyncIterator[App]:
    """A whole gateway, with its clock."""
    settings = settings_for(database, routes=ROUTE)
    app = build(settings, time=clock, providers={"memory": phone}, agents={"scripted": agent})
    await app.start()
    try:
        yield app
    finally:
        await app.stop()


async def test_an_answer_that_waited_at_the_service_comes_before_its_deadlines_outcome(
    database: Database,
) -> None:
    agent, clock, phone = ScriptedAgent(asks("Which?")), ManualClock(), PolledProvider()
    async with gateway(database, agent, providers={"memory": phone}, clock=clock, routes=ROUTE) as g:
        run = await g.run()
    written = clock.now + 60_000_000
    clock.advance(3600)  # we were down for an hour
    phone.waiting = [phone.typed("9999", "noise"), phone.typed("1001", "in time", sent_at=written)]
    phone.away = 2
    phone.cursors.clear()
    async with awake(database, agent, clock, phone) as app:
        await until(lambda: bool(agent.journal))
        await app.idle()
        assert (await app.runner.get(run.id)).result == ["in time"]
        await until(lambda: len(phone.cursors) > 2)
        assert phone.cursors[0] in ("", "0")  # the first gateway may have looked before it ended
        assert phone.cursors[1:3] == ["1", "2"]


async def asked(app: App, phone: MemoryProvider) -> Run:
    """A run that has asked, as the clock sleeps."""
    run = await app.runner.start(RunRequest("scripted"))
    await until(lambda: len(phone.shown) == 1 and app.clock._planned is not None)
    return run


async def test_an_answer_that_waited_while_the_machine_was_asleep_comes_before_its_deadlines_outcome(
    database: Database,
) -> None:
    """A laptop's lid, a machine that was paused, a database that was away: the poll of before is dead."""
    agent, clock, phone = ScriptedAgent(asks("Which?")), ManualClock(), PolledProvider()
    async with awake(database, agent, clock, phone) as app:
        run = await asked(app, phone)
        await until(lambda: phone.is_held)
        phone.waiting = [phone.typed("1001", "in time", sent_at=clock.now + 60_000_000)]
        clock.advance(3660)
        app.clock.rearm()
        await until(lambda: bool(agent.journal))
        await app.idle()
        assert (await app.runner.get(run.id)).result == ["in time"]


async def test_what_fell_due_while_the_machine_was_asleep_is_done_once_nothing_waits_at_the_services(
    database: Database,
) -> None:
    agent, clock, phone = ScriptedAgent(asks("Which?")), ManualClock(), PolledProvider()
    async with awake(database, agent, clock, phone) as app:
        await asked(app, phone)
        phone.away = 2
        clock.advance(3600)
        app.clock.rearm()
        await until(lambda: bool(agent.journal))
        ((_, _, answer),) = agent.journal
        assert answer.expired


class Brought(MemoryProvider):
    """A service that posts what people said, when it gets to that."""

    def __init__(self) -> None:
        super().__init__()
        self.waiting: list[Inbound] = []
        self.asked = asyncio.Event()

    async def behind(self) -> bool:
        self.asked.set()
        return bool(self.waiting)


@pytest.mark.parametrize("asleep", [False, True], ids=["down", "asleep"])
async def test_an_answer_that_a_service_has_still_to_bring_comes_before_its_deadlines_outcome(
    database: Database, asleep: bool
) -> None:
    agent, clock, phone = ScriptedAgent(asks("Which?")), ManualClock(), Brought()
    async with contextlib.AsyncExitStack() as stack:
        app = await stack.enter_async_context(awake(database, agent, clock, phone))
        run = await asked(app, phone)
        if not asleep:
            await stack.aclose()
        phone.asked.clear()
        phone.waiting = [phone.typed("1001", "in time", sent_at=clock.now + 60_000_000)]
        clock.advance(3600)
        if asleep:
            app.clock.rearm()
        else:
            app = await stack.enter_async_context(awake(database, agent, clock, phone))
        async with asyncio.timeout(20):
            await phone.asked.wait()
        await app.receiver.webhook("memory", phone.waiting.pop())
        await until(lambda: bool(agent.journal))
        await app.idle()
        assert (await app.runner.get(run.id)).result == ["in time"]


async def test_a_provider_that_is_away_at_the_start_is_said_counted_and_tried_again(
    database: Database,
) -> None:
    phone = PolledProvider()
    phone.away = 1
    app = build(settings_for(database), providers={"memory": phone}, agents={})
    await app.start()
    try:
        await until(lambda: app.intake.state["memory"] == "the service is away")
        await until(lambda: app.intake.state["memory"] == "")
        assert app.context.metrics.of(Metric.REFUSED, "memory", "poll") == 1
    finally:
        await app.stop()


class Wavering(PolledProvider):
    """A service that is away once in between, again and again; or says that it is, at every look."""

    def __init__(self, times: int, *, answers: bool = True) -> None:
        super().__init__()
        self.times, self._answers, self._looks = times, answers, 0

    async def poll(self, cursor: str, wait: float | None = None) -> Batch:
        if not self.times:
            await asyncio.Event().wait()
        self._looks += 1
        if self._answers and self._looks % 2:
            return Batch((), cursor)
        self.times -= 1
        raise TryLater(0, "the service is away")


@pytest.mark.parametrize(("answers", "longest"), [(True, 2.0), (False, 60.0)])
async def test_law_10_only_a_service_that_stays_away_is_waited_for_longer_each_time(
    database: Database, answers: bool, longest: float
) -> None:
    """A connection that breaks once a day is made anew at once, after months too."""
    pauses: list[float] = []

    async def passes(seconds: float) -> None:
        pauses.append(seconds)
        await asyncio.sleep(0)

    phone = Wavering(times=8, answers=answers)
    async with gateway(database) as g:
        intake = Intake(g.app.context, g.app.receiver, {"wavers": phone}, sleep=passes)
        intake.start()
        await until(lambda: len(pauses) == 8)
        await intake.close()
    assert longest * 0.8 <= pauses[-1] <= longest * 1.2  # each is a little shorter or longer, by chance
    assert pauses[0] <= 2.4


class Hooked(MemoryProvider):
    """A service that posts what people say; asked whether that gets here, it `says` one after the other."""

    def __init__(self, *says: str | Exception) -> None:
        super().__init__()
        self.says = list(says)

    async def hears(self) -> str:
        if not self.says:
            await asyncio.Event().wait()
        said = self.says.pop(0)
        if isinstance(said, Exception):
            raise said
        return said


async def test_a_service_that_posts_is_asked_again_and_again_whether_that_gets_here(
    database: Database, caplog: pytest.LogCaptureFixture
) -> None:
    states: list[str] = []

    async def passes(seconds: float) -> None:
        states.append(intake.state["hooked"])
        await asyncio.sleep(0)

    phone = Hooked("", "Nothing gets here.", "Nothing gets here.", TryLater(1, "It is away."), "")
    async with gateway(database) as g:
        intake = Intake(g.app.context, g.app.receiver, {"hooked": phone}, sleep=passes)
        intake.start()
        await until(lambda: len(states) == 5)
        await intake.close()
    assert states == ["", "Nothing gets here.", "Nothing gets here.", "It is away.", ""]
    said = [record.message for record in caplog.records if record.levelname == "WARNING"]
    assert said == [f"the provider hooked is not working: {text}" for text in states[1:4:2]]


class Closing(MemoryProvider):
    """Its close hangs, ends the program, or is fine."""

    def __init__(self, how: str) -> None:
        super().__init__(how)
        self.closed = False

    async def close(self) -> None:
        if self.name == "hangs":
            await asyncio.Event().wait()
        if self.name == "exits":
            raise SystemExit(1)
        self.closed = True


async def test_law_10_a_provider_that_does_not_close_keeps_the_gateway_from_no_stop(
    database: Database,
) -> None:
    all_ = {how: Closing(how) for how in ("hangs", "exits", "fine")}
    async with gateway(database) as g:
        await Intake(g.app.context, g.app.receiver, all_, close=0.01).close()
    assert all_["fine"].closed


@pytest.mark.either_database
async def test_who_stops_waiting_for_the_services_leaves_nothing_behind(database: Database) -> None:
    async with gateway(database) as g:
        unopened = Intake(g.app.context, g.app.receiver, {"polled": PolledProvider()})
        before = asyncio.all_tasks()
        waiting = asyncio.create_task(unopened.drained(600))
        await asyncio.sleep(0)
        its_own = ("Intake.drained", "Event.wait")  # the gateway has others, which begin when they like
        begun = {task for task in asyncio.all_tasks() - before if task.get_coro().__qualname__ in its_own}
        assert len(begun) == 2  # it, and one for the one service
        waiting.cancel()
        await until(lambda: all(task.done() for task in begun))
