"""A database that is full, read-only, locked or gone: nothing is accepted or half stored, and then it heals.

The gateway is spoken to as from outside, over HTTP, and is never restarted.
"""

import asyncio
import datetime
import sqlite3
import threading
from collections.abc import AsyncIterator, Iterator
from pathlib import Path
from typing import Any

import httpx
import pytest
from pydantic import SecretStr
from sqlalchemy import func, select

from answerback import migrations
from answerback.agent import State, Target
from answerback.ask import AskRequest
from answerback.cli.site import Health, site
from answerback.clock import Clock
from answerback.errors import StoreUnavailable
from answerback.faults import Faults
from answerback.model import Answer, InteractionStatus, RunStatus
from answerback.provider import Message, Sent
from answerback.run import RunRequest
from answerback.settings import ApiKey
from answerback.store import Store, Tx
from answerback.store.backend import Sqlite
from answerback.store.meta import PUT
from answerback.store.query import Query
from answerback.tables import metadata
from answerback.testing import ScriptedAgent, asks
from tests.faults import small_disk
from tests.faults.ailments import AILMENTS, Ailment, postgresql_restarted
from tests.faults.phone import Phone, rows
from tests.support.databases import Database
from tests.support.described import through
from tests.support.gateway import Gateway, gateway

CASES = [(dialect, name) for dialect, found in AILMENTS.items() for name in found]
KEY = ApiKey("tests", SecretStr("a-key-for-tests"))
TABLES = {
    table.name: Query(select(func.count().label("n")).select_from(table)) for table in metadata.sorted_tables
}


@pytest.fixture
def small_disk_url(postgres: object) -> Iterator[str]:
    """An empty database on a disk of a few megabytes; `postgres` says what a machine lacks for it."""
    with small_disk.running() as url:
        yield url


@pytest.fixture(params=CASES, ids="-".join)
def ill(request: pytest.FixtureRequest, tmp_path: Path) -> tuple[Ailment, Database]:
    """An ailment, and an empty database that it can befall."""
    dialect, name = request.param
    server = "small_disk_url" if name == "full" else "postgres_url"
    url = "sqlite" if dialect == "sqlite" else request.getfixturevalue(server)
    return AILMENTS[dialect][name], Database(url, tmp_path)


def client(g: Gateway) -> httpx.AsyncClient:
    headers = {"authorization": f"Bearer {KEY.key.get_secret_value()}"}
    return through(site(g.app), g.app.settings.public_url, raising=False, headers=headers, timeout=60)


async def sizes(g: Gateway) -> dict[str, int]:
    """How many rows each table has."""
    return {name: (await rows(g, query))[0]["n"] for name, query in TABLES.items()}


async def statuses(g: Gateway) -> list[InteractionStatus]:
    return [record.status for record in (await g.app.reader.interactions()).items]


async def test_while_it_cannot_write_nothing_is_accepted_and_then_everything_goes_on(
    ill: tuple[Ailment, Database],
) -> None:
    ailment, database = ill
    agent, phone = ScriptedAgent(asks("Which?")), Phone()
    async with gateway(database, agent, providers={"memory": phone}, api_keys=(KEY,)) as g, client(g) as http:
        run = await g.run()
        asked = (await g.app.asker.ask(AskRequest((asks("Where?"),)))).interaction
        await g.app.idle()
        (message,) = phone.asked(run.interactions[0])
        event = phone.reply("1001", message, "this one").body
        token = phone.asked(asked.id)[0].message.form_url.rpartition("/")[2]
        before = await sizes(g)

        async def requests() -> list[int]:
            answers = await asyncio.gather(
                http.post("/in/memory", content=event),
                http.post(f"/v1/interactions/{asked.id}/respond", json={"response": "here"}),
                http.post("/v1/interactions", json={"question": "More?"}),
                http.post("/v1/runs", json={"agent": "scripted", "input": None}),
            )
            return [answer.status_code for answer in answers]

        async with ailment(g.app, database):
            assert await requests() == [503] * 4
            with pytest.raises(StoreUnavailable):
                await g.app.forms.submit(token, {"q1": "by form"})
            assert (await http.get("/-/ready")).status_code == 503
            assert await requests() == [503] * 4
        assert await sizes(g) == before
        assert await statuses(g) == [InteractionStatus.PENDING] * 2
        assert agent.journal == []
        assert (await http.get("/-/ready")).status_code == 200
        assert await requests() == [200, 200, 201, 202]
        await g.app.idle()
        assert (await g.app.runner.get(run.id)).result == ["this one"]
        assert (await g.app.reader.interaction(asked.id)).answer.text == "here"


