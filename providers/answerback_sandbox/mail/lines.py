"""Connections that speak in lines, as SMTP and IMAP do: accept them, and end them with the sandbox."""

import asyncio
import contextlib
import socket
from collections.abc import AsyncIterator, Awaitable, Callable

LONGEST = 1 << 16  # octets of one line


class Line:
    """One connection. Lines come without their end; None when the other side is gone."""

    def __init__(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        self._reader, self._writer = reader, writer

    async def read(self) -> bytes | None:
        """The next line with its end. Raises ValueError for one that is too long."""
        return await self._reader.readline() or None

    async def exactly(self, size: int) -> bytes:
        """That many octets. Raises EOFError if there are fewer."""
        return await self._reader.readexactly(size)

    async def say(self, *rows: str | bytes) -> None:
        """Send each with a line's end behind it."""
        for row in rows:
            self._writer.write((row.encode() if isinstance(row, str) else row) + b"\r\n")
        await self._writer.drain()

    async def say_raw(self, octets: bytes) -> None:
        """Send this as it is."""
        self._writer.write(octets)
        await self._writer.drain()

    def cut(self) -> None:
        """Reset the connection."""
        self._writer.transport.abort()

    async def close(self) -> None:
        """End it after what was said is sent."""
        self._writer.close()
        with contextlib.suppress(OSError):
            await self._writer.wait_closed()


@contextlib.asynccontextmanager
async def listening(listener: socket.socket, talk: Callable[[Line], Awaitable[None]]) -> AsyncIterator[None]:
    """Let `talk` hold each conversation while the body runs."""
    talks: set[asyncio.Task[None]] = set()

    async def hold(line: Line) -> None:
        try:
            await talk(line)
        except (OSError, EOFError, ValueError):
            line.cut()  # the other side is gone, or speaks no lines
        finally:
            await line.close()

    def connected(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        task = asyncio.create_task(hold(Line(reader, writer)))
        talks.add(task)
        task.add_done_callback(talks.discard)

    server = await asyncio.start_server(connected, sock=listener, limit=LONGEST)
    try:
        yield
    finally:
        server.close()
        for task in tuple(talks):
            task.cancel()
        await asyncio.gather(*talks, return_exceptions=True)
        await server.wait_closed()
