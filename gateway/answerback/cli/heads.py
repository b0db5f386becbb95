"""How long the head of a request may be, and may take: uvicorn bounds neither; and the Date of responses.

A connection on which nothing is at work is closed after a while, whatever trickles in on it: each holds one
of the files that a process may have open.
"""

import asyncio
import contextlib
import email.utils
import functools
import resource
import time
from typing import Any

from uvicorn.protocols.http.httptools_impl import HttpToolsProtocol

LONGEST_HEAD = 64 << 10  # bytes of request line and headers
HEAD_SECONDS = 30.0  # from the connection, or the answer before, to the end of the headers
OPEN_FILES = 65_536


class BoundedHeads(HttpToolsProtocol):
    """uvicorn's protocol, which hangs up on whoever sends a head without end, in bytes or in time.

    It knows the Date of a response by itself, so that no server has to wake up for it.
    """

    def __init__(self, *arguments: Any, **more: Any) -> None:
        super().__init__(*arguments, **more)
        self._in_head, self._head = True, 0
        self._waits: asyncio.TimerHandle | None = None

    def connection_made(self, transport: asyncio.Transport) -> None:  # type: ignore[override]
        super().connection_made(transport)
        self._wait()

    def connection_lost(self, exc: Exception | None) -> None:
        self._arrived()
        super().connection_lost(exc)

    def on_message_begin(self) -> None:
        self._in_head, self._head = True, 0
        self._date()
        super().on_message_begin()

    def on_headers_complete(self) -> None:
        self._in_head = False
        self._arrived()
        super().on_headers_complete()

    def on_response_complete(self) -> None:
        super().on_response_complete()
        if self.cycle.response_complete and not self.transport.is_closing():
            self._wait()  # also for the rest of a body that nobody reads

    def send_400_response(self, msg: str) -> None:
        self._date()
        super().send_400_response(msg)

    def _date(self) -> None:
        """What uvicorn's server does once a second, whether there is work or not."""
        date = (b"date", _formatted(int(time.time())))
        self.server_state.default_headers = [date, *self.config.encoded_headers]

    def data_received(self, data: bytes) -> None:
        super().data_received(data)
        if not self._in_head:
            return
        self._head += len(data)
        if self._head > LONGEST_HEAD and not self.transport.is_closing():
            self.logger.warning("The head of a request is longer than %d bytes.", LONGEST_HEAD)
            self.send_400_response("The head of this request is too long.")

    def _wait(self) -> None:
        self._arrived()
        self._waits = self.loop.call_later(HEAD_SECONDS, self._hang_up)

    def _arrived(self) -> None:
        if self._waits is not None:
            self._waits.cancel()
            self._waits = None

    def _hang_up(self) -> None:
        if not self.transport.is_closing():
            self.transport.close()


@functools.lru_cache(maxsize=1)
def _formatted(second: int) -> bytes:
    return email.utils.formatdate(second, usegmt=True).encode()


def open_more_files() -> None:
    """Have this process open as many files, and so connections, as it may by itself: many systems begin
    with 1024, which a thousand callers that wait for an answer use up."""
    soft, hard = resource.getrlimit(resource.RLIMIT_NOFILE)
    most = OPEN_FILES if hard == resource.RLIM_INFINITY else min(hard, OPEN_FILES)
    if soft != resource.RLIM_INFINITY and soft < most:
        with contextlib.suppress(OSError, ValueError):  # some systems have a lower limit than they say
            resource.setrlimit(resource.RLIMIT_NOFILE, (most, hard))