async def test_while_it_says_nothing_at_all_the_gateway_is_not_ready(database: Database) -> None:
    """As on a disk that hangs. Whoever asks does not wait for it."""
    async with gateway(database) as g:
        health, held, holds = Health(g.app, patience=0.05), threading.Event(), threading.Event()

        def hold(tx: Tx) -> None:
            holds.set()
            held.wait(30)

        holding = asyncio.ensure_future(g.app.context.store.write(hold))
        try:
            await asyncio.to_thread(holds.wait, 30)
            ready, parts = await health.ready()
        finally:
            held.set()
        assert (ready, parts["store"]) == (False, "The database has not answered for 0.05 s.")
        await holding
        assert (await health.ready())[0]


DELIVERIES = Query(select(metadata.tables["delivery"].c.status))


class Begins:
    """Begins an ailment the first time it is told to, and ends it when asked."""

    def __init__(self, ailment: Ailment, database: Database) -> None:
        self._ailment, self._database = ailment, database
        self.g: Gateway | None = None
        self._context: Any = None

    async def now(self) -> None:
        if self.g is not None:
            g, self.g = self.g, None
            self._context = self._ailment(g.app, self._database)
            await self._context.__aenter__()

    async def end(self) -> None:
        assert self._context is not None, "it never began"
        await self._context.__aexit__(None, None, None)


class SendsInto(Phone):
    """The database falls ill while the service takes a message."""

    def __init__(self, begins: Begins) -> None:
        super().__init__()
        self._begins = begins

    async def send(self, message: Message) -> Sent:
        sent = await super().send(message)
        await self._begins.now()
        return sent


async def test_law_12_a_message_that_was_sent_but_not_recorded_is_recorded_once_that_can_be(
    ill: tuple[Ailment, Database],
) -> None:
    """So it is not sent again, and is told how it ended."""
    begins = Begins(*ill)
    phone = SendsInto(begins)
    async with gateway(ill[1], ScriptedAgent(asks("Which?")), providers={"memory": phone}) as g:
        g.app.deliverer.again = 0.03
        begins.g = g
        run = await g.app.runner.start(RunRequest("scripted"))
        await g.app.idle()
        await begins.end()
        async with asyncio.timeout(30):
            while [row["status"] for row in await rows(g, DELIVERIES)] != ["sent"]:  # noqa: ASYNC110
                await asyncio.sleep(0.001)
        await g.later(61)
        (only,) = phone.sent
        await g.receive(phone.reply("1001", only, "this one"))
        assert (await g.settled(run.id)).result == ["this one"]
        assert phone.is_edited(only)


async def test_a_reply_that_comes_as_soon_as_the_database_is_back_finds_what_it_replies_to(
    ill: tuple[Ailment, Database],
) -> None:
    begins = Begins(*ill)
    phone = SendsInto(begins)
    async with gateway(ill[1], ScriptedAgent(asks("Which?")), providers={"memory": phone}) as g:
        g.app.deliverer.again = 3600
        begins.g = g
        run = await g.app.runner.start(RunRequest("scripted"))
        await g.app.idle()
        await begins.end()
        await g.receive(phone.reply("1001", phone.sent[0], "this one"))
        assert (await g.settled(run.id)).result == ["this one"]


class ConsumesInto(ScriptedAgent):
    """The database falls ill while the agent consumes an answer."""

    begins: Begins

    async def resume(self, thread: str, target: Target, answer: Answer, *, again: bool = False) -> State:
        state = await super().resume(thread, target, answer, again=again)
        await self.begins.now()
        return state


async def test_an_answer_that_was_consumed_but_not_recorded_is_consumed_once(
    ill: tuple[Ailment, Database], caplog: pytest.LogCaptureFixture
) -> None:
    agent = ConsumesInto(asks("First?"), asks("Second?"))
    agent.begins = Begins(*ill)
    async with gateway(ill[1], agent) as g:
        agent.begins.g = g
        run = await g.run()
        await g.types("1001", "one")
        await agent.begins.end()
        for _ in range(4):
            await g.later(31)
        await g.types("1001", "two")
        assert (await g.settled(run.id)).status is RunStatus.COMPLETED
    assert [(text, answer.values["q1"]) for _, text, answer in agent.journal] == [
        ("First?", "one"),
        ("Second?", "two"),
    ]
    assert "has to wait" in caplog.text
    assert "Traceback" not in caplog.text  # it is nobody's mistake


class Away(Faults):
    """Whenever this point is reached, the database is away, so many times."""

    def __init__(self, point: str, times: int) -> None:
        self.point, self.times = point, times

    def reach(self, point: str) -> None:
        super().reach(point)
        if point == self.point and self.times:
            self.times -= 1
            raise StoreUnavailable("away")


