"""Lines typed at the terminal while something else goes on; the terminal itself edits and echoes them."""

import asyncio
import os
import sys
import termios

from answerback.cli import terminal

PROMPT = "› "
SECONDS = 0.5  # between looks at whether a process that was sent to the background is back


class Keyboard:
    """The terminal of this process. `find` says whether there is one."""

    def __init__(self, keys: int) -> None:
        self._keys, self._raw, self._prompts = keys, b"", False

    @classmethod
    def find(cls) -> "Keyboard | None":
        """The terminal, if somebody can be asked there: it is read and seen, and it is ours now."""
        if not all(stream.isatty() for stream in (sys.stdin, sys.stdout, sys.stderr)):
            return None
        found = cls(sys.stdin.fileno())
        return found if found._is_ours() else None

    async def line(self) -> str:
        """What is typed up to Enter; what was typed before does not count. Raises `EOFError` on Ctrl-D."""
        loop = asyncio.get_running_loop()
        typed: asyncio.Future[str] = loop.create_future()
        self._forget()
        self._prompts = True
        self._draw()
        loop.add_reader(self._keys, self._readable, typed)
        try:
            return await typed
        except BaseException:  # the prompt has no answer: what comes next stands below it
            terminal.note()
            self._forget()
            raise
        finally:
            self._prompts = False
            loop.remove_reader(self._keys)

    def say(self, text: str) -> None:
        """A line beside the prompt, which is put up again below it."""
        terminal.note(f"\n{text}" if self._prompts else text)
        if self._prompts:
            self._draw()

    def _readable(self, typed: "asyncio.Future[str]") -> None:
        if typed.done():
            return
        if not self._is_ours():
            self._later(typed)
            return
        try:
            raw = os.read(self._keys, 1 << 16)
        except OSError:  # it hung up
            raw = b""
        self._raw += raw
        if not raw:
            typed.set_exception(EOFError())
        elif self._raw.endswith(b"\n"):
            typed.set_result(self._raw.decode("utf-8", "surrogateescape").removesuffix("\n"))

    def _later(self, typed: "asyncio.Future[str]") -> None:
        """In the background, to read would stop the process, and with it the waiting."""
        loop = asyncio.get_running_loop()
        loop.remove_reader(self._keys)
        loop.call_later(SECONDS, self._again, loop, typed)

    def _again(self, loop: asyncio.AbstractEventLoop, typed: "asyncio.Future[str]") -> None:
        if not typed.done():
            loop.add_reader(self._keys, self._readable, typed)

    def _forget(self) -> None:
        """What was typed for one question must not answer another, nor reach the shell."""
        self._raw = b""
        if self._is_ours():
            termios.tcflush(self._keys, termios.TCIFLUSH)

    def _is_ours(self) -> bool:
        try:
            return os.tcgetpgrp(self._keys) == os.getpgrp()
        except OSError:  # it is nobody's, or gone
            return False

    def _draw(self) -> None:
        print(PROMPT, end="", file=sys.stderr, flush=True)
