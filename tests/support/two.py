"""Two gateways on one PostgreSQL that do something at the same moment.

A third connection holds a row until both wait, so that each has begun before the other ends.
"""

import asyncio
import contextlib
from collections.abc import AsyncIterator, Awaitable, Callable, Coroutine
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import psycopg
from psycopg import sql

from answerback.ask import AskRequest
from answerback.model import Interaction, Question
from answerback.provider import Provider
from answerback.store import Row, deliveries
from answerback.testing import ManualClock, MemoryProvider, ScriptedAgent
from tests.support.databases import Database
from tests.support.gateway import Gateway, gateway

WAIT = "SELECT count(*) FROM pg_stat_activity WHERE datname = current_database() AND wait_event_type = 'Lock'"
BEHIND = """WITH RECURSIVE held (pid) AS (
  SELECT %s::integer
  UNION SELECT each.pid FROM held JOIN pg_stat_activity each ON held.pid = ANY (pg_blocking_pids(each.pid)))
SELECT count(*) - 1 FROM held"""
RINGS = "SELECT deadlocks FROM pg_stat_database WHERE datname = current_database()"
QUESTION = (Question("q1", "Which?"),)


@dataclass(slots=True)
class Two:
    """Two gateways, with one phone and one clock."""

    one: Gateway
    two: Gateway
    url: str

    async def ask(self) -> str:
        asked = await self.one.app.asker.ask(AskRequest(QUESTION))
        await self.one.app.idle()
        return asked.interaction.id

    async def record(self, id: str) -> Interaction:
        return await self.one.app.reader.interaction(id)

    async def message(self, id: str) -> Row:
        """What Alice was sent on the phone."""
        store = self.one.app.context.store
        rows = await store.read(lambda tx: tx.all(deliveries.OF, interaction_id=id))
        return next(row for row in rows if row["provider"] == "memory" and row["contact_id"] == "alice")

    async def at_once(self, id: str, first: Awaitable[object], second: Awaitable[object]) -> None:
        """Both, in this order, while neither can write before both have begun; and what follows."""
        await self.begun_at_once(id, first, second)
        await self.one.app.idle()
        await self.two.app.idle()

    async def begun_at_once(
        self, id: str, first: Awaitable[object], second: Awaitable[object], table: str = "interaction"
    ) -> None:
        async with await psycopg.AsyncConnection.connect(self.url) as holding:
            held = sql.SQL("SELECT 1 FROM {} WHERE id = %s FOR UPDATE").format(sql.Identifier(table))
            await holding.execute(held, (id,))
            begun = []
            for number, work in enumerate((first, second), start=1):
                begun.append(asyncio.ensure_future(work))
                await self.waiting(number, holding)
        await asyncio.gather(*begun)

    async def waiting(self, number: int, holding: psycopg.AsyncConnection[Any]) -> None:
        """Until so many wait for what this connection holds, or for one that does."""
        pid = holding.info.backend_pid
        async with await psycopg.AsyncConnection.connect(self.url, autocommit=True) as watching:
            async with asyncio.timeout(30):
                while (await (await watching.execute(BEHIND, (pid,))).fetchone()) != (number,):  # noqa: ASYNC110
                    await asyncio.sleep(0.001)

    async def waited_in_a_ring(self) -> int:
        """How often PostgreSQL had to refuse somebody because two waited for each other."""
        async with await psycopg.AsyncConnection.connect(self.url, autocommit=True) as watching:
            found = await (await watching.execute(RINGS)).fetchone()
        assert found is not None
        return int(found[0])


async def at_once(both: Two, table: str, id: str, *work: Coroutine[object, object, object]) -> list[object]:
    """What became of two that begin, in this order, while a third connection holds a row."""
    became: list[object] = [None, None]

    async def noted(place: int) -> None:
        became[place] = await caught(work[place])

    await both.begun_at_once(id, noted(0), noted(1), table)
    await both.one.app.idle()
    await both.two.app.idle()
    return became


async def caught(work: Coroutine[object, object, object]) -> object:
    """Its result, or what it raised."""
    try:
        return await work
    except Exception as error:
        return error


Opened = Callable[..., contextlib.AbstractAsyncContextManager[Two]]


def opening(postgres_url: str, data_dir: Path) -> Opened:
    """What opens two with these agents, providers and settings."""

    @contextlib.asynccontextmanager
    async def opened(
        *agents: ScriptedAgent, phones: dict[str, Provider] | None = None, **settings: object
    ) -> AsyncIterator[Two]:
        here, clock, phone = Database(postgres_url, data_dir), ManualClock(), MemoryProvider()
        given = {"providers": {"memory": phone, **(phones or {})}, "clock": clock, **settings}
        async with gateway(here, *agents, **given) as one, gateway(here, *agents, **given) as two:
            yield Two(one, two, postgres_url)

    return opened
