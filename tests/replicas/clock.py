"""A clock that several processes share: the real time, and what a test has put on top of it."""

import mmap
import struct
import time
from pathlib import Path


class SharedClock:
    """Microseconds since the epoch. `advance` lets time pass for every process that has the file."""

    def __init__(self, file: Path) -> None:
        if not file.exists():
            file.write_bytes(struct.pack("q", 0))
        with file.open("r+b") as opened:
            self._ahead = mmap.mmap(opened.fileno(), 8)

    def __call__(self) -> int:
        (ahead,) = struct.unpack("q", self._ahead[:])
        return time.time_ns() // 1000 + int(ahead)

    def advance(self, seconds: float) -> None:
        (ahead,) = struct.unpack("q", self._ahead[:])
        self._ahead[:] = struct.pack("q", ahead + round(seconds * 1e6))
