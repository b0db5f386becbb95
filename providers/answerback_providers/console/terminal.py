"""A terminal that a person types into while the gateway goes on: a prompt that logs do not tear apart."""

import asyncio
import atexit
import codecs
import logging
import os
import termios
import threading
import unicodedata
from collections.abc import Callable
from typing import Any

from answerback_providers.console.editor import Editor

BACK = "\r\x1b[K"  # to the line's beginning, and clear it
WIDTH = 80
MOST_UNSENT = 1 << 18  # bytes kept for a terminal that takes none


class Terminal:
    """Two file descriptors of one terminal. Every complete line goes to `taken`, `None` for Ctrl-D.

    Keys come one by one (Ctrl-C still interrupts), and the terminal's own modes are restored by `close`.
    """

    def __init__(self, keys: int, screen: int) -> None:
        self._keys, self._screen = keys, screen
        self._editor, self._decoder = Editor(), codecs.getincrementaldecoder("utf-8")("replace")
        self._prompt, self._lock = "", threading.RLock()
        self._before: list[Any] | None = None
        self._loop: asyncio.AbstractEventLoop | None = None
        self._out, self._unsent, self._waits = -1, b"", False
        self._redirected: list[tuple[logging.StreamHandler[Any], Any]] = []
        self._taken: Callable[[str | None], None] = lambda line: None
        self._gone: Callable[[], None] = lambda: None

    @property
    def is_there(self) -> bool:
        """Whether both are a terminal, and it is ours: a process in the background must not touch it."""
        try:
            if not (os.isatty(self._keys) and os.isatty(self._screen)):
                return False
            return os.tcgetpgrp(self._keys) == os.getpgrp()
        except OSError:  # nobody's controlling terminal, such as one that a test has opened
            return os.isatty(self._keys) and os.isatty(self._screen)

    def open(self, taken: Callable[[str | None], None], gone: Callable[[], None]) -> None:
        """Begin to read keys; `gone` is called when the terminal hangs up."""
        self._taken, self._gone = taken, gone
        self._loop = asyncio.get_running_loop()
        # Opened once more, so that it never blocks here and still does for whoever shares the other.
        self._out = os.open(os.ttyname(self._screen), os.O_WRONLY | os.O_NOCTTY | os.O_NONBLOCK)
        self._before = termios.tcgetattr(self._keys)
        modes = termios.tcgetattr(self._keys)
        modes[0] &= ~termios.IXON  # a Ctrl-S would hold up whoever writes
        modes[3] &= ~(termios.ICANON | termios.ECHO)
        modes[6][termios.VMIN], modes[6][termios.VTIME] = 1, 0
        termios.tcsetattr(self._keys, termios.TCSANOW, modes)
        atexit.register(self._restore)
        self._loop.add_reader(self._keys, self._readable)
        self._take_logs()

    def close(self) -> None:
        """Give the terminal back as it was."""
        if self._before is None or self._loop is None:
            return
        self._loop.remove_reader(self._keys)
        for handler, stream in self._redirected:
            handler.setStream(stream)
        self._redirected = []
        with self._lock:
            if self._prompt:
                self._write("\n")
            self._prompt, self._unsent = "", b""
            self._loop.remove_writer(self._out)
            os.close(self._out)
            self._out = -1
        self._restore()
        atexit.unregister(self._restore)

    def ask(self, prompt: str) -> None:
        """Show a prompt and take a line after it; "" for none. What was typed before does not count."""
        with self._lock:
            self._editor.clear()
            self._prompt = prompt
            self._draw()

    def say(self, text: str) -> None:
        """Write lines above the prompt."""
        with self._lock:
            self._write(f"{BACK}{text}\n")
            self._draw()

    def beside(self, text: str) -> None:
        """Let another text through to the terminal, and put the prompt back below it."""
        with self._lock:
            if self._prompt:
                self._write(BACK)
            self._write(text)
            if self._prompt and text.endswith("\n"):
                self._draw()

    def _readable(self) -> None:
        try:
            raw = os.read(self._keys, 4096)
        except BlockingIOError:
            return
        except OSError:  # EIO: it hung up
            raw = b""
        if not raw:
            asyncio.get_running_loop().remove_reader(self._keys)
            self._gone()
            return
        for line in self._editor.feed(self._decoder.decode(raw)):
            if self._prompt:
                self._finish(line)
            self._taken(line)
        with self._lock:
            self._draw()

    def _finish(self, line: str | None) -> None:
        """What was typed stays on the screen, and the next text begins below it."""
        with self._lock:
            self._write(f"{BACK}{self._prompt}{line or ''}\n")

    def _draw(self) -> None:
        if self._prompt:
            self._write(f"{BACK}{self._prompt}{_end(self._editor.typed, self._room())}")

    def _room(self) -> int:
        try:
            columns = os.get_terminal_size(self._screen).columns or WIDTH
        except OSError:
            columns = WIDTH
        return max(10, columns - _width(self._prompt) - 1)

    def _write(self, text: str) -> None:
        """Write without waiting: a terminal that takes nothing must hold up nobody. From any thread."""
        with self._lock:
            self._unsent = (self._unsent + text.encode("utf-8", "replace"))[-MOST_UNSENT:]
            self._flush()

    def _flush(self) -> None:
        with self._lock:
            if self._out < 0 or self._loop is None:
                return
            try:
                while self._unsent:
                    self._unsent = self._unsent[os.write(self._out, self._unsent) :]
            except BlockingIOError:
                if not self._waits:
                    self._waits = True
                    self._loop.call_soon_threadsafe(self._wait)
            except OSError:  # it is gone, and whoever reads its keys hears of that
                self._unsent = b""

    def _wait(self) -> None:
        """Go on when the terminal takes something again."""
        if self._loop is not None and self._out >= 0:
            self._loop.add_writer(self._out, self._writable)

    def _writable(self) -> None:
        if self._loop is not None:
            self._loop.remove_writer(self._out)
        self._waits = False
        self._flush()

    def _restore(self) -> None:
        before, self._before = self._before, None
        if before is not None:
            try:
                termios.tcsetattr(self._keys, termios.TCSANOW, before)
            except (termios.error, OSError):  # it is gone
                return

    def _take_logs(self) -> None:
        for handler in logging.getLogger().handlers:
            if isinstance(handler, logging.StreamHandler) and self._is_ours(handler.stream):
                self._redirected.append((handler, handler.stream))
                handler.setStream(Beside(self))

    def _is_ours(self, stream: Any) -> bool:
        """Whether it leads to the same terminal."""
        try:
            return bool(os.ttyname(stream.fileno()) == os.ttyname(self._screen))
        except (OSError, ValueError, AttributeError):  # no terminal, closed, no file at all
            return False


class Beside:
    """A stream to the same terminal, whose lines go above the prompt."""

    def __init__(self, terminal: Terminal) -> None:
        self._terminal = terminal

    def write(self, text: str) -> int:
        self._terminal.beside(text)
        return len(text)

    def flush(self) -> None:
        """It was flushed when it was written."""


def _width(text: str) -> int:
    """Columns that a text takes; Chinese characters take two."""
    return sum(2 if unicodedata.east_asian_width(each) in "WF" else 1 for each in text)


def _end(text: str, columns: int) -> str:
    """The end of a text that fits into so many columns: one line stays one line."""
    if _width(text) <= columns:
        return text
    kept = ""
    for each in reversed(text):
        if _width(each + kept) >= columns:
            break
        kept = each + kept
    return f"…{kept}"
