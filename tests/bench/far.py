"""The far side of the loopback provider, its own process: takes messages, taps the first button at once.

    python -m tests.bench.far SECRET     prints its port, ends when its standard input is closed

`POST /send`, `POST /edit/{id}` are what a messenger offers; `POST /hook` says where replies go;
`POST /burst` sends the webhooks of a file as fast as they are taken, and says how long that took.
"""

import asyncio
import itertools
import json
import sys
import time
from pathlib import Path
from typing import Any
from urllib.parse import urlsplit

import uvloop
from aiohttp import web

from tests.bench.provider import JSON, SIGNATURE, event_id, sign
from tests.bench.wire import Wire


class Far:
    """Everybody's phones."""

    def __init__(self, secret: str) -> None:
        self._secret, self._path = secret, ""
        self._wire: Wire | None = None
        self._messages, self._events = itertools.count(1), itertools.count(1)
        self._taps: set[asyncio.Task[None]] = set()

    def app(self) -> web.Application:
        app = web.Application()
        app.router.add_post("/send", self.send)
        app.router.add_post("/edit/{id}", self.edit)
        app.router.add_post("/hook", self.hook)
        app.router.add_post("/burst", self.burst)
        return app

    async def hook(self, request: web.Request) -> web.Response:
        """`{url}`: where replies go from now on."""
        url = (await request.json())["url"]
        self._wire, self._path = Wire.to(url), urlsplit(url).path
        return web.json_response({})

    async def send(self, request: web.Request) -> web.Response:
        message, id = await request.json(), f"m{next(self._messages)}"
        tappable = [data for _, data in message["buttons"] if data]
        if tappable and self._wire is not None:
            task = asyncio.create_task(self._tap(self._wire, message["to"], id, tappable[0]))
            self._taps.add(task)
            task.add_done_callback(self._taps.discard)
        return web.json_response({"id": id})

    async def edit(self, request: web.Request) -> web.Response:
        await request.read()
        return web.json_response({})

    async def burst(self, request: web.Request) -> web.Response:
        """`{url, file, at_once}`: each line of the file is one body; `{seconds, refused}` comes back."""
        order = await request.json()
        bodies = iter([_signed(self._secret, line) for line in Path(order["file"]).read_bytes().splitlines()])
        wire, path = Wire.to(order["url"]), urlsplit(order["url"]).path
        refused = 0

        async def work() -> None:
            nonlocal refused
            for headers, body in bodies:
                refused += await wire.post(path, headers, body) != 200

        begun = time.perf_counter()
        await asyncio.gather(*(work() for _ in range(order["at_once"])))
        seconds = time.perf_counter() - begun
        wire.close()
        return web.json_response({"seconds": seconds, "refused": refused})

    async def _tap(self, wire: Wire, who: str, message: str, data: str) -> None:
        event: dict[str, Any] = {
            "event_id": event_id(next(self._events)),
            "sender": who,
            "place": who,
            "data": data,
            "references": [message],
            "at": time.monotonic_ns(),
        }
        await wire.post(self._path, *_signed(self._secret, json.dumps(event).encode()))


def _signed(secret: str, body: bytes) -> tuple[list[tuple[str, str]], bytes]:
    return [*JSON, (SIGNATURE, sign(secret, body))], body


async def main(secret: str) -> None:
    """Serve until standard input ends."""
    runner = web.AppRunner(Far(secret).app(), access_log=None)
    await runner.setup()
    site = web.TCPSite(runner, "127.0.0.1", 0)
    await site.start()
    sys.stdout.write(f"{runner.addresses[0][1]}\n")
    sys.stdout.flush()
    await asyncio.get_running_loop().run_in_executor(None, sys.stdin.read)
    await runner.cleanup()


if __name__ == "__main__":
    uvloop.run(main(sys.argv[1]))
