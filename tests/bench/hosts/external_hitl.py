"""langgraph-external-hitl, as the example in its README: one bot that polls, SQLite, the steps of a job."""

# It is installed in an environment of its own, never in ours.
# mypy: disable-error-code="import-not-found, misc"

import asyncio
import contextlib
import json
import time
from pathlib import Path
from typing import Any

from langgraph.checkpoint.sqlite.aio import AsyncSqliteSaver
from langgraph_external_hitl import ApprovalOption, ApprovalStore, ConnectionManager
from langgraph_external_hitl.bridge import HitlBridge, request_approval
from langgraph_external_hitl.telegram import TelegramApprovalBot, TelegramConfig

from tests.bench.jobs import NO, PEOPLE, YES, Heard, graph
from tests.bench.wire import Wire

TOKEN = "123456:bench"
OPTIONS = [ApprovalOption(YES, YES), ApprovalOption(NO, NO)]


class Loopback:
    """Its `api`: a Telegram on loopback, spoken to by the same bare client that our provider has."""

    def __init__(self, phones: str) -> None:
        self._wire = Wire.to(phones)

    async def call(self, method: str, **params: Any) -> Any:
        body = json.dumps({name: value for name, value in params.items() if value is not None})
        headers = [("content-type", "application/json")]
        answer = await self._wire.ask(f"/bot{TOKEN}/{method}", headers, body.encode())
        return json.loads(answer.body)["result"]


async def asks(question: str) -> str:
    return str(request_approval(question, None, OPTIONS).option_id)


class ExternalHitl:
    """Updates come by `run_polling`, its one way to receive them."""

    def __init__(self) -> None:
        self.heard = Heard()
        self._ended: dict[str, asyncio.Event] = {}
        self._stack = contextlib.AsyncExitStack()

    async def open(self, folder: Path, phones: str) -> None:
        saver = await self._stack.enter_async_context(
            AsyncSqliteSaver.from_conn_string(str(folder / "checkpoints.db"))
        )
        self._graph = graph(asks, self.heard).compile(checkpointer=saver)
        store = ApprovalStore(str(folder / "hitl.db"))
        self._stack.callback(store.close)
        connections = ConnectionManager(store)
        for slot in range(PEOPLE):
            connections.seed(f"p{slot}", 1000 + slot, 1000 + slot, int(time.time()))
        bridge = HitlBridge(self._graph, store, on_completed=self._completed)
        config = TelegramConfig(TOKEN, bot_username="bot")
        self._bot = TelegramApprovalBot(config, bridge, api=Loopback(phones), connections=connections)
        await self._bot.recover()
        polling = asyncio.create_task(self._bot.run_polling())
        self._stack.push_async_callback(_cancelled, polling)

    def _completed(self, thread: str, values: Any) -> None:
        self._ended[thread].set()

    async def job(self, slot: int, job: str) -> None:
        self._ended[job] = asyncio.Event()
        await self._bot.track(job, f"p{slot}")
        config: Any = {"configurable": {"thread_id": job}}
        await self._graph.ainvoke({"job": job}, config, durability="sync")
        await self._bot.deliver_pending(job)
        await self._ended[job].wait()
        del self._ended[job]

    async def close(self) -> None:
        await self._stack.aclose()


async def _cancelled(task: asyncio.Task[None]) -> None:
    task.cancel()
    with contextlib.suppress(asyncio.CancelledError):
        await task
