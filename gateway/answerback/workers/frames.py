"""What goes over the socket between the gateway and a worker: numbered frames of JSON, sizes checked first.

A frame is 12 bytes, big-endian: the length of its body (4) and the number of the call it belongs to (8);
then the body, UTF-8 JSON. Number 0 is about the worker itself.
"""

import asyncio
import json
import struct

from answerback.model import Json

PROTOCOL = 1
HEADER = struct.Struct(">IQ")
LARGEST = 8 << 20  # bytes of a body: what more takes, holds up everything else while it is read


class TooLarge(ValueError):
    """This value does not go through: it is larger than `LARGEST` as JSON, or nested too deeply."""


class Garbage(Exception):
    """What came is not a frame, so nothing after it can be understood either."""


class Unreadable(Exception):
    """The frame is whole and its body is not JSON that Python reads; concerns the call `number` only."""

    def __init__(self, number: int) -> None:
        self.number = number
        super().__init__("a frame's body cannot be read")


def frame(number: int, body: Json) -> bytes:
    """The bytes of a frame. Raises TooLarge, and TypeError or ValueError for what JSON cannot express."""
    try:
        text = json.dumps(body, separators=(",", ":")).encode()
    except RecursionError:
        raise TooLarge("it is nested too deeply") from None
    if len(text) > LARGEST:
        raise TooLarge(f"it is larger than {LARGEST >> 20} MiB")
    return HEADER.pack(len(text), number) + text


async def read(reader: asyncio.StreamReader) -> tuple[int, dict[str, Json]]:
    """The next frame's number and body. Raises EOFError at the end, Garbage, Unreadable."""
    try:
        size, number = HEADER.unpack(await reader.readexactly(HEADER.size))
        if size > LARGEST:
            raise Garbage(f"a frame of {size} bytes")
        raw = await reader.readexactly(size)
    except asyncio.IncompleteReadError:
        raise EOFError from None
    except ConnectionError as error:
        raise EOFError from error
    try:
        body = json.loads(raw)
    except (ValueError, RecursionError):
        raise Unreadable(number) from None
    if not isinstance(body, dict):
        raise Garbage("a frame that is no object")
    return number, body
