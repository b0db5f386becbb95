"""A log handler that holds up nobody: who reads the log may stop reading, as a terminal does after Ctrl-S."""

import contextlib
import logging
import os
import threading
from collections import deque
from typing import Any

MOST = 1 << 20  # characters that wait to be read; what comes then is counted, and left out
LAST = 1.0  # seconds in which the last lines can be read when the process ends
LOST = "nobody read this log for a while; %s events are left out here"


class Unhindered(logging.StreamHandler[Any]):
    """Lines go to the stream in a thread of its own.

    Where the stream is a file of the system they are written around Python's buffer: a thread that hangs in
    one of those would let the interpreter abort at its end.
    """

    def __init__(self, stream: Any) -> None:
        super().__init__(stream)
        self._lines: deque[str] = deque()
        self._waiting = self._lost = 0
        self._changed = threading.Condition()
        self._thread: threading.Thread | None = None

    def emit(self, record: logging.LogRecord) -> None:
        try:
            line = self.format(record) + self.terminator
        except Exception:
            self.handleError(record)
            return
        with self._changed:
            if self._waiting + len(line) > MOST:
                self._lost += 1
                return
            self._lines.append(line)
            self._waiting += len(line)
            self._changed.notify_all()
            if self._thread is None:
                self._thread = threading.Thread(target=self._write, name="log", daemon=True)
                self._thread.start()

    def flush(self) -> None:
        """Wait until all is written, but not for somebody who reads nothing."""
        with self._changed:
            self._changed.wait_for(lambda: not self._waiting, LAST)

    def _write(self) -> None:
        while True:
            with self._changed:
                self._changed.wait_for(lambda: self._lines)
                lines, lost = "".join(self._lines), self._lost
                self._lines.clear()
                self._lost = 0
            if lost:
                lines += self.format(_left_out(lost)) + self.terminator
            with contextlib.suppress(OSError, ValueError):  # nobody will read it any more
                _put(self.stream, lines)
            with self._changed:
                self._waiting = sum(map(len, self._lines))
                self._changed.notify_all()


def _left_out(number: int) -> logging.LogRecord:
    return logging.LogRecord("answerback.log", logging.WARNING, "", 0, LOST, (number,), None)


def _put(stream: Any, text: str) -> None:
    """Write all of it, however long that takes. Raises OSError or ValueError if the stream is closed."""
    try:
        number = stream.fileno()
    except (AttributeError, OSError):  # not the system's
        stream.write(text)
        stream.flush()
        return
    left = memoryview(text.encode(stream.encoding or "utf-8", "backslashreplace"))
    while left:
        left = left[os.write(number, left) :]
