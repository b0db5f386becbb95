"""A command on a real pseudo-terminal of its own: what it shows there, and the keys that somebody presses."""

import errno
import fcntl
import os
import pty
import re
import select
import struct
import subprocess
import sys
import termios
import time
from collections.abc import Callable
from functools import partial
from typing import Any, Self

from tests.support.programs import Program

SECONDS = 100
# A terminal sends Ctrl-C only to those whose controlling terminal it is.
CONTROLLING = """
import fcntl, os, sys, termios
os.setsid()
fcntl.ioctl(next(filter(os.isatty, range(3))), termios.TIOCSCTTY, 0)
os.execv(sys.executable, [sys.executable, "-m", *sys.argv[1:]])
"""


def really_started(module: str, *words: str, **more: Any) -> subprocess.Popen[str]:
    """By an interpreter of its own: for what happens while it starts."""
    return subprocess.Popen([sys.executable, "-c", CONTROLLING, module, *words], text=True, **more)


class Terminal:
    """A Python module as a program, on a terminal of 24 lines and 80 columns. `more`: as `start` takes it."""

    def __init__(
        self,
        module: str,
        *arguments: str,
        start: Callable[..., subprocess.Popen[str] | Program] = partial(Program, terminal=True),
        **more: Any,
    ) -> None:
        self._master, theirs = pty.openpty()
        fcntl.ioctl(theirs, termios.TIOCSWINSZ, struct.pack("HHHH", 24, 80, 0, 0))
        streams = {"stdin": theirs, "stdout": theirs, "stderr": theirs}
        self.process = start(module, *arguments, **streams | more)
        os.close(theirs)
        self.shown = ""

    def until(self, pattern: str) -> re.Match[str]:
        """Read until this is shown."""
        deadline = time.monotonic() + SECONDS
        while not (found := re.search(pattern, self.shown)):
            ready, _, _ = select.select([self._master], [], [], max(0, deadline - time.monotonic()))
            assert ready, f"not shown in time: {pattern}\n{self.shown}"
            assert self._read(), f"never shown: {pattern}\n{self.shown}"
        return found

    def types(self, keys: str) -> None:
        os.write(self._master, keys.encode())

    def hang_up(self) -> None:
        """Close the window."""
        os.close(self._master)
        self._master = -1

    def ends(self) -> int:
        """Read to the end; the exit code, as a shell has it.

        `python -m` ends by SIGINT although a KeyboardInterrupt was handled, where that had interrupted a text
        that `exec` ran, as when a dataclass is made: CPython's `unhandled_keyboard_interrupt`.
        """
        self._drain()
        code = self.process.wait(SECONDS)
        self._drain()  # on a busy machine the end may be read before all that was shown
        return code if code >= 0 else 128 - code

    def _drain(self) -> None:
        while self._read():
            pass

    def _read(self) -> bool:
        try:
            found = os.read(self._master, 4096)
        except OSError as error:
            if error.errno != errno.EIO:  # Linux says so when the other side has closed
                raise
            return False
        self.shown += found.decode(errors="replace").replace("\x1b[2K", "")
        return bool(found)

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *exception: object) -> None:
        if self.process.poll() is None:
            self.process.kill()
            self.process.wait()
        if self._master >= 0:
            os.close(self._master)
