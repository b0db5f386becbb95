"""Somebody at a real pseudo-terminal: what stands on their screen, and their keys."""

import asyncio
import os
import termios
from collections.abc import Iterator
from contextlib import contextmanager

SECONDS = 20.0


class Person:
    """`terminal` is what the console is given; `screen` is all that was ever written to it."""

    def __init__(self) -> None:
        self._ours, self.terminal = os.openpty()
        os.set_blocking(self._ours, False)
        self._came, self._raw = asyncio.Event(), b""
        self.looks()

    def looks(self) -> None:
        asyncio.get_running_loop().add_reader(self._ours, self._read)

    def looks_away(self) -> None:
        """What is written from now on stays where it is."""
        asyncio.get_running_loop().remove_reader(self._ours)

    @property
    def screen(self) -> str:
        return self._raw.decode(errors="replace").replace("\r\n", "\n")

    @property
    def lines(self) -> list[str]:
        """What stands there in the end: a line that was drawn anew counts as it was drawn last."""
        return [line.rpartition("\x1b[K")[2].rpartition("\r")[2] for line in self.screen.split("\n")]

    def types(self, keys: str) -> None:
        os.write(self._ours, keys.encode())

    async def sees(self, text: str, times: int = 1) -> None:
        """Until it stands on the screen so many times."""
        try:
            async with asyncio.timeout(SECONDS):
                while self.screen.count(text) < times:
                    self._came.clear()
                    await self._came.wait()
        except TimeoutError:
            raise AssertionError(f"{text!r} never came:\n{self.screen}") from None

    def hang_up(self) -> None:
        """Close the window."""
        self.leave()

    def leave(self) -> None:
        if self._ours >= 0:
            asyncio.get_running_loop().remove_reader(self._ours)
            os.close(self._ours)
            self._ours = -1

    def _read(self) -> None:
        try:
            self._raw += os.read(self._ours, 65536)
        except OSError:
            asyncio.get_running_loop().remove_reader(self._ours)
        self._came.set()


@contextmanager
def person() -> Iterator[Person]:
    found = Person()
    try:
        yield found
    finally:
        found.leave()
        os.close(found.terminal)


def is_cooked(terminal: int) -> bool:
    """Whether the terminal edits lines and echoes by itself again."""
    modes = termios.tcgetattr(terminal)[3]
    return bool(modes & termios.ICANON and modes & termios.ECHO)
