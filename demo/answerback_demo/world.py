"""The world of the demo: a sandbox with a phone, and a gateway whose Telegram is that sandbox."""

import contextlib
import errno
import fcntl
import logging
import os
import socket
from collections.abc import AsyncIterator, Iterator
from dataclasses import dataclass
from pathlib import Path

from answerback import app as composition
from answerback import settings as configuration
from answerback.app import App
from answerback.cli.serving import unusable, with_key
from answerback.cli.site import site
from answerback.errors import ConfigurationError
from answerback.workers import in_workers
from answerback_demo.screen import Screen
from answerback_sandbox import Sandbox
from answerback_sandbox.server import listen, serve, url_of

HOST, PHONE_PORT, PORT = "127.0.0.1", 8710, 8700
AT_ONCE = 9  # demos beside each other
# A new sandbox counts its updates from the beginning, and the gateway keeps what it has seen for good.
FORGOTTEN = ("answerback.db*", "checkpoints-*", "demo.log", "report.md")

CONFIGURATION = """\
# What the demo ran with. Telegram is the sandbox: a phone in the browser.
listen: {listen}
data_dir: .
agents:
  research: {{use: langgraph, graph: "answerback_agents.research:graph"}}
providers:
  telegram: {{use: telegram, token: "{token}", api_base: "{bot_api}"}}
  console: {{use: "answerback_demo.console:Console"}}
contacts:
  ana: {{name: Ana, addresses: {{telegram: "{ana}", console: ana}}}}
routes:
  default: {{ask: ana, at_once: true}}
"""


@dataclass(frozen=True, slots=True)
class World:
    """Everything that runs. `person` is Ana's numeric id on the phone."""

    app: App
    phone: str
    person: int
    data_dir: Path


@contextlib.asynccontextmanager
async def world(data_dir: Path, screen: Screen) -> AsyncIterator[World]:
    """Start it all, and leave nothing behind that listens. Raises `ConfigurationError`, OSError."""
    with own_directory(data_dir) as directory, contextlib.ExitStack() as sockets:
        logging.basicConfig(filename=directory / "demo.log", level=logging.WARNING, force=True)
        logging.captureWarnings(True)
        screen.step("starting a phone")
        box = Sandbox()
        phone_socket = sockets.enter_context(_bound(PHONE_PORT))
        async with serve(box.app, phone_socket):
            box.url = url_of(phone_socket)
            screen.step("starting the gateway")
            gateway_socket = sockets.enter_context(_bound(PORT))
            settings = _settings(directory, box, gateway_socket)
            app = composition.build(settings, agents=in_workers(settings), extra={"screen": screen})
            await app.start()
            try:
                if problems := unusable(app):
                    raise ConfigurationError("; ".join(problems))
                async with serve(site(app), gateway_socket):
                    yield World(app, box.url, box.people[0].id, directory)
            finally:
                box.changes.close()
                await app.stop()


def _settings(directory: Path, box: Sandbox, listener: socket.socket) -> configuration.Settings:
    text = CONFIGURATION.format(
        listen=url_of(listener).removeprefix("http://"),
        token=box.token,
        bot_api=box.url,
        ana=box.people[0].id,
    )
    file = directory / "answerback.yaml"
    file.write_text(text)
    return with_key(configuration.parse(text, file=str(file), environ={}))


@contextlib.contextmanager
def own_directory(wanted: Path) -> Iterator[Path]:
    """The directory, or the next one if another demo has it, emptied of what an earlier demo left there."""
    for number in range(1, AT_ONCE + 1):
        directory = wanted if number == 1 else wanted.with_name(f"{wanted.name}-{number}")
        directory.mkdir(parents=True, exist_ok=True, mode=0o700)
        with (directory / "demo.lock").open("w") as lock:
            try:
                fcntl.flock(lock, fcntl.LOCK_EX | fcntl.LOCK_NB)
            except BlockingIOError:
                continue
            for pattern in FORGOTTEN:
                for file in directory.glob(pattern):
                    file.unlink()
            yield directory
            return
    raise OSError(errno.EBUSY, "too many demos are running", os.fspath(wanted))


def _bound(port: int) -> socket.socket:
    """A listening socket on this port, or on a free one if another program has it."""
    try:
        return listen(HOST, port)
    except OSError:
        return listen(HOST, 0)
