"""One gateway process of several: built by the composition root and served over HTTP, as `serve` does it.

What differs from `answerback serve`: the clock is given, who waits is woken by wake-ups only, and Telegram is
spoken to as fast as one likes. SIGUSR1 lets it look at once at what is due, SIGTERM ends it.
"""

import asyncio
import contextlib
import dataclasses
import json
import logging
import os
import signal
import socket
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import uvicorn
import uvloop
from pydantic import SecretStr

from answerback import app as composition
from answerback.app import App
from answerback.cli.site import site
from answerback.model import Address, Contact
from answerback.provider import ProviderContext
from answerback.reader import Reader
from answerback.settings import ApiKey, Plugin, Route, Settings
from answerback.workers import in_workers
from answerback_providers.telegram.settings import TelegramSettings
from tests.replicas.clock import SharedClock
from tests.support.telegram import Unhurried

KEY = "a-key-of-the-replicas"
PEOPLE = {f"p{number}": str(2000 + number) for number in range(12)}  # contact → Telegram id
HASTY = 5.0  # seconds until what is asked by this route has expired
NEVER = 3600.0  # seconds: a waiter that is not woken misses the test's end


class Server(uvicorn.Server):
    """uvicorn's server without its signals."""

    def stop(self) -> None:
        self.should_exit = True

    @contextlib.contextmanager
    def capture_signals(self) -> Iterator[None]:
        yield


def settings(order: dict[str, Any]) -> Settings:
    """Everything that all replicas have in common, and a folder of its own."""
    return Settings(
        base_dir=order["folder"],
        data_dir=str(Path(order["folder"], order["name"])),
        database=order["database"],
        public_url="https://ask.example.org",
        secret=SecretStr("the same secret for all replicas"),
        api_keys=(ApiKey("test", SecretStr(KEY)),),
        agents={"graph": Plugin("graph", "langgraph", {"graph": "tests.replicas.graph:graph"})},
        contacts={
            name: Contact(name, name.title(), addresses=(Address("telegram", number, number),))
            for name, number in PEOPLE.items()
        },
        routes={
            "default": Route("default", ask=("p0",), providers=("telegram",)),
            "hasty": Route("hasty", ask=("p0",), providers=("telegram",), expires_in=HASTY),
        },
    )


def build(order: dict[str, Any]) -> App:
    """The app, not started; it looks often whether it is its turn to read, and waits for wake-ups alone."""
    chosen = settings(order)
    options = TelegramSettings(token=order["token"], api_base=order["api_base"], poll_seconds=1)
    telegram = Unhurried("telegram", options, ProviderContext(chosen.public_url, chosen.data_dir))
    app = composition.build(
        chosen,
        time=SharedClock(Path(order["folder"], "clock")),
        providers={"telegram": telegram},
        agents=in_workers(chosen) if order.get("workers") else None,
    )
    app.intake.turn = 0.02
    return dataclasses.replace(app, reader=Reader(app.context, look_again=NEVER))


async def serve(order: dict[str, Any]) -> None:
    app = build(order)
    await app.start()
    try:
        with socket.create_server(("127.0.0.1", 0)) as listener:
            config = uvicorn.Config(
                site(app), log_config=None, lifespan="off", ws="none", timeout_graceful_shutdown=1
            )
            server = Server(config)
            loop = asyncio.get_running_loop()
            loop.add_signal_handler(signal.SIGTERM, server.stop)
            loop.add_signal_handler(signal.SIGUSR1, app.clock.rearm)
            assert app.wakeups is not None
            await app.wakeups.hearing.wait()
            tell(app, listener.getsockname()[1])
            await server.serve([listener])
    finally:
        await app.stop()


def tell(app: App, port: int) -> None:
    """Say, in a file that is complete as soon as it is there, where this process can be found."""
    ready = Path(app.settings.data_dir, "ready")
    ready.with_suffix(".new").write_text(json.dumps({"port": port, "owner": app.context.owner}))
    ready.with_suffix(".new").rename(ready)


def main(order: dict[str, Any]) -> None:
    """One process's life, by the order of a test; what it logs is kept beside its data."""
    os.environ.setdefault("LANGGRAPH_STRICT_MSGPACK", "true")
    folder = Path(order["folder"], order["name"])
    folder.mkdir(mode=0o700)
    logging.basicConfig(filename=folder / "log", level=logging.INFO)
    with asyncio.Runner(loop_factory=uvloop.new_event_loop) as runner:
        runner.run(serve(order))
