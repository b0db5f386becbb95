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

from tests.bench.provider import JSON, SIGNATURE, event_id, sign
from tests.bench.wire import Wire, serve


class Far:
    """Everybody's phones."""

    def __init__(self, secret: str) -> None:
        self._secret, self._path = secret, ""
        self._wire: Wire | None = None
        self._messages, self._events = itertools.count(1), itertools.count(1)
        self._taps: set[asyncio.Task[None]] = set()

    async def answer(self, path: str, body: bytes) -> bytes:
        """What comes back for a request."""
        given = json.loads(body)
        if path == "/send":
            return json.dumps({"id": self._send(given)}).encode()
        if path == "/hook":
            self._wire, self._path = Wire.to(given["url"]), urlsplit(given["url"]).path
        if path == "/burst":
            return json.dumps(await self._burst(given)).encode()
        return b"{}"

    def _send(self, message: dict[str, Any]) -> str:
        id = f"m{next(self._messages)}"
        tappable = [data for _, data in message["buttons"] if data]
        if tappable and self._wire is not None:
            task = asyncio.create_task(self._tap(self._wire, message["to"], id, tappable[0]))
            self._taps.add(task)
            task.add_done_callback(self._taps.discard)
        return id

    async def _burst(self, order: dict[str, Any]) -> dict[str, Any]:
        """`{url, file, at_once}`: each line of the file is one body; `{seconds, refused}` comes back."""
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
        return {"seconds": seconds, "refused": refused}

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
    server, port = await serve(Far(secret).answer)
    sys.stdout.write(f"{port}\n")
    sys.stdout.flush()
    await asyncio.get_running_loop().run_in_executor(None, sys.stdin.read)
    server.close()


if __name__ == "__main__":
    uvloop.run(main(sys.argv[1]))
