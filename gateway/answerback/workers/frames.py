"""What goes over the socket between the gateway and a worker: numbered frames of JSON, sizes checked first.

A frame is 12 bytes, big-endian: the length of its body (4) and the number of the call it belongs to (8);
then the body, UTF-8 JSON. Number 0 is about the worker itself.
"""

import asyncio
import json
import socket
import struct
from collections.abc import Callable, Iterator
from typing import cast

from answerback import garbage
from answerback.model import Json

PROTOCOL = 1
HEADER = struct.Struct(">IQ")
LARGEST = 8 << 20  # bytes of a body: what more takes, holds up everything else while it is read
MOST = 50_000  # values in a body that take their time; of those that do not, `CHEAP` times as many
CHEAP = 8


class TooLarge(ValueError):
    """This value does not go through: as JSON it is too large, holds too many values, or nests too deeply."""


class Garbage(Exception):
    """What came is not a frame, so nothing after it can be understood either."""


class Unreadable(Exception):
    """The frame is whole and its body is not JSON that Python reads; concerns its call only."""


Body = dict[str, Json]
Arrived = Callable[[int, Body | Unreadable], object]
_encode = json.JSONEncoder(separators=(",", ":")).encode


def frame(number: int, body: Json) -> bytes:
    """The bytes of a frame. Raises TooLarge, and TypeError or ValueError for what JSON cannot express."""
    try:
        text = _encode(body).encode()
    except RecursionError:
        raise TooLarge("it is nested too deeply") from None
    if len(text) > LARGEST:
        raise TooLarge(f"it is larger than {LARGEST >> 20} MiB")
    if len(text) > 2 * MOST and _takes_long(body):
        raise TooLarge(f"it holds over {MOST:,} values")
    return HEADER.pack(len(text), number) + text


def _takes_long(body: Json) -> bool:
    """Whether to read and to write it holds up everything else for as much as a tenth of a second.

    Lists, objects, numbers with a point and keys that are new take one or two microseconds each, measured;
    texts, whole numbers and keys that come again a tenth of that.
    """
    rest, keys = [body], set[str]()
    slow = cheap = 0
    while rest and slow * CHEAP + cheap <= MOST * CHEAP:
        found = rest.pop()
        if isinstance(found, dict):
            keys.update(found)
            cheap += len(found)
            rest += found.values()
        elif isinstance(found, list | tuple):
            rest += found
        takes_its_time = isinstance(found, dict | list | tuple | float)
        slow, cheap = slow + takes_its_time, cheap + (not takes_its_time)
    return (slow + len(keys)) * CHEAP + cheap > MOST * CHEAP


class Decoder:
    """Cuts what came through a socket into frames."""

    def __init__(self) -> None:
        self._buffer = bytearray()

    def feed(self, data: bytes) -> Iterator[tuple[int, Body | Unreadable]]:
        """The frames that are whole now: number and body. Raises Garbage, after those before it."""
        self._buffer += data
        while len(self._buffer) >= HEADER.size:
            size, number = HEADER.unpack_from(self._buffer)
            if size > LARGEST:
                raise Garbage(f"a frame of {size} bytes")
            end = HEADER.size + size
            if len(self._buffer) < end:
                return
            raw = self._buffer[HEADER.size : end]
            del self._buffer[:end]
            yield number, _body(raw)


class Line(asyncio.Protocol):
    """One end of the socket: `arrived` gets each frame at once, `over` hears of the end, and why.

    `over` is told twice after Garbage, behind which nothing is understood: of that, and of the end itself.
    """

    def __init__(self, arrived: Arrived, over: Callable[[Garbage | None], object]) -> None:
        self._arrived, self._over, self._decoder = arrived, over, Decoder()
        self._transport: asyncio.WriteTransport
        self.closed: asyncio.Future[None] = asyncio.get_running_loop().create_future()

    def connection_made(self, transport: asyncio.BaseTransport) -> None:
        self._transport = cast(asyncio.WriteTransport, transport)  # uvloop's own are no subclasses

    def data_received(self, data: bytes) -> None:
        try:
            for number, body in self._decoder.feed(data):
                self._arrived(number, body)
        except Garbage as garbage:
            self._transport.close()
            self._over(garbage)

    def connection_lost(self, error: Exception | None) -> None:
        self._over(None)
        self.closed.set_result(None)

    def send(self, raw: bytes) -> None:
        """Send a whole frame, as soon as the socket takes it."""
        self._transport.write(raw)

    def close(self) -> None:
        self._transport.close()


async def connect(ours: socket.socket, arrived: Arrived, over: Callable[[Garbage | None], object]) -> Line:
    """The line through one end of a pair of sockets, which it closes in the end."""
    loop = asyncio.get_running_loop()
    _, line = await loop.create_unix_connection(lambda: Line(arrived, over), sock=ours)
    return line


def _body(raw: bytearray) -> Body | Unreadable:
    try:
        with garbage.Ignored():  # else all that is alive is looked through several times for a large body
            body = json.loads(raw)
    except (ValueError, RecursionError):
        return Unreadable("a frame's body cannot be read")
    if not isinstance(body, dict):
        raise Garbage("a frame that is no object")
    return body
