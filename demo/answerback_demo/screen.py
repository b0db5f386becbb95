"""The screen: at most one of it, progress in place, what is typed; plain lines where there is no terminal."""

import asyncio
import os
import shutil
import sys
import textwrap
from typing import TextIO

from answerback.provider import Message
from answerback.render.visible import visible

CLEAR = "\r\x1b[2K"
PROMPT = "> "
PASSAGES = 3  # of a report that fit beside the question
LINES = 2  # of each of them


class Screen:
    """What is shown, and the lines that are typed: to the question that is open, else to whoever waits."""

    def __init__(self, out: TextIO = sys.stdout, *, interactive: bool) -> None:
        self._out, self.interactive = out, interactive
        self.typed: asyncio.Queue[str] = asyncio.Queue()  # while a question is open
        self._chosen: asyncio.Queue[str | None] = asyncio.Queue()  # at other times; None: the end
        self.asked: asyncio.Queue[Message] = asyncio.Queue()
        self.form_url = ""  # of the latest question
        self._open = self._at_prompt = False
        self._rest = b""

    @property
    def _width(self) -> int:
        return min(shutil.get_terminal_size().columns, 100) if self.interactive else 100

    # -- what is shown

    def step(self, text: str) -> None:
        """What is going on; the next thing that is shown takes its place."""
        if self.interactive:
            self._out.write(f"{CLEAR}· {text} …")
            self._out.flush()
        else:
            self.line(f"· {text}")

    def line(self, text: str = "") -> None:
        """One line, in the place of a step."""
        start = CLEAR if self.interactive else ""
        self._out.write(f"{start}{visible(text)}\n{PROMPT if self._at_prompt else ''}")
        self._out.flush()

    def question(self, message: Message) -> None:
        """A question with its choices numbered, and where else it can be answered."""
        numbered = [button.label for button in message.buttons if button.label != message.placeholder]
        self.line()
        for text in (message.heading, message.title, *message.body.splitlines()):
            self.line(text)
        for number, label in enumerate(numbered, start=1):
            self.line(f"  {number}  {label}")
        own = "or write something else" if message.placeholder else "write your answer"
        self.line(f"  …  {own}" if numbered else f"  {own}")
        self.line(f"Or on the form: {message.form_url}")
        self.form_url = message.form_url
        self.asked.put_nowait(message)
        if self.interactive:
            self._open = True
            self._prompt()

    def outcome(self, message: Message) -> None:
        """How the question ended. What is typed from now on is no answer to it."""
        self._open = self._at_prompt = False
        self.line(message.title if self.interactive else f"The terminal: {message.title}")

    def said(self, message: Message) -> None:
        """Anything else that is said to Alice: in one line, what is below it stands in the report."""
        self.line(message.title)

    def report(self, markdown: str, where: str) -> None:
        """A report: whole where it can be scrolled, its beginning where it has to fit on the screen."""
        if not self.interactive:
            self.line(f"\n{markdown}")
            return
        cited = [part.strip() for part in markdown.split("\n\n") if part.strip()]
        shown = [part for part in cited[1:] if not part.startswith("The ")][: 2 * PASSAGES]
        for part in shown:
            quoted = part.startswith(">")
            lines = textwrap.wrap(part.replace("**", "").replace(" | ", " · ").lstrip("> "), self._width - 4)
            for text in lines[: LINES if quoted else 1]:
                self.line(f"    {text}" if quoted else text)
        self.line(f"The whole report: {where}")

    # -- what is typed

    def listen(self) -> None:
        """Read the terminal from now on, without ever waiting for it."""
        asyncio.get_running_loop().add_reader(sys.stdin.fileno(), self._read)

    def deaf(self) -> None:
        """Stop reading."""
        asyncio.get_running_loop().remove_reader(sys.stdin.fileno())

    async def choice(self, text: str) -> str | None:
        """A line that is typed now; None when there will be none any more."""
        self.line(text)
        self._prompt()
        chosen = await self._chosen.get()
        self._at_prompt = False
        return chosen

    def _prompt(self) -> None:
        self._at_prompt = True
        self._out.write(PROMPT)
        self._out.flush()

    def _read(self) -> None:
        found = os.read(sys.stdin.fileno(), 4096)
        if not found:
            self.deaf()
            self._chosen.put_nowait(None)
            return
        *lines, self._rest = (self._rest + found).split(b"\n")
        for raw in lines:
            text = raw.decode("utf-8", "replace").strip()
            if not self._open:
                self._chosen.put_nowait(text)
            elif text:
                self.typed.put_nowait(text)
            else:
                self._prompt()
