"""Sandbox: the far sides as one object, for tests, for the demo and for the phone page."""

import asyncio
import contextlib
import socket
import time
from collections.abc import AsyncIterator, Callable, Sequence
from typing import Any, Self, TypeVar

from starlette.applications import Starlette

from answerback_sandbox.changes import Changes
from answerback_sandbox.control import ControlApi
from answerback_sandbox.faults import Fault, FaultKind, Faults, ServiceName, require
from answerback_sandbox.mail.far import Mail
from answerback_sandbox.people import Reach, reach
from answerback_sandbox.phone.api import PhoneApi
from answerback_sandbox.server import compose, listen, serve, url_of
from answerback_sandbox.telegram import thumbs
from answerback_sandbox.telegram.api import TOKEN, BotApi
from answerback_sandbox.telegram.limits import Rates
from answerback_sandbox.telegram.methods import Far
from answerback_sandbox.telegram.state import Button, Callback, Chat, Message, Person
from answerback_sandbox.telegram.webhook import Courier
from answerback_sandbox.telegram.world import World
from answerback_sandbox.twilio.far import Twilio

T = TypeVar("T")
BOT_ID = 7_000_000_001
FIRST_PERSON = 1001
TOKEN_SECRET = "sandbox-of-answerback-not-a-secret0"


def _now() -> int:
    return time.time_ns() // 1000