async def test_law_12_however_often_it_is_away_just_then_the_answer_is_no_dead_letter(
    database: Database,
) -> None:
    away = Away("resume.after-agent", 15)
    async with gateway(database, ScriptedAgent(asks("Which?")), faults=away) as g:
        run = await g.run()
        await g.types("1001", "this one")
        for _ in range(40):
            await g.later(301)
        assert (await g.settled(run.id)).result == ["this one"]
        assert await g.app.letters.count() == 0


async def test_nor_does_a_run_fail_of_which_nobody_could_write_down_how_far_it_came(
    database: Database,
) -> None:
    away = Away("run.after-agent", 15)
    async with gateway(database, ScriptedAgent(asks("Which?")), faults=away) as g:
        run = await g.run()
        for _ in range(40):
            await g.later(301)
        await g.types("1001", "this one")
        assert (await g.settled(run.id)).result == ["this one"]
        assert away.times == 0


@pytest.fixture
def restarted(postgres_url: str, tmp_path: Path) -> Database:
    return Database(postgres_url, tmp_path)


async def test_a_server_that_was_restarted_is_found_again_by_the_first_that_asks(restarted: Database) -> None:
    async with gateway(restarted, ScriptedAgent(asks("Which?")), api_keys=(KEY,)) as g, client(g) as http:
        run = await g.run()
        for path in (f"/v1/runs/{run.id}", "/v1/interactions", "/-/ready", "/v1/runs"):
            await asyncio.gather(*(http.get(path) for _ in range(8)))  # every reader has a connection
            async with postgresql_restarted(g.app, restarted):
                answers = await asyncio.gather(*(http.get(path) for _ in range(8)))
                assert [answer.status_code for answer in answers] == [200] * 8
        async with postgresql_restarted(g.app, restarted):
            await g.types("1001", "this one")
        assert (await g.settled(run.id)).result == ["this one"]


class Impatient(Sqlite):
    """Does not wait for a lock, counts how often it asked for one, and first asks when `go` is set."""

    def __init__(self, data_dir: str) -> None:
        super().__init__(data_dir)
        self.begun, self.go = 0, threading.Event()

    def connect(self, *, writer: bool) -> sqlite3.Connection:
        connection = super().connect(writer=writer)
        connection.execute("PRAGMA busy_timeout=0")
        return connection

    def begin(self, connection: Any) -> int:
        self.go.wait(30)
        self.begun += 1
        return super().begin(connection)


async def test_those_who_wait_for_a_locked_database_together_are_refused_together(tmp_path: Path) -> None:
    """Waiting for the lock anew for each of them would make the last of 128 wait for twenty minutes."""
    backend = Impatient(str(tmp_path))
    store = Store(backend)
    store.open(migrations.upgrade)
    other = sqlite3.connect(tmp_path / "answerback.db", isolation_level=None)
    other.execute("BEGIN EXCLUSIVE")
    writes = [store.write(lambda tx: tx.run(PUT, key="k", value="")) for _ in range(40)]
    waiting = asyncio.gather(*writes, return_exceptions=True)
    await asyncio.sleep(0)  # now all of them wait for the writer, which waits for us
    backend.go.set()
    results = await waiting
    other.close()
    store.close()
    assert [type(result) for result in results] == [StoreUnavailable] * 40
    assert backend.begun <= 4


class OutOfOrder(Store):
    """A store whose next reads raise what nobody expects of a store."""

    broken = 1

    async def read(self, tx: Any) -> Any:
        if self.broken:
            self.broken -= 1
            raise RuntimeError("a table is being restored")
        return await super().read(tx)


@pytest.fixture
async def out_of_order(tmp_path: Path) -> AsyncIterator[OutOfOrder]:
    store = OutOfOrder(Sqlite(str(tmp_path)))
    store.open(migrations.upgrade)
    yield store
    store.close()


def wakes_at(clock: Clock) -> datetime.datetime:
    """When the clock looks again."""
    job = clock._scheduler.get_job("wake")
    assert job is not None, "the clock has stopped"
    return job.trigger.run_date


async def test_a_look_that_fails_in_whatever_way_does_not_stop_the_clock(out_of_order: OutOfOrder) -> None:
    clock, before = Clock(out_of_order, []), datetime.datetime.now(datetime.UTC)
    await clock.tick()
    assert wakes_at(clock) > before


async def test_a_sweep_that_fails_is_tried_again_after_a_pause_and_not_at_once(database: Database) -> None:
    async with gateway(database) as g:

        async def fails() -> int:
            raise StoreUnavailable("nothing can be written")

        clock = Clock(g.app.context.store, [fails])
        await g.app.asker.ask(AskRequest((asks("Which?"),), expires_in=1))
        await g.app.idle()
        g.clock.advance(2)
        before = datetime.datetime.now(datetime.UTC)
        await clock.tick()
        assert wakes_at(clock) - before >= datetime.timedelta(seconds=1)
