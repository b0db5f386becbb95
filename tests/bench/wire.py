"""Bare HTTP/1.1 that costs next to nothing, so that what is measured is not the client or the server."""

import asyncio
import contextlib
from collections.abc import Awaitable, Callable, Iterable
from dataclasses import dataclass
from typing import cast
from urllib.parse import urlsplit

_END = b"\r\n\r\n"
_OK = b"HTTP/1.1 200 OK\r\ncontent-type: application/json\r\ncontent-length: %d" + _END
Handler = Callable[[str, bytes], Awaitable[bytes]]  # path and body; the body of the answer


@dataclass(frozen=True, slots=True)
class Answer:
    """What came back."""

    status: int
    body: bytes


class _Line(asyncio.Protocol):
    """One kept connection: one request at a time."""

    def __init__(self) -> None:
        self._buffer = b""
        self._answer: asyncio.Future[Answer] | None = None
        self._transport: asyncio.Transport | None = None

    def connection_made(self, transport: asyncio.BaseTransport) -> None:
        self._transport = cast(asyncio.Transport, transport)  # uvloop has classes of its own

    def connection_lost(self, exc: Exception | None) -> None:
        if self._answer is not None and not self._answer.done():
            self._answer.set_exception(exc or ConnectionResetError("the server closed the connection"))

    def data_received(self, data: bytes) -> None:
        self._buffer += data
        head, found, body = self._buffer.partition(_END)
        if found and len(body) >= _length(head) and self._answer is not None:
            self._buffer = b""
            self._answer.set_result(Answer(int(head[9:12]), body))

    async def ask(self, request: bytes) -> Answer:
        if self._transport is None or self._transport.is_closing():
            raise ConnectionResetError("the server closed the connection")
        self._answer = asyncio.get_running_loop().create_future()
        self._transport.write(request)
        return await self._answer

    def close(self) -> None:
        if self._transport is not None:
            self._transport.close()


class Wire:
    """Kept connections to one server; as many as are asked at the same time."""

    def __init__(self, host: str, port: int) -> None:
        self._host, self._port = host, port
        self._idle: list[_Line] = []

    @classmethod
    def to(cls, url: str) -> "Wire":
        """To the server of a whole URL."""
        parts = urlsplit(url)
        assert parts.hostname and parts.port, "a whole URL"
        return cls(parts.hostname, parts.port)

    async def post(self, path: str, headers: Iterable[tuple[str, str]], body: bytes) -> int:
        """The status of a POST."""
        return (await self.ask(path, headers, body)).status

    async def ask(self, path: str, headers: Iterable[tuple[str, str]], body: bytes) -> Answer:
        """The answer to a POST. A kept connection that the server has closed meanwhile is opened anew."""
        sent = request(self._host, path, headers, body)
        while self._idle:
            line = self._idle.pop()
            with contextlib.suppress(ConnectionError):
                return await self._ask(line, sent)
        return await self._ask(await self._open(), sent)

    async def _ask(self, line: _Line, sent: bytes) -> Answer:
        answer = await line.ask(sent)
        self._idle.append(line)
        return answer

    async def _open(self) -> _Line:
        _, line = await asyncio.get_running_loop().create_connection(_Line, self._host, self._port)
        return line

    def close(self) -> None:
        for line in self._idle:
            line.close()


class _Served(asyncio.Protocol):
    """One connection to a server: one request after the other."""

    def __init__(self, handler: Handler) -> None:
        self._handler, self._buffer = handler, b""
        self._transport: asyncio.Transport
        self._task: asyncio.Task[None] | None = None

    def connection_made(self, transport: asyncio.BaseTransport) -> None:
        self._transport = cast(asyncio.Transport, transport)  # uvloop has classes of its own

    def data_received(self, data: bytes) -> None:
        self._buffer += data
        head, found, body = self._buffer.partition(_END)
        if found and len(body) >= _length(head):
            self._buffer = b""
            self._task = asyncio.create_task(self._answer(head.split(b" ", 2)[1].decode(), body))

    async def _answer(self, path: str, body: bytes) -> None:
        found = await self._handler(path, body)
        self._transport.write(_OK % len(found) + found)


async def serve(handler: Handler) -> tuple[asyncio.Server, int]:
    """A server on loopback, and its port. It answers every request with 200."""
    loop = asyncio.get_running_loop()
    server = await loop.create_server(lambda: _Served(handler), "127.0.0.1", 0)
    return server, server.sockets[0].getsockname()[1]


def request(host: str, path: str, headers: Iterable[tuple[str, str]], body: bytes) -> bytes:
    """The bytes of a POST."""
    lines = [f"POST {path} HTTP/1.1", f"host: {host}", f"content-length: {len(body)}"]
    lines += [f"{name}: {value}" for name, value in headers]
    return "\r\n".join(lines).encode() + _END + body


def _length(head: bytes) -> int:
    for line in head.lower().split(b"\r\n"):
        if line.startswith(b"content-length:"):
            return int(line.partition(b":")[2])
    return 0