class Sandbox:
    """Telegram, WhatsApp by Twilio (`twilio`) and mail (`mail`), with people on the other side.

    Everything is in memory and in one event loop. What is here without a name before it is Telegram's.

    `token`: the bot's; without it any that looks like one is accepted, and `token` is one to use.
    `rates`: keep Telegram's sending rates. `privacy`: the bot's privacy mode in groups. `clock`:
    microseconds since the Unix epoch. `retry_seconds`: the second pause of a webhook's redelivery (the
    first is none), then doubled up to a minute.
    `people`: the first names of who is there at the start, with the ids 1001, 1002, …; each of them has
    already opened the chat. Everyone has WhatsApp and a mailbox too: `everyone`.
    """

    def __init__(
        self,
        token: str | None = None,
        *,
        username: str = "answerback_sandbox_bot",
        name: str = "Answerback",
        rates: bool = False,
        privacy: bool = True,
        clock: Callable[[], int] = _now,
        retry_seconds: float = 1.0,
        people: Sequence[str] = ("Ana",),
    ) -> None:
        if token is not None and TOKEN.fullmatch(token) is None:
            raise ValueError("a bot token is a number, a colon and 35 characters of A-Z a-z 0-9 _ and -")
        self._own_token = token
        self.token = token or f"{BOT_ID}:{TOKEN_SECRET}"
        self.url = ""
        self.faults = Faults()
        self._changes = Changes()
        self.world = World(
            self._changes,
            clock,
            bot_id=int(self.token.partition(":")[0]),
            username=username,
            name=name,
            privacy=privacy,
        )
        self._courier = Courier(self.world.updates, self._changes, self.faults, clock, retry_seconds)
        far = Far(self.world, self._courier, self.faults, Rates() if rates else None)
        self.twilio = Twilio(self._changes, clock)
        self.mail = Mail(self._changes, clock)
        self._reach: dict[int, Reach] = {}
        self._bot_api = BotApi(far, self._accepts)
        self.app: Starlette = compose(
            [
                *self._bot_api.routes,
                *self.twilio.routes,
                *PhoneApi(self).routes,
                *ControlApi(self).routes,
            ]
        )
        for number, first_name in enumerate(people, start=FIRST_PERSON):
            self.add_person(number, first_name, first_name.lower())

    def __repr__(self) -> str:
        return f"Sandbox({self.url!r})"

    @classmethod
    @contextlib.asynccontextmanager
    async def start(
        cls,
        token: str | None = None,
        *,
        host: str = "127.0.0.1",
        port: int = 0,
        rates: bool = False,
        privacy: bool = True,
        clock: Callable[[], int] = _now,
        retry_seconds: float = 1.0,
    ) -> AsyncIterator[Self]:
        """A sandbox that serves while the body runs; port 0 takes a free one. The arguments are Sandbox's.

        Raises NotLoopback for another address than loopback, OSError if the port is taken.
        """
        box = cls(token, rates=rates, privacy=privacy, clock=clock, retry_seconds=retry_seconds)
        async with box.serve(host, port):
            yield box

    @contextlib.asynccontextmanager
    async def serve(
        self, host: str = "127.0.0.1", port: int = 0, *, smtp_port: int = 0, imap_port: int = 0
    ) -> AsyncIterator[None]:
        """Serve this sandbox while the body runs; port 0 takes a free one. Raises NotLoopback, OSError."""
        with listen(host, port) as web, listen(host, smtp_port) as smtp, listen(host, imap_port) as imap:
            async with self.serve_on(web, smtp, imap):
                yield

    @contextlib.asynccontextmanager
    async def serve_on(
        self, web: socket.socket, smtp: socket.socket, imap: socket.socket
    ) -> AsyncIterator[None]:
        """The same on sockets that listen already (`answerback_sandbox.server.listen` makes them)."""
        self.url = self.twilio.courier.own_url = url_of(web)
        async with serve(self.app, web), self.mail.serve(smtp, imap):
            couriers = [
                asyncio.create_task(self._courier.run()),
                asyncio.create_task(self.twilio.courier.run()),
            ]
            try:
                yield
            finally:
                self._changes.close()
                for courier in couriers:
                    courier.cancel()
                await asyncio.gather(*couriers, return_exceptions=True)

    @property
    def bot_api_base(self) -> str:
        """The `base_url` for python-telegram-bot; its `base_file_url` is `file_api_base`."""
        return f"{self.url}/bot"

    @property
    def file_api_base(self) -> str:
        """The `base_file_url` for python-telegram-bot."""
        return f"{self.url}/file/bot"

    def _accepts(self, token: str) -> bool:
        return self._own_token is None or token == self._own_token

    # ── people ──

    @property
    def people(self) -> tuple[Person, ...]:
        """Everyone with a phone."""
        return tuple(self.world.people.values())

    @property
    def everyone(self) -> tuple[Reach, ...]:
        """The same people, with their addresses on each service."""
        return tuple(self._reach.values())

    def reach(self, person: int) -> Reach:
        """One person's addresses on each service. Raises SandboxError."""
        return self._reach[self.world.person(person).id]

    def add_person(
        self,
        person_id: int,
        first_name: str,
        username: str | None = None,
        *,
        started: bool = True,
        language_code: str = "en",
    ) -> Person:
        """One more person; unless `started`, the bot cannot write to them yet. Raises SandboxError.

        They get a WhatsApp number and a mail address too, see `reach`.
        """
        person = Person(person_id, first_name, username, language_code)
        added = self.world.add_person(person, started=started)
        known = reach(person_id, first_name, username, taken=self.mail.world.boxes)
        self.twilio.add_person(known.whatsapp, first_name)
        self.mail.add_person(known.mail, first_name)
        self._reach[person_id] = known
        return added

    def add_group(self, title: str, members: Sequence[int]) -> Chat:
        """A group of these people and the bot. Raises SandboxError."""
        return self.world.add_group(title, tuple(members))

    def type(self, person: int, text: str, reply_to: int | None = None, chat: int | None = None) -> Message:
        """A person sends a text to a chat (default: the private one). Raises SandboxError."""
        return thumbs.type_text(self.world, person, text, reply_to, chat)

    def tap(self, person: int, message_id: int, button: str | int, chat: int | None = None) -> Button:
        """A person taps a button, by label or place from 0. Raises SandboxError."""
        return thumbs.tap(self.world, person, message_id, button, chat)

    def press_start(self, person: int, payload: str = "") -> Message:
        """A person presses Start, as by a deep link with this payload. Raises SandboxError."""
        return thumbs.start(self.world, person, payload)

    def block(self, person: int) -> None:
        """A person blocks the bot. Raises SandboxError."""
        thumbs.block(self.world, person)

    def unblock(self, person: int) -> None:
        """A person lets the bot in again. Raises SandboxError."""
        thumbs.unblock(self.world, person)

    def kick(self, chat: int) -> None:
        """The bot is thrown out of a group. Raises SandboxError."""
        thumbs.kick(self.world, chat)

    # ── what can be seen ──

    def chats(self, person: int) -> tuple[Chat, ...]:
        """The chats of a person, the private one first. Raises SandboxError."""
        self.world.person(person)
        return tuple(chat for chat in self.world.chats.values() if person in chat.members)

    def messages(self, person: int, chat: int | None = None) -> tuple[Message, ...]:
        """What stands in a chat (default: the private one) now, oldest first. Raises SandboxError."""
        return tuple(self.world.chat_of(person, chat).messages.values())

    def received(self, person: int, chat: int | None = None) -> tuple[Message, ...]:
        """The bot's messages among them. Raises SandboxError."""
        return tuple(item for item in self.messages(person, chat) if item.sender_id == self.world.bot_id)

    def callbacks(self, person: int) -> tuple[Callback, ...]:
        """A person's taps, each with what the bot answered (a toast or an alert), oldest first."""
        return tuple(item for item in self.world.callbacks.values() if item.person_id == person)

    @property
    def told(self) -> tuple[tuple[str, Any], ...]:
        """The latest that the bot was told: (method, result) of calls, then ("update", Update)."""
        return (*self._bot_api.told, *(("update", item) for item in self.world.updates.every))

    @property
    def webhook_info(self) -> dict[str, Any]:
        """What `getWebhookInfo` answers the bot."""
        return self._courier.info()

    @property
    def changes(self) -> Changes:
        """Counts and announces everything that happens."""
        return self._changes

    async def wait_for(self, predicate: Callable[[], T], timeout: float = 5.0) -> T:
        """The first truthy result of `predicate`, asked again after each change. Raises TimeoutError."""
        return await self._changes.wait_for(predicate, timeout)

    # ── faults ──

    def fail(
        self, kind: FaultKind, calls: int | None = 1, *, method: str | None = None, seconds: float = 1.0
    ) -> None:
        """Let the next `calls` (None: all until `heal`) go wrong, of one method or of any.

        `seconds` are the pause of `slow` and the retry_after of `rate_limited`.
        """
        self.faults.add(Fault(kind, calls, method, seconds))
        self._changes.touch()

    def heal(self) -> None:
        """Telegram works again."""
        self.faults.heal()
        self._changes.touch()

    def switch(self, service: ServiceName, kind: FaultKind, on: bool, seconds: float = 1.0) -> None:
        """Let this go wrong at a service from now on, or no longer; `seconds` as of `fail`.

        Raises SandboxError if that cannot go wrong there.
        """
        require(service, kind, seconds)
        self.faults_of(service).switch(kind, on, seconds)
        self._changes.touch()

    def fail_next(self, service: ServiceName, kind: FaultKind, calls: int, seconds: float = 1.0) -> None:
        """Let the next `calls` at a service go wrong. Raises SandboxError if that cannot go wrong there."""
        require(service, kind, seconds)
        self.faults_of(service).add(Fault(kind, calls, None, seconds))
        self._changes.touch()

    def faults_of(self, service: ServiceName) -> Faults:
        """What goes wrong at a service."""
        return {
            ServiceName.TELEGRAM: self.faults,
            ServiceName.WHATSAPP: self.twilio.faults,
            ServiceName.MAIL: self.mail.faults,
        }[service]

    def heal_all(self) -> None:
        """Everything works again, everywhere."""
        self.twilio.heal()
        self.mail.heal()
        self.heal()
