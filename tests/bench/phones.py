"""Those who answer a peer's questions: a Telegram, and people in front of a page. They answer at once."""

import asyncio
import contextlib
import html
import itertools
import json
import time
from collections.abc import AsyncIterator
from typing import Any
from urllib.parse import urlsplit

from aiohttp import web

from tests.bench.jobs import YES
from tests.bench.wire import Wire


class Phones:
    """`tapped`: by question, when its answer set out (monotonic ns). What is shown has arrived by then."""

    def __init__(self) -> None:
        self.tapped: dict[str, int] = {}
        self._updates: list[dict[str, Any]] = []
        self._new = asyncio.Event()
        self._ids = itertools.count(1)
        self._shown: dict[str, tuple[str, dict[str, Any]]] = {}
        self._tasks: set[asyncio.Task[None]] = set()

    def app(self) -> web.Application:
        app = web.Application()
        app.router.add_post("/show", self._show)
        app.router.add_post("/bot{token}/{method}", self._telegram)
        return app

    async def _telegram(self, request: web.Request) -> web.StreamResponse:
        """The methods of a Bot API that a bot with buttons calls."""
        fields, method = await request.json(), request.match_info["method"]
        result: Any = True
        if method == "getMe":
            result = {"id": 1, "is_bot": True, "first_name": "bench", "username": "bot"}
        elif method == "getWebhookInfo":
            result = {"url": ""}
        elif method == "getUpdates":
            result = await self._wait(fields.get("offset") or 0, fields.get("timeout", 0))
        elif method == "sendMessage":
            result = {"message_id": next(self._ids), "chat": {"id": fields["chat_id"]}}
        elif method == "answerCallbackQuery" and not fields["text"].startswith("Recorded"):
            self._tap(*self._shown[fields["callback_query_id"]])  # a person would try again
        response = web.json_response({"ok": True, "result": result})
        if method == "sendMessage" and "reply_markup" in fields:
            await response.prepare(request)
            await response.write_eof()
            self._tap(_question(fields["text"]), _tap_of(fields, result["message_id"]))
        return response

    async def _wait(self, offset: int, seconds: float) -> list[dict[str, Any]]:
        self._updates = [update for update in self._updates if update["update_id"] >= offset]
        if not self._updates:
            self._new.clear()
            with contextlib.suppress(TimeoutError):
                async with asyncio.timeout(seconds):
                    await self._new.wait()
        return self._updates[:100]

    def _tap(self, question: str, query: dict[str, Any]) -> None:
        id = next(self._ids)
        self._shown[str(id)] = question, query
        self.tapped[question] = time.monotonic_ns()
        self._updates.append({"update_id": id, "callback_query": {**query, "id": str(id)}})
        self._new.set()

    async def _show(self, request: web.Request) -> web.StreamResponse:
        """`{question, url, token}`: somebody sees a question on a page, and sends the form."""
        shown = await request.json()
        task = asyncio.create_task(self._complete(**shown))
        self._tasks.add(task)
        task.add_done_callback(self._tasks.discard)
        return web.json_response({})

    async def _complete(self, question: str, url: str, token: str) -> None:
        headers = [("content-type", "application/json"), ("authorization", f"Bearer {token}")]
        body = json.dumps({"response": {"answer": YES}, "completed_by_email": "p@example.org"}).encode()
        wire = Wire.to(url)
        self.tapped[question] = time.monotonic_ns()
        status = await wire.post(urlsplit(url).path, headers, body)
        wire.close()
        if status != 200:
            raise RuntimeError(f"an answer was refused: {status}")


def _question(text: str) -> str:
    """The first line of a message, which is bold."""
    return html.unescape(text.partition("</b>")[0].removeprefix("<b>"))


def _tap_of(message: dict[str, Any], id: int) -> dict[str, Any]:
    button = message["reply_markup"]["inline_keyboard"][0][0]
    return {
        "from": {"id": message["chat_id"], "is_bot": False, "first_name": "p"},
        "message": {"message_id": id, "chat": {"id": message["chat_id"], "type": "private"}},
        "data": button["callback_data"],
    }


@contextlib.asynccontextmanager
async def phones() -> AsyncIterator[tuple[Phones, str]]:
    """Phones that are on, and their URL."""
    found = Phones()
    runner = web.AppRunner(found.app(), access_log=None)
    await runner.setup()
    try:
        await web.TCPSite(runner, "127.0.0.1", 0).start()
        yield found, f"http://127.0.0.1:{runner.addresses[0][1]}"
    finally:
        await runner.cleanup()
