"""A far side that answers what a test tells it to: for what the sandbox's Telegram never says."""

import contextlib
import inspect
import json
from collections import defaultdict
from collections.abc import AsyncIterator, Awaitable, Callable
from dataclasses import dataclass, field
from typing import Any

from aiohttp import web

from answerback_providers.telegram import Telegram
from tests.providers.telegram.support import provider

Said = tuple[int, Any]  # a status, and bytes or anything to be put as JSON
Answer = Callable[[dict[str, str]], Said | Awaitable[Said]]


@dataclass
class Far:
    """The provider that talks to it, and by method the fields of the calls that came in."""

    telegram: Telegram
    calls: dict[str, list[dict[str, str]]] = field(default_factory=lambda: defaultdict(list))


def refuses(status: int, description: str, **parameters: Any) -> Callable[[dict[str, str]], Said]:
    """The Bot API's way to say no (core.telegram.org/bots/api#making-requests)."""
    body = {"ok": False, "error_code": status, "description": description}
    return lambda fields: (status, body | ({"parameters": parameters} if parameters else {}))


@contextlib.asynccontextmanager
async def far_side(files: Answer | None = None, **methods: Answer) -> AsyncIterator[Far]:
    """Serves these methods, and files, on loopback."""
    far = Far(provider())

    async def call(request: web.Request) -> web.Response:
        name = request.match_info["method"]
        fields = {key: str(value) for key, value in (await request.post()).items()}
        far.calls[name].append(fields)
        return await respond(methods[name](fields))

    async def file(request: web.Request) -> web.Response:
        assert files is not None
        return await respond(files({"path": request.match_info["path"]}))

    async def respond(answer: Said | Awaitable[Said]) -> web.Response:
        status, body = await answer if inspect.isawaitable(answer) else answer
        payload = body if isinstance(body, bytes) else json.dumps(body).encode()
        return web.Response(status=status, body=payload, headers={"Location": "/elsewhere"})

    app = web.Application()
    app.router.add_post("/bot{token}/{method}", call)
    app.router.add_get("/file/bot{token}/{path:.*}", file)
    runner = web.AppRunner(app, access_log=None)
    await runner.setup()
    site = web.TCPSite(runner, "127.0.0.1", 0)
    await site.start()
    host, port = runner.addresses[0][:2]
    far.telegram = provider(f"http://{host}:{port}")
    try:
        yield far
    finally:
        await far.telegram.close()
        await runner.cleanup()
