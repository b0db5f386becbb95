"""What a worker prints: a few lines a second go to the log, the rest is counted and dropped unread."""

import asyncio
import time
from collections.abc import Callable
from typing import cast

RATE = 5.0  # lines a second, on average
BURST = 20  # lines at once, after silence
LONGEST_LINE = 500  # bytes
SUMMARY = 5.0  # seconds between two sentences about what was dropped
TAIL = 1000  # bytes kept as last words


class Printed(asyncio.Protocol):
    """One of a worker's two outputs; `show` is given each line that is not dropped, as text."""

    def __init__(self, show: Callable[[str], None], clock: Callable[[], float] = time.monotonic) -> None:
        self._show, self._clock = show, clock
        self._allowed, self._since = float(BURST), clock()
        self._line = bytearray()
        self._cut = False  # the line that began is longer than what is shown of it
        self._skipping = False  # inside a line that is dropped
        self._lines = self._bytes = 0  # dropped since the last summary
        self._timer: asyncio.TimerHandle | None = None
        self._tail = b""
        self._transport: asyncio.ReadTransport | None = None
        self.over = asyncio.get_running_loop().create_future()

    def connection_made(self, transport: asyncio.BaseTransport) -> None:
        self._transport = cast(asyncio.ReadTransport, transport)

    def data_received(self, data: bytes) -> None:
        self._tail = (self._tail + data[-TAIL:])[-TAIL:]
        now = self._clock()
        self._allowed = min(float(BURST), self._allowed + (now - self._since) * RATE)
        self._since = now
        start = 0
        while start < len(data) and (self._skipping or self._allowed >= 1):
            end = data.find(b"\n", start)
            stop = len(data) if end < 0 else end
            if self._skipping:
                self._count(int(end >= 0), stop - start)
            else:
                self._add(data[start:stop])
            if end < 0:
                return
            self._end_line()
            start = end + 1
        if start < len(data):
            self._drop(data[start:])

    def _add(self, part: bytes) -> None:
        room = max(0, LONGEST_LINE - len(self._line))
        self._line += part[:room]
        if len(part) > room:
            self._cut = True
            self._count(0, len(part) - room)

    def _end_line(self) -> None:
        if self._line:
            self._allowed -= 1
            self._show(self._line.decode("utf-8", "replace").rstrip("\r") + (" …" if self._cut else ""))
        self._line.clear()
        self._cut = self._skipping = False

    def _drop(self, data: bytes) -> None:
        """Count without looking at each line."""
        self._count(data.count(b"\n"), len(self._line) + len(data))
        self._line.clear()
        self._cut, self._skipping = False, not data.endswith(b"\n")

    def _count(self, lines: int, size: int) -> None:
        self._lines, self._bytes = self._lines + lines, self._bytes + size
        if self._timer is None:
            self._timer = asyncio.get_running_loop().call_later(SUMMARY, self._sum_up)

    def _sum_up(self) -> None:
        if self._timer is not None:
            self._timer.cancel()
            self._timer = None
        if self._bytes:
            self._show(f"… {self._lines} more lines are not shown ({self._bytes} bytes)")
        self._lines = self._bytes = 0

    def connection_lost(self, error: Exception | None) -> None:
        if self._line and self._allowed >= 1:
            self._end_line()
        self._sum_up()
        if not self.over.done():
            self.over.set_result(None)

    def close(self) -> None:
        """Stop reading."""
        if self._transport is not None:
            self._transport.close()

    @property
    def last_words(self) -> str:
        """The last line that was printed, shown or not."""
        lines = self._tail.decode("utf-8", "replace").split("\n")
        return next((line.strip() for line in reversed(lines) if line.strip()), "")[:LONGEST_LINE]
