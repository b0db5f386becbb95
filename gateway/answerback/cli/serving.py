"""The gateway as a process: build, start, serve, stop."""

import asyncio
import contextlib
import gc
import logging
import os
import signal
import socket
from collections.abc import AsyncIterator, Callable, Iterator
from dataclasses import replace
from pathlib import Path

import uvicorn
from pydantic import SecretStr
from starlette.types import ASGIApp

from answerback import app as gateway
from answerback import loops
from answerback.cli import terminal
from answerback.cli.errors import Exit
from answerback.cli.gateway import KEY_FILE, own_url
from answerback.cli.heads import BoundedHeads, open_more_files
from answerback.cli.places import placed
from answerback.cli.site import site
from answerback.errors import ConfigurationError
from answerback.installation import kept_secret
from answerback.settings import ApiKey, Settings
from answerback.tracebacks import keep_discreet
from answerback.web import RedactTokens
from answerback.web.exposing import expose
from answerback.workers import in_workers

log = logging.getLogger("answerback.serve")
SHORT = 16  # characters of a key
GRACE = 3  # seconds that requests under way get when we stop; who waits for an answer asks again
ENDS = 5.0  # and what is being sent, or at work in an agent: it would be done twice otherwise


def run(
    settings: Settings,
    listener: socket.socket,
    metrics: socket.socket | None = None,
    *,
    as_json: bool = False,
) -> Exit:
    """Serve until SIGINT or SIGTERM. Raises `ConfigurationError`, `StoreUnavailable`."""
    # LangGraph reads it when it is first imported, by whichever plugin: checkpoints hold known types only.
    os.environ.setdefault("LANGGRAPH_STRICT_MSGPACK", "true")
    logging.getLogger("uvicorn.access").addFilter(RedactTokens())
    settings = with_key(settings)
    open_more_files()
    with loops.runner() as runner:
        return runner.run(_serve(settings, listener, metrics, as_json))


def with_key(settings: Settings) -> Settings:
    """The settings with a key for the HTTP API: without one, one is made that only its owner can read."""
    for given in settings.api_keys:
        if given.key is not None and len(given.key.get_secret_value()) < SHORT:
            log.warning(
                "the API key %s is short enough to be guessed; make one with: openssl rand -hex 24",
                given.name,
            )
    if settings.api_keys:
        return settings
    file = Path(settings.data_dir, KEY_FILE)
    file.parent.mkdir(parents=True, exist_ok=True, mode=0o700)
    key = kept_secret(file)
    if not key:
        raise ConfigurationError("This file holds no key. Delete it, and a new one is made.", file=str(file))
    if file.stat().st_mode & 0o077:
        log.warning("other users of this machine can read %s: chmod 600 it", file)
    return replace(settings, api_keys=(ApiKey("local", SecretStr(key)),))


async def _serve(
    settings: Settings, listener: socket.socket, metrics: socket.socket | None, as_json: bool
) -> Exit:
    keep_discreet(asyncio.get_running_loop())
    await loops.make_room()
    stop = _Stop()
    app = gateway.build(settings, agents=in_workers(settings))
    try:
        await app.start()
    except asyncio.CancelledError:
        return Exit.FINE
    try:
        problems = unusable(app)
        for problem in problems:
            terminal.note(f"answerback: {problem}")
        configured = len(settings.providers) + len(settings.agents)
        if problems and len(problems) == configured:
            terminal.note("answerback: nothing that is configured can be used, so there is nothing to serve.")
            return Exit.ERROR
        server = Server(server_config(site(app)), lambda: announce(app, as_json))

        def halt() -> None:
            app.context.signals.end()
            if server.should_exit:  # the second time
                app.hurry()
            server.stop()

        stop.act = halt
        gc.collect()
        gc.freeze()  # what was imported stays: to look through it each time stopped everything for 40 ms
        async with exposed(app, metrics):
            await server.serve([listener])
        return Exit.FINE
    finally:
        await app.stop(ENDS)


def server_config(application: ASGIApp) -> uvicorn.Config:
    """How every socket of ours is served."""
    return uvicorn.Config(
        application, log_config=None, server_header=False, proxy_headers=False, lifespan="off", ws="none",
        loop="uvloop", http=BoundedHeads, timeout_graceful_shutdown=GRACE,
    )  # fmt: skip


@contextlib.asynccontextmanager
async def exposed(app: gateway.App, listener: socket.socket | None) -> AsyncIterator[None]:
    """The counters of an app on a socket of their own, while the body runs; without one, nothing."""
    if listener is None:
        yield
        return
    host, port = listener.getsockname()[:2]
    server = Server(
        server_config(expose(app.context.metrics, app.reader.gauges)),
        lambda: log.info("metrics at http://%s:%s/metrics", host, port),
    )
    task = asyncio.create_task(server.serve([listener]))
    try:
        yield
    finally:
        server.stop()
        await task


class _Stop:
    """What SIGINT and SIGTERM do: give up the start, later stop the server."""

    def __init__(self) -> None:
        task = asyncio.current_task()
        assert task is not None
        self.act: Callable[[], object] = task.cancel
        for number in (signal.SIGINT, signal.SIGTERM):
            asyncio.get_running_loop().add_signal_handler(number, self)

    def __call__(self) -> None:
        self.act()


class Server(uvicorn.Server):
    """uvicorn's server, whose signals are ours: they must outlive it, until the app has been stopped."""

    def __init__(self, config: uvicorn.Config, started: Callable[[], None]) -> None:
        super().__init__(config)
        self._announce, self._stopping = started, asyncio.Event()

    def stop(self) -> None:
        """Finish what is under way; the second time do not wait for it."""
        self.force_exit = self.should_exit
        self.should_exit = True
        self._stopping.set()

    @contextlib.contextmanager
    def capture_signals(self) -> Iterator[None]:
        yield

    async def main_loop(self) -> None:
        """uvicorn's looks ten times a second whether to stop, which is most of what an idle gateway does."""
        await self._stopping.wait()

    async def startup(self, sockets: list[socket.socket] | None = None) -> None:
        await super().startup(sockets)
        self._announce()


def unusable(app: gateway.App) -> list[str]:
    """What is configured and cannot be used, each with where it stands and why."""
    found = {
        (problem.kind, problem.name): placed(app.settings, problem.kind, problem.name, problem.error)
        for problem in app.problems
    }
    for name, why in app.state.items():
        if why:
            found.setdefault(("agent", name), f"The agent {name} cannot be used: {why}")
    return list(found.values())


def announce(app: gateway.App, as_json: bool) -> None:
    """One line: where it is, what works, where the key is."""
    settings = app.settings
    url = own_url(settings)
    kept = Path(settings.data_dir, KEY_FILE)
    made = [key for key in settings.api_keys if key.name == "local" and kept.is_file()]
    key = str(kept) if made else f"api_keys in {settings.file}"
    names = [name for name in app.providers if name != gateway.FALLBACK or name in settings.providers]
    if as_json:
        about = {"url": url, "public_url": settings.public_url, "providers": names, "agents": [*app.agents]}
        return terminal.put_json({**about, "key": key})
    shown = f"providers {', '.join(names)}" if names else "no provider: questions are shown as links here"
    agents = f"agents {', '.join(app.agents)}" if app.agents else "no agent"
    public = f" as {settings.public_url}" if settings.public_url != url else ""
    terminal.out(f"Ready at {url}{public} · {shown} · {agents} · key in {key}")
