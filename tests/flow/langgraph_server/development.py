"""A real `langgraph dev` in a process of its own, and a proxy before it that can be told to misbehave."""

import asyncio
import contextlib
import json
import os
import re
import shutil
import subprocess
import time
import urllib.request
from collections.abc import AsyncIterator, Awaitable, Callable, Iterator, Sequence
from dataclasses import dataclass, field
from pathlib import Path

import aiohttp
from aiohttp import web

from tests.support.ports import free_port

HERE = Path(__file__).parent
INSTALLED = Path(__file__).parents[3] / "var" / "langgraph-server"
GRAPHS = [
    "questions", "asking", "guarded", "guarded_twice", "strict", "working", "laboring", "parallel", "cached",
    "journaled", "quiet", "mended", "chosen", "stuck", "joined", "joined_strict", "joined_both",
    "joined_guarded", "joined_late", "cut_off", "guarded_inside", "guarded_beside", "guarded_twice_inside",
    "calling", "calling_guarded", "guarded_behind", "guarded_failing", "joined_inside",
    "joined_guarded_inside", "guarded_graph", "guarded_again", "guarded_again_inside",
]  # fmt: skip
KEY = "hint-key-0123456789"  # what the server's webhooks carry
CONFIG = {
    "dependencies": ["."],
    "webhooks": {
        "url": {"disable_loopback": False, "require_https": False},
        "headers": {"Authorization": "Bearer ${{ env.LG_WEBHOOK_KEY }}"},
    },
}


@contextlib.contextmanager
def running(place: Path, made: Sequence[int] = ()) -> Iterator[str]:
    """The URL of a server on the graphs in graphs.py, and `made` ones; it keeps its state in `place`."""
    for name in ("graphs.py", "made_graphs.py"):
        shutil.copy(HERE / name, place)
    graphs = {name: f"./graphs.py:{name}" for name in GRAPHS}
    graphs |= {f"made_{seed}": f"./made_graphs.py:made_{seed}" for seed in made}
    (place / "langgraph.json").write_text(json.dumps({**CONFIG, "graphs": graphs}))
    port = free_port()
    url = f"http://127.0.0.1:{port}"
    command: list[str | Path] = [
        INSTALLED / "bin" / "langgraph",
        "dev",
        "--no-browser",
        "--no-reload",
        "--port",
        str(port),
    ]
    quiet = {"LANGSMITH_TRACING": "false", "LANGGRAPH_CLI_NO_ANALYTICS": "1", "LG_WEBHOOK_KEY": KEY}
    # What is made is made of programs.
    quiet |= {"PYTHONPATH": str(HERE.parents[2]), "MADE": " ".join(map(str, made))}
    with (place / "output").open("w") as output:
        process = subprocess.Popen(
            [*command, "--n-jobs-per-worker", "4"],
            cwd=place,
            env={**os.environ, **quiet},
            stdout=output,
            stderr=subprocess.STDOUT,
        )
    try:
        _wait(url, process, place)
        yield url
    finally:
        process.terminate()
        process.wait(20)


def _wait(url: str, process: "subprocess.Popen[bytes]", place: Path) -> None:
    until = time.monotonic() + 120
    while time.monotonic() < until and process.poll() is None:
        with contextlib.suppress(OSError), urllib.request.urlopen(f"{url}/ok", timeout=5):  # noqa: S310
            return
        time.sleep(0.1)
    raise RuntimeError(f"langgraph dev did not start: {(place / 'output').read_text()[-2000:]}")


Deed = Callable[[], Awaitable[None]]


@dataclass
class Rule:
    """What happens to the next requests (`times` of them) whose method and path match."""

    pattern: str
    status: int = 0  # answer with this instead of passing it on
    lost: bool = False  # pass it on, and lose the answer
    hangs: bool = False  # pass nothing on, and answer nothing
    text: str = ""  # answer with this and 200
    before: Deed | None = None  # done before it is passed on
    times: int = 1


@dataclass
class Proxy:
    """Passes everything on to the server, but for what `rules` say."""

    target: str
    url: str = ""
    rules: list[Rule] = field(default_factory=list)
    requests: list[str] = field(default_factory=list)

    def count(self, pattern: str) -> int:
        return sum(bool(re.search(pattern, line)) for line in self.requests)

    async def handle(self, request: web.Request) -> web.StreamResponse:
        line = f"{request.method} {request.path}"
        self.requests.append(line)
        rule = next((rule for rule in self.rules if rule.times and re.search(rule.pattern, line)), None)
        body = await request.read()
        if rule is None:
            return await self._pass_on(request, body)
        rule.times -= 1
        if rule.before is not None:
            await rule.before()
        if rule.hangs:
            await asyncio.Event().wait()
        if rule.status or rule.text:
            return web.Response(status=rule.status or 200, text=rule.text)
        response = await self._pass_on(request, body)
        if rule.lost and request.transport is not None:
            request.transport.abort()
        return response

    async def _pass_on(self, request: web.Request, body: bytes) -> web.Response:
        headers = {name: value for name, value in request.headers.items() if name.lower() != "host"}
        async with (
            aiohttp.ClientSession(auto_decompress=False) as session,
            session.request(
                request.method, self.target + request.path_qs, data=body, headers=headers
            ) as response,
        ):
            kept = {k: v for k, v in response.headers.items() if k.lower() in ("content-type", "location")}
            if encoding := response.headers.get("content-encoding"):
                kept["content-encoding"] = encoding
            return web.Response(status=response.status, body=await response.read(), headers=kept)


@contextlib.asynccontextmanager
async def proxy(target: str) -> AsyncIterator[Proxy]:
    """A proxy before `target`."""
    made = Proxy(target)
    app = web.Application(client_max_size=2**24)
    app.router.add_route("*", "/{path:.*}", made.handle)
    runner = web.AppRunner(app, access_log=None, shutdown_timeout=0.1)
    await runner.setup()
    site = web.TCPSite(runner, "127.0.0.1", 0)
    await site.start()
    made.url = f"http://127.0.0.1:{runner.addresses[0][1]}"
    try:
        yield made
    finally:
        await runner.cleanup()
