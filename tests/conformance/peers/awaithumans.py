"""The driver of awaithumans: its server on loopback, its LangGraph adapter, and a route for its webhooks.

Server and receiver live in one process here, so both die together. Its two schedulers look every tenth of a
second instead of every five seconds; nothing else of it is changed.
"""

# It is installed in an environment of its own, never in ours.
# mypy: disable-error-code="import-not-found, misc"

import asyncio
import base64
import contextlib
import os
import sqlite3
from importlib.metadata import version
from pathlib import Path
from typing import Any, ClassVar, Literal

import httpx
from aiohttp import web
from awaithumans.adapters.langgraph import await_human, dispatch_resume
from awaithumans.errors import TaskTimeoutError
from awaithumans.utils import constants
from langgraph.checkpoint.sqlite.aio import AsyncSqliteSaver
from langgraph.config import get_config
from langgraph.types import Command
from pydantic import BaseModel, create_model

from tests.conformance import graphs
from tests.conformance.driver import AUTHORS_SAVER, Asked, Driver, Event, NotDriven

TOKEN, SIGNATURE = "the-test-admin-token-0123456789abcdef", "X-Awaithumans-Signature"
HOUR = 3600
QUIET = 30.0  # seconds that its schedulers get to bring everything where it belongs
constants.WEBHOOK_SCHEDULER_INTERVAL_SECONDS = 0.1
constants.TIMEOUT_CHECK_INTERVAL_SECONDS = 0.1


class Nothing(BaseModel):
    """What the questions carry besides their text."""


async def asks(question: str, choices: tuple[str, ...]) -> str:
    """As its adapter's documents say, with a key of the thread, the node, and the question too."""
    config: Any = get_config()
    thread, node = config["configurable"]["thread_id"], config["metadata"]["langgraph_node"]
    kind: Any = Literal[choices] if choices else str
    response: Any = create_model("Response", answer=(kind, ...))
    try:
        answer = await await_human(
            task=question,
            payload_schema=Nothing,
            payload=Nothing(),
            response_schema=response,
            timeout_seconds=HOUR,
            callback_url=f"{os.environ['CONFORMANCE_APP']}/callback?thread={thread}",
            server_url=os.environ["CONFORMANCE_SERVER"],
            api_key=TOKEN,
            idempotency_key=f"langgraph:{thread}:{node}:{question}",
        )
    except TaskTimeoutError:
        return graphs.NOBODY
    return str(answer.answer)


AUTHORS_KEY = "It tells questions apart by a key that the author chooses."


