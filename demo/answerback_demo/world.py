"""The world of the demo: a sandbox with phones, and a gateway whose messengers and mail are that sandbox."""

import contextlib
import errno
import fcntl
import logging
import os
import socket
from collections.abc import AsyncIterator, Iterator
from dataclasses import dataclass
from importlib.util import find_spec
from pathlib import Path

from answerback import app as composition
from answerback import settings as configuration
from answerback.app import App
from answerback.cli.serving import unusable, with_key
from answerback.cli.site import site
from answerback.errors import ConfigurationError
from answerback.workers import in_workers
from answerback_demo.screen import Screen
from answerback_demo.written import described
from answerback_sandbox import Sandbox
from answerback_sandbox.endpoints import endpoints
from answerback_sandbox.server import listen, serve, url_of

HOST, PORT = "127.0.0.1", 8700
PHONE_PORT, SMTP_PORT, IMAP_PORT = 8710, 8725, 8743
SECONDS = 30.0  # for the first answer of the gateway
AT_ONCE = 9  # demos beside each other
# A new sandbox counts its updates from the beginning, and the gateway keeps what it has seen for good.
FORGOTTEN = ("answerback.db*", "checkpoints-*", "demo.log", "report.md")

PEOPLE = ("Alice", "Bob")
NEEDED = {"whatsapp": ("twilio",), "mail": ("aiosmtplib", "authres", "dkim", "dns", "imap_tools")}


@dataclass(frozen=True, slots=True)
class World:
    """Everything that runs. `person` is Alice's number on Telegram, `apps` are those that work."""

    app: App
    phone: str
    person: int
    apps: tuple[str, ...]
    data_dir: Path


@contextlib.asynccontextmanager
async def world(data_dir: Path, screen: Screen) -> AsyncIterator[World]:
    """Start it all, and leave nothing behind that listens. Raises `ConfigurationError`, OSError."""
    with own_directory(data_dir) as directory, contextlib.ExitStack() as sockets:
        logging.basicConfig(filename=directory / "demo.log", level=logging.WARNING, force=True)
        logging.captureWarnings(True)
        screen.step("starting the phones")
        box, apps = Sandbox(people=PEOPLE), installed()
        phones = [sockets.enter_context(_bound(port)) for port in (PHONE_PORT, SMTP_PORT, IMAP_PORT)]
        async with box.serve_on(*phones):
            screen.step("starting the gateway")
            gateway_socket = sockets.enter_context(_bound(PORT))
            settings = _settings(directory, box, url_of(gateway_socket), apps)
            app = composition.build(settings, agents=in_workers(settings), extra={"screen": screen})
            await app.start()
            try:
                if problems := unusable(app):
                    raise ConfigurationError("; ".join(problems))
                async with serve(site(app), gateway_socket):
                    await _greet(box, app, apps)
                    yield World(app, box.url, box.people[0].id, apps, directory)
            finally:
                box.changes.close()
                await app.stop()


async def _greet(box: Sandbox, app: App, apps: tuple[str, ...]) -> None:
    """Everybody says hello on WhatsApp: who has never written there may be sent templates only."""
    if "whatsapp" not in apps:
        return
    for person in box.everyone:
        box.twilio.type(person.whatsapp, "Hello")
    await box.wait_for(lambda: all(box.twilio.received(person.whatsapp) for person in box.everyone), SECONDS)
    await app.idle()


def installed() -> tuple[str, ...]:
    """The apps whose real clients are installed; Telegram's is taken for granted."""
    others = [app for app, packages in NEEDED.items() if all(map(find_spec, packages))]
    return ("telegram", *others)


def _settings(directory: Path, box: Sandbox, url: str, apps: tuple[str, ...]) -> configuration.Settings:
    text = described(endpoints(box), url, apps)
    file = directory / "answerback.yaml"
    file.write_text(text)
    box.twilio.webhook(f"{url}/in/whatsapp")
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
