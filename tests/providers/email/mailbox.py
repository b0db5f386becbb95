"""The provider as it reads a mailbox on loopback, and a way to it that can be cut or fall silent."""

import asyncio
import contextlib
from collections.abc import AsyncIterator
from typing import Any

from answerback.provider import Batch, ProviderContext, Reply
from answerback_providers.email import Email, EmailSettings
from answerback_providers.email.reader import Lookup, txt
from tests.providers.email.dovecot import PASSWORD, Dovecot
from tests.providers.email.replies import OURS


def reads(port: int, lookup: Lookup = txt, **more: Any) -> Email:
    """A provider that reads `agent`'s mailbox at this port."""
    imap = {"host": "127.0.0.1", "port": port, "security": "plain", "username": "agent", "password": PASSWORD}
    values = {
        "address": "agent@example.org",
        "authserv_id": OURS,
        "smtp": {"host": "localhost", "security": "plain"},
        "imap": imap,
        **more,
    }
    return Email("email", EmailSettings.model_validate(values), ProviderContext(), lookup)


def replies(provider: Email, batch: Batch) -> list[Reply]:
    """What the core would be told of a batch."""
    found = [each for event in batch.events for each in provider.parse(event)]
    return [each for each in found if isinstance(each, Reply)]


def texts(provider: Email, batch: Batch) -> list[str]:
    return [reply.text for reply in replies(provider, batch)]


class Gate:
    """A TCP proxy: open, cut (every connection is reset), or deaf (takes everything, passes nothing on)."""

    def __init__(self, server: Dovecot) -> None:
        self._server = server
        self._ways: list[asyncio.StreamWriter] = []
        self._tasks: set[asyncio.Task[None]] = set()
        self.deaf = False
        self.connections = 0
        self.port = 0

    async def serve(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        there, on = await asyncio.open_connection("127.0.0.1", self._server.imap)
        self.connections += 1
        self._ways += [writer, on]
        both = [asyncio.create_task(self._pass(*way)) for way in ((reader, on), (there, writer))]
        self._tasks.update(both)
        await asyncio.gather(*both)

    async def _pass(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        with contextlib.suppress(OSError):
            while data := await reader.read(65536):
                if not self.deaf:
                    writer.write(data)
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
async def gate(server: Dovecot) -> AsyncIterator[Gate]:
    way = Gate(server)
    listening = await asyncio.start_server(way.serve, "127.0.0.1", 0)
    way.port = listening.sockets[0].getsockname()[1]
    try:
        yield way
    finally:
        listening.close()
        await way.close()
