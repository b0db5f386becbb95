"""The provider as it reads a mailbox on loopback, and a way to it that can be cut or fall silent."""

import asyncio
import contextlib
from collections.abc import AsyncIterator, Callable
from typing import Any

from answerback.provider import Batch, ProviderContext, Reply
from answerback_providers.email import Email, EmailSettings
from answerback_providers.email.reader import Lookup, txt
from tests.providers.email.dovecot import GOOD, PASSWORD, Box
from tests.providers.email.replies import OURS


def reads(port: int, lookup: Lookup = txt, user: str = "agent", **more: Any) -> Email:
    """A provider that reads this user's mailbox at this port."""
    values = {
        "address": "agent@example.org",
        "authserv_id": OURS,
        "smtp": {"host": "localhost", "security": "plain"},
        "imap": {**signs_in(user), "port": port},
        **more,
    }
    return Email("email", EmailSettings.model_validate(values), ProviderContext(), lookup)


def signs_in(user: str, **more: str | int) -> dict[str, str | int]:
    """The settings of a mailbox, without encryption unless told otherwise."""
    return {"host": GOOD, "security": "plain", "username": user, "password": PASSWORD, **more}


def replies(provider: Email, batch: Batch) -> list[Reply]:
    """What the core would be told of a batch."""
    found = [each for event in batch.events for each in provider.parse(event)]
    return [each for each in found if isinstance(each, Reply)]


def texts(provider: Email, batch: Batch) -> list[str]:
    return [reply.text for reply in replies(provider, batch)]


class Gate:
    """A TCP proxy: open, cut (every connection is reset), deaf (takes everything, passes nothing on),

    or in the middle: `instead` is what it writes for something that the server says.
    """

    def __init__(self, port: int, instead: tuple[bytes, bytes] = (b"", b"")) -> None:
        self._there, self.instead = port, instead
        self._ways: list[asyncio.StreamWriter] = []
        self._tasks: set[asyncio.Task[None]] = set()
        self.deaf = False
        self.connections = 0
        self.heard = b""  # all that was said to the server
        self.port = 0

    async def serve(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        there, on = await asyncio.open_connection(GOOD, self._there)
        self.connections += 1
        self._ways += [writer, on]
        ways = (self._pass(reader, on, self._listened), self._pass(there, writer, self._changed))
        both = [asyncio.create_task(way) for way in ways]
        self._tasks.update(both)
        await asyncio.gather(*both)

    def _listened(self, said: bytes) -> bytes:
        self.heard += said
        return said

    def _changed(self, said: bytes) -> bytes:
        return said.replace(*self.instead) if self.instead[0] else said

    async def _pass(
        self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter, seen: Callable[[bytes], bytes]
    ) -> None:
        with contextlib.suppress(OSError):
            while data := await reader.read(65536):
                if not self.deaf:
                    writer.write(seen(data))
                    await writer.drain()
        writer.close()

    def cut(self) -> None:
        """Reset every connection."""
        for way in self._ways:
            way.transport.abort()
        self._ways.clear()

    async def close(self) -> None:
        self.cut()
        await asyncio.gather(*self._tasks, return_exceptions=True)


@contextlib.asynccontextmanager
async def gate(box: Box, *instead: bytes) -> AsyncIterator[Gate]:
    """A way to the server of a mailbox; two octet strings are what to take for what."""
    way = Gate(box.server.imap, instead if len(instead) == 2 else (b"", b""))
    listening = await asyncio.start_server(way.serve, "127.0.0.1", 0)
    way.port = listening.sockets[0].getsockname()[1]
    try:
        yield way
    finally:
        listening.close()
        await way.close()