class AwaitHumans(Driver):
    """Answers are what its dashboard posts; an event that comes again is its webhook, delivered again."""

    name, version = "awaithumans", version("awaithumans")
    left_out: ClassVar[dict[str, str]] = {
        **AUTHORS_SAVER,
        "the same words asked twice in a node": AUTHORS_KEY,
        "two questions of a step whose results are cached": AUTHORS_KEY,
    }

    async def open(self, folder: Path, database: str, graph: str, *, again: bool) -> None:
        self._folder, self._stack = folder, contextlib.AsyncExitStack()
        if (folder / "awaithumans.db").exists() and not again:
            raise NotDriven("It is driven on SQLite, where its server is one process.")
        saver = await self._stack.enter_async_context(
            AsyncSqliteSaver.from_conn_string(str(folder / "checkpoints.db"))
        )
        self._graph = graphs.compiled(graph, folder, asks, saver)
        await self._open_receiver()
        await self._open_server()
        headers = {"Authorization": f"Bearer {TOKEN}"}
        self._http = await self._stack.enter_async_context(
            httpx.AsyncClient(base_url=os.environ["CONFORMANCE_SERVER"], headers=headers, timeout=30)
        )

    async def _open_receiver(self) -> None:
        """The ten-line route around `dispatch_resume`; always on the same port, as an app would be."""
        app = web.Application()
        app.router.add_post("/callback", self._callback)
        runner = web.AppRunner(app)
        await runner.setup()
        self._stack.push_async_callback(runner.cleanup)
        port = self._kept("port")
        await web.TCPSite(runner, "127.0.0.1", int(port or 0)).start()
        real = runner.addresses[0][1]
        (self._folder / "port").write_text(str(real))
        os.environ["CONFORMANCE_APP"] = f"http://127.0.0.1:{real}"

    async def _open_server(self) -> None:
        import uvicorn

        os.environ.update(
            AWAITHUMANS_DB_PATH=str(self._folder / "awaithumans.db"),
            AWAITHUMANS_ADMIN_API_TOKEN=TOKEN,
            AWAITHUMANS_PAYLOAD_KEY=base64.urlsafe_b64encode(b"k" * 32).decode(),
        )
        from awaithumans.server.app import create_app

        config = uvicorn.Config(
            create_app(serve_dashboard=False), host="127.0.0.1", port=0, log_level="error"
        )
        server = uvicorn.Server(config)
        server.install_signal_handlers = lambda: None  # type: ignore[attr-defined]
        task = asyncio.create_task(server.serve())

        async def stop() -> None:
            server.should_exit = True
            await task

        self._stack.push_async_callback(stop)
        while not server.started and not task.done():  # noqa: ASYNC110 - it offers no event
            await asyncio.sleep(0.02)
        port = server.servers[0].sockets[0].getsockname()[1]
        os.environ["CONFORMANCE_SERVER"] = f"http://127.0.0.1:{port}"

    async def close(self) -> None:
        if hasattr(self, "_stack"):
            await self._stack.aclose()

    async def _callback(self, request: web.Request) -> web.Response:
        body, signature = await request.read(), request.headers.get(SIGNATURE)
        await self._take(request.query["thread"], body, signature)
        return web.json_response({"ok": True})

    async def _take(self, thread: str, body: bytes, signature: str | None) -> None:
        await dispatch_resume(graph=self._graph, thread_id=thread, body=body, signature_header=signature)

    async def start(self, thread: str, **how: Any) -> None:
        self.only_plain(how, "deadline", "people")
        (self._folder / "people").write_text("alice ben" if "people" in how else "alice")
        config: Any = {"configurable": {"thread_id": thread}}
        await self._graph.ainvoke(graphs.given("anew" in how), config)

    async def pending(self) -> list[Asked]:
        tasks = (await self._http.get("/api/tasks", params={"limit": 200})).json()
        waiting = [task for task in tasks if task["status"] not in ("completed", "timed_out", "cancelled")]
        people = (self._kept("people") or "alice").split()
        return [
            Asked(f"{task['id']} {who}", task["task"], who) for task in reversed(waiting) for who in people
        ]

    async def deliver(self, event: Event) -> None:
        if event.who == "ben" and "ben" not in (self._kept("people") or ""):
            raise NotDriven("It needs two dashboard users with sessions, which this driver does not make.")
        task = event.asked.partition(" ")[0]
        seen = self._folder / f"seen-{event.key.encode().hex()}"
        if seen.exists():  # the webhook that this answer caused, once more
            for url, body, signature in await self._rows(
                "SELECT url, body, signature FROM webhook_deliveries WHERE task_id = ?", task
            ):
                await self._take(url.rpartition("=")[2], bytes(body), signature)
            return
        seen.touch()
        headers = {"Authorization": ""} if event.who == "mallory" else {}
        answer = {"response": {"answer": event.answer}, "completed_by_email": f"{event.who}@example.org"}
        await self._http.post(f"/api/tasks/{task}/complete", json=answer, headers=headers)
        await self.settle()

    async def respond(self, asked: str, response: Any) -> None:
        await self._http.post(f"/api/tasks/{asked.partition(' ')[0]}/complete", json={"response": response})
        await self.settle()

    async def forge(self) -> None:
        await self._http.post(f"/api/tasks/{'0' * 32}/complete", json={"response": {"answer": "two"}})

    async def cancel(self) -> None:
        for asked in await self.pending():
            await self._http.post(f"/api/tasks/{asked.id.partition(' ')[0]}/cancel")
        await self.settle()

    async def expire(self) -> None:
        """Its deadline is a column; its own scheduler does the rest."""
        await self._rows(
            "UPDATE tasks SET timeout_at = '2020-01-01 00:00:00.000000' WHERE completed_at IS NULL"
        )
        async with asyncio.timeout(QUIET):
            while any([await self._overdue(asked) for asked in await self.pending()]):  # noqa: ASYNC110 - seen over HTTP
                await asyncio.sleep(0.05)
        await self.settle()

    async def _overdue(self, asked: Asked) -> bool:
        rows = await self._rows("SELECT timeout_at FROM tasks WHERE id = ?", asked.id.partition(" ")[0])
        return bool(rows) and str(rows[0][0]).startswith("2020")

    async def settle(self) -> None:
        """Until every webhook has been delivered, or tried and put off."""
        statement = "SELECT count(*) FROM webhook_deliveries WHERE attempt_count = 0"
        async with asyncio.timeout(QUIET):
            while (await self._rows(statement))[0][0]:  # noqa: ASYNC110 - seen in its database
                await asyncio.sleep(0.05)

    async def elsewhere(self, answer: str) -> None:
        payload = {"status": "completed", "response": {"answer": answer}}
        config: Any = {"configurable": {"thread_id": "thread-1"}}
        await self._graph.ainvoke(Command(resume=payload), config)

    def _kept(self, name: str) -> str:
        file = self._folder / name
        return file.read_text() if file.exists() else ""

    async def _rows(self, statement: str, *values: Any) -> list[Any]:
        """Its server shares our event loop: whoever waits for its lock must let it go on meanwhile."""
        async with asyncio.timeout(QUIET):
            while True:
                with contextlib.suppress(sqlite3.OperationalError):  # locked
                    return self._at_once(statement, values)
                await asyncio.sleep(0.02)

    def _at_once(self, statement: str, values: tuple[Any, ...]) -> list[Any]:
        with contextlib.closing(sqlite3.connect(self._folder / "awaithumans.db", timeout=0)) as db, db:
            return db.execute(statement, values).fetchall()
