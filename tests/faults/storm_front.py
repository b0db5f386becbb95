"""What stands before several gateways at one address: each connection goes to one of those that are there."""

import asyncio
import contextlib
import random
import socket
from collections.abc import AsyncIterator

SIZE = 65536  # bytes that are handed on at a time


class Front:
    """`behind` are the ports of the gateways that are there now."""

    def __init__(self, chance: random.Random) -> None:
        self.behind: set[int] = set()
        self._chance = chance

    @contextlib.asynccontextmanager
    async def at(self, listener: socket.socket) -> AsyncIterator[None]:
        """Takes connections there."""
        async with await asyncio.start_server(self._connected, sock=listener):
            yield

    async def _connected(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        with contextlib.suppress(OSError), contextlib.closing(writer):
            if not self.behind:
                return
            port = self._chance.choice(sorted(self.behind))
            answers, asks = await asyncio.open_connection("127.0.0.1", port)
            with contextlib.closing(asks):
                ways = [_handed_on(reader, asks), _handed_on(answers, writer)]
                tasks = [asyncio.create_task(way) for way in ways]
                await asyncio.wait(tasks, return_when=asyncio.FIRST_COMPLETED)
                for task in tasks:
                    task.cancel()
                await asyncio.gather(*tasks, return_exceptions=True)


async def _handed_on(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
    while data := await reader.read(SIZE):
        writer.write(data)
        await writer.drain()
