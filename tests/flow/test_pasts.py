"""What has ended slows nothing: a thread and a person of years cost what they cost on the first day."""

import asyncio
import sqlite3
from collections.abc import Awaitable, Callable

import pytest
from pydantic import SecretStr

from answerback.agent import State
from answerback.ask import AskRequest
from answerback.inbox import Viewer
from answerback.model import Json, Question
from answerback.notices import NoticeRequest
from answerback.settings import ApiKey
from answerback.store import Tx
from answerback.store.engine import READERS
from answerback.testing import ScriptedAgent, asks
from tests.support.databases import Database
from tests.support.gateway import Gateway, gateway

PAST, FEW = 150, 5  # rounds that make the past, and rounds that are measured before and after
MORE = 1.2  # deeper trees take some steps more; a past that is read takes several times as many
AT_ONCE = 10  # steps of SQLite's machine between two counts
Round = Callable[[Gateway], Awaitable[object]]


class Anew(ScriptedAgent):
    """Begins at the first step with each run, on whatever thread."""

    async def start(self, thread: str, input: Json, run: str = "") -> State:
        if not await self.pending(thread):
            self._threads.pop(thread, None)
        return await super().start(thread, input, run)


async def tapped(g: Gateway) -> None:
    await g.run(thread_id="one")
    await g.taps("1001", "Red")


async def typed(g: Gateway) -> None:
    await g.run(thread_id="one")
    await g.types("1001", "Blue")


async def replied_to(g: Gateway) -> None:
    await g.run(thread_id="one")
    await g.types("1001", "Blue", references=[g.memory.shown[-1].id])


async def tapped_twice(g: Gateway) -> None:
    await g.run(thread_id="one")
    first, second = (g.memory.tapped("1001", label) for label in ("Red", "Blue"))
    await g.receive(first)
    await g.receive(first)
    await g.receive(second)


async def typed_into_the_blue(g: Gateway) -> None:
    await g.run(thread_id="one")
    await g.taps("1001", "Red")
    await g.types("1001", "And Blue is fine, too.")


async def stopped(g: Gateway) -> None:
    await g.run(thread_id="one")
    await g.types("1001", "stop")


async def replaced(g: Gateway) -> None:
    await g.run(thread_id="one", replace=True)


async def cancelled(g: Gateway) -> None:
    run = await g.run(thread_id="one")
    await g.app.runner.cancel(run.id)
    await g.app.idle()


async def expired(g: Gateway) -> None:
    await g.run(thread_id="one", expires_in=60.0)
    await g.later(61)


async def failed_and_tried_again(g: Gateway) -> None:
    run = await g.run(thread_id="one")
    await g.taps("1001", "Fail")
    await g.app.runner.retry(run.id)
    await g.app.idle()
    await g.taps("1001", "Red")


async def filled_in(g: Gateway) -> None:
    asked = await g.app.asker.ask(AskRequest((Question("q1", "Which city?"),), user="ana"))
    await g.app.idle()
    link = asked.form_url.rpartition("/")[2]
    await g.app.forms.view(link)
    await g.app.forms.submit(link, {"q1": "Vienna"})
    await g.app.idle()
    await g.app.forms.view(link)


async def answered_in_the_inbox(g: Gateway) -> None:
    alice = Viewer("phone", g.clock.now, "alice")
    asked = await g.app.asker.ask(AskRequest((Question("q1", "Which city?"),), user="ana"))
    await g.app.inbox.of(alice)
    await g.app.inbox.view(alice, asked.interaction.id)
    await g.app.inbox.answer(alice, asked.interaction.id, {"q1": "Vienna"})
    await g.app.idle()


async def put_off_and_answered(g: Gateway) -> None:
    await g.run(thread_id="one")
    await g.types("1001", "later")
    await g.later(3601)
    await g.taps("1001", "Red")


async def told(g: Gateway) -> None:
    await g.app.notices.send(NoticeRequest("The backup is done."))
    await g.app.idle()


async def _connections(g: Gateway) -> list[sqlite3.Connection]:
    """All that the gateway has open."""
    store = g.app.context.store

    def its_own(tx: Tx) -> sqlite3.Connection:
        connection: sqlite3.Connection = tx._cursor.connection
        return connection

    reading = [store.read(its_own) for _ in range(READERS)]
    return [await store.write(its_own), *dict.fromkeys(await asyncio.gather(*reading))]


@pytest.mark.parametrize(
    "happens",
    [
        tapped,
        typed,
        replied_to,
        tapped_twice,
        typed_into_the_blue,
        stopped,
        replaced,
        cancelled,
        expired,
        failed_and_tried_again,
        filled_in,
        answered_in_the_inbox,
        put_off_and_answered,
        told,
    ],
)
@pytest.mark.parametrize("database", ["sqlite"], indirect=True)
async def test_the_same_takes_no_more_steps_after_a_long_past(database: Database, happens: Round) -> None:
    steps = 0

    def step() -> int:
        nonlocal steps
        steps += 1
        return 0

    async def cost(g: Gateway) -> int:
        nonlocal steps
        steps = 0
        for _ in range(FEW):
            await happens(g)
        return steps

    agent, key = Anew(asks("Which?", "Red", "Blue", "Fail")), ApiKey("phone", SecretStr("k"), contact="alice")
    async with gateway(database, agent, api_keys=(key,)) as g:
        for _ in range(FEW):
            await happens(g)
        for connection in await _connections(g):
            connection.set_progress_handler(step, AT_ONCE)
        before = await cost(g)
        for _ in range(PAST):
            await happens(g)
        after = await cost(g)
    assert after < MORE * before, f"{happens.__name__}: {before} before, {after} after"
