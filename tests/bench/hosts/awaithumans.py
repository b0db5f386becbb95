"""awaithumans, as its documents say for LangGraph: its server, and an app with its adapter and a route.

Server and app are two processes, as they are deployed. Nothing of it is changed.
"""

# It is installed in an environment of its own, never in ours.
# mypy: disable-error-code="import-not-found, misc"

import asyncio
import base64
import contextlib
import os
import secrets
import socket
import sys
from pathlib import Path
from typing import Any, Literal

import httpx
from aiohttp import web
from awaithumans.adapters.langgraph import await_human, dispatch_resume
from langgraph.checkpoint.sqlite.aio import AsyncSqliteSaver
from langgraph.config import get_config
from pydantic import BaseModel

from tests.bench.jobs import Heard, graph

DAY = 86_400
GIVE_UP = 60.0  # seconds for its server's start
SIGNATURE = "X-Awaithumans-Signature"


class Nothing(BaseModel):
    """What the questions carry besides their text."""


class Decision(BaseModel):
    answer: Literal["Yes", "No"]


class AwaitHumans:
    """`phones` hears of each task, so that it can be answered at once, by its server's API."""

    def __init__(self) -> None:
        self.heard = Heard()
        self._ended: dict[str, asyncio.Event] = {}
        self._stack = contextlib.AsyncExitStack()
        self._token = secrets.token_hex(16)

    async def open(self, folder: Path, phones: str) -> None:
        os.environ.update(
            AWAITHUMANS_DB_PATH=str(folder / "awaithumans.db"),
            AWAITHUMANS_ADMIN_API_TOKEN=self._token,
            AWAITHUMANS_PAYLOAD_KEY=base64.urlsafe_b64encode(secrets.token_bytes(32)).decode(),
        )
        saver = await self._stack.enter_async_context(
            AsyncSqliteSaver.from_conn_string(str(folder / "checkpoints.db"))
        )
        self._graph = graph(self._asks, self.heard).compile(checkpointer=saver)
        self._phones = await self._stack.enter_async_context(httpx.AsyncClient(base_url=phones))
        await self._open_route()
        await self._open_server()

    async def _open_route(self) -> None:
        app = web.Application()
        app.router.add_post("/callback", self._callback)
        runner = web.AppRunner(app, access_log=None)
        await runner.setup()
        self._stack.push_async_callback(runner.cleanup)
        await web.TCPSite(runner, "127.0.0.1", 0).start()
        self._app = f"http://127.0.0.1:{runner.addresses[0][1]}"

    async def _open_server(self) -> None:
        port = _free_port()
        self._server = f"http://127.0.0.1:{port}"
        command = [str(Path(sys.executable).with_name("awaithumans")), "serve", "--host", "127.0.0.1"]
        process = await asyncio.create_subprocess_exec(
            *command, "--port", str(port), "--log-level", "warning"
        )
        self._stack.push_async_callback(_ended, process)
        async with asyncio.timeout(GIVE_UP), httpx.AsyncClient() as client:
            while True:
                with contextlib.suppress(httpx.HTTPError):
                    await client.get(f"{self._server}/api/health")
                    return
                await asyncio.sleep(0.1)

    async def _asks(self, question: str) -> str:
        config: Any = get_config()
        thread, node = config["configurable"]["thread_id"], config["metadata"]["langgraph_node"]
        decision = await await_human(
            task=question,
            payload_schema=Nothing,
            payload=Nothing(),
            response_schema=Decision,
            timeout_seconds=DAY,
            callback_url=f"{self._app}/callback?thread={thread}",
            server_url=self._server,
            api_key=self._token,
            idempotency_key=f"langgraph:{thread}:{node}",
        )
        return str(decision.answer)

    async def _callback(self, request: web.Request) -> web.Response:
        thread = request.query["thread"]
        await dispatch_resume(
            graph=self._graph,
            thread_id=thread,
            body=await request.read(),
            signature_header=request.headers.get(SIGNATURE),
        )
        await self._show(thread)
        return web.json_response({"ok": True})

    async def _show(self, thread: str) -> None:
        """Show the thread's open question to its person; without one it has ended."""
        config: Any = {"configurable": {"thread_id": thread}}
        waiting = (await self._graph.aget_state(config)).interrupts
        if not waiting:
            self._ended[thread].set()
        for one in waiting:
            url = f"{self._server}/api/tasks/{one.value['task_id']}/complete"
            shown = {"question": one.value["task"], "url": url, "token": self._token}
            await self._phones.post("/show", json=shown)

    async def job(self, slot: int, job: str) -> None:
        self._ended[job] = asyncio.Event()
        await self._graph.ainvoke({"job": job}, {"configurable": {"thread_id": job}})
        await self._show(job)
        await self._ended[job].wait()
        del self._ended[job]

    async def close(self) -> None:
        await self._stack.aclose()


async def _ended(process: asyncio.subprocess.Process) -> None:
    with contextlib.suppress(ProcessLookupError):
        process.terminate()
    await process.wait()


def _free_port() -> int:
    """It cannot choose one itself and say which."""
    with socket.socket() as found:
        found.bind(("127.0.0.1", 0))
        return int(found.getsockname()[1])
