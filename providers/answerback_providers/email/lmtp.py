"""One conversation by LMTP (RFC 2033): a mail server hands mail over, and hears what became of it.

Each recipient is answered for after DATA, with 250 only once the mail is committed; after a 4xx the mail
server keeps the mail and comes again. Written here because the library at hand announces no PIPELINING,
gives one answer for all recipients when a mail is too long, and logs addresses.
"""

import asyncio
import contextlib
import logging
import re
from asyncio import IncompleteReadError, LimitOverrunError, StreamReader, StreamWriter
from collections.abc import Awaitable, Callable

from answerback_providers.email.addresses import Mailbox, mailbox
from answerback_providers.email.head import LONGEST_MAIL

log = logging.getLogger(__name__)
LONGEST_HANDED = 32 << 20  # octets; of more than 8 MiB only the beginning is kept, and it decides nothing
LONGEST_COMMAND = 2048  # octets; RFC 5321 section 4.5.3.1.4 asks for 512, its extensions for some more
MOST_RECIPIENTS = 100  # RFC 5321 section 4.5.3.1.8
MOST_FAULTS = 20  # refused commands, after which nobody listens any more
COMMAND = 300.0  # seconds until the next command, RFC 5321 section 4.5.3.2.7
CONTENT = 600.0  # seconds for one whole mail
COMMIT = 60.0  # seconds until a mail server is told to come again
PATH = r"<([^<>\x00-\x1f\x7f]*)>"  # what a line break in it could write into the mail, is refused
FROM = re.compile(rf"FROM: ?{PATH}((?: +\S+)*)", re.IGNORECASE)
TO = re.compile(rf"TO: ?{PATH}((?: +\S+)*)", re.IGNORECASE)
SIZE = re.compile(r"SIZE=(\d{1,20})", re.IGNORECASE)
ANNOUNCED = re.compile(r"SIZE=\d{1,20}|BODY=(7BIT|8BITMIME)|SMTPUTF8", re.IGNORECASE)
EXTENSIONS = ("PIPELINING", "ENHANCEDSTATUSCODES", "8BITMIME", "SMTPUTF8", f"SIZE {LONGEST_HANDED}")
FINE, TOO_LONG = "250 2.0.0 Ok", "552 5.3.4 This mail is longer than is taken here"
AGAIN = "451 4.3.0 This mail could not be stored yet, please try again"
Deliver = Callable[[bytes], Awaitable[None]]


class Conversation:
    """What one mail server says over a connection. `deliver` returns when a mail is committed, or raises."""

    def __init__(self, reader: StreamReader, writer: StreamWriter, own: Mailbox, deliver: Deliver) -> None:
        self._reader, self._writer, self._own, self._deliver = reader, writer, own, deliver
        self._verbs: dict[str, Callable[[str], str]] = {
            "MAIL": self._mail,
            "RCPT": self._rcpt,
            "NOOP": lambda _: FINE,
            "VRFY": lambda _: "252 2.1.5 Hand it over, and you will hear",
            "HELO": lambda _: "500 5.5.1 This is LMTP: say LHLO",
            "EHLO": lambda _: "500 5.5.1 This is LMTP: say LHLO",
        }
        self._greeted = False
        self._begin()

    def _begin(self) -> None:
        self._sender: str | None = None
        self._recipients: list[str] = []

    async def hold(self) -> None:
        """Talk until the other side leaves, is silent for too long, or makes no sense."""
        with contextlib.suppress(TimeoutError, IncompleteReadError, ConnectionError):
            await self._say(f"220 {self._own.domain} LMTP answerback")
            faults = 0
            while faults < MOST_FAULTS:
                verb, rest = await self._command()
                if verb == "QUIT":
                    return await self._say("221 2.0.0 Goodbye")
                answer = await self._answer(verb, rest)
                faults += answer.startswith("5")
                await self._say(answer)
            await self._say("421 4.7.0 Too many commands that make no sense here")

    async def _answer(self, verb: str, rest: str) -> str:
        if verb == "LHLO":
            self._greeted = True
            self._begin()
            return "\r\n".join([f"250-{self._own.domain}", *(f"250-{name}" for name in EXTENSIONS[:-1])]) + (
                f"\r\n250 {EXTENSIONS[-1]}"
            )
        if verb == "RSET":
            self._begin()
            return FINE
        if verb == "DATA":
            return await self._data(rest)
        known = self._verbs.get(verb)
        return known(rest) if known else "500 5.5.2 This command is not known here"

    def _mail(self, rest: str) -> str:
        found = FROM.fullmatch(rest)
        if not self._greeted or self._sender is not None:
            return "503 5.5.1 First LHLO, and one MAIL for each mail"
        if found is None:
            return "501 5.5.4 Say MAIL FROM:<address>"
        parameters = found[2].split()
        if not all(ANNOUNCED.fullmatch(each) for each in parameters):
            return "555 5.5.4 A parameter of MAIL that was not offered"
        sizes = [int(size[1]) for each in parameters if (size := SIZE.fullmatch(each))]
        if sizes and max(sizes) > LONGEST_HANDED:
            return TOO_LONG
        self._sender = found[1]
        return "250 2.1.0 Ok"

    def _rcpt(self, rest: str) -> str:
        found = TO.fullmatch(rest)
        if self._sender is None:
            return "503 5.5.1 First MAIL"
        if found is None:
            return "501 5.1.3 Say RCPT TO:<address>"
        if found[2]:
            return "555 5.5.4 A parameter of RCPT that was not offered"
        if not self._lives_here(found[1]):
            return "550 5.1.1 Nobody of this name lives here"
        if len(self._recipients) >= MOST_RECIPIENTS:
            return "452 4.5.3 Too many recipients of one mail"
        self._recipients.append(found[1])
        return "250 2.1.5 Ok"

    def _lives_here(self, address: str) -> bool:
        try:
            return self._own.holds(mailbox(address))
        except ValueError:
            return False

    async def _data(self, rest: str) -> str:
        """Take the mail; one answer for each recipient, in their order (RFC 2033 section 4.2)."""
        if rest:
            return "501 5.5.4 DATA takes no parameter"
        if not self._recipients:
            return "503 5.5.1 First MAIL, and a RCPT that is accepted"
        await self._say("354 Go on, and end with a dot in a line of its own")
        async with asyncio.timeout(CONTENT):
            content, length = await self._content()
        envelope = _envelope(self._sender or "", self._recipients)
        answer = TOO_LONG if length > LONGEST_HANDED else await self._delivered(envelope + content)
        answers = [answer] * len(self._recipients)
        self._begin()
        return "\r\n".join(answers)

    async def _delivered(self, mail: bytes) -> str:
        try:
            async with asyncio.timeout(COMMIT):
                await self._deliver(mail[: LONGEST_MAIL + 1])
        except Exception as error:  # whatever it was, the mail server still has the mail
            log.warning("a mail was not stored, and is left with its mail server: %s", type(error).__name__)
            return AGAIN
        return FINE

    async def _content(self) -> tuple[bytes, int]:
        """The mail without transparency dots (RFC 5321 section 4.5.2), and how long it really was."""
        kept, length, starts = bytearray(), 0, True
        while (piece := await self._piece()) != b".\r\n" or not starts:
            line = piece[1:] if starts and piece.startswith(b".") else piece
            length += len(line)
            kept += line[: max(0, LONGEST_MAIL + 1 - len(kept))]
            starts = piece.endswith(b"\r\n")
        return bytes(kept), length

    async def _command(self) -> tuple[str, str]:
        """A verb in upper case, and what follows it; nothing of a line that is too long."""
        async with asyncio.timeout(COMMAND):
            line = piece = await self._piece()
            while not piece.endswith(b"\r\n"):
                piece = await self._piece()
        if len(line) > LONGEST_COMMAND or piece is not line:
            return "", ""
        verb, _, rest = line.decode("utf-8", "replace").strip().partition(" ")
        return verb.upper(), rest.strip()

    async def _piece(self) -> bytes:
        """A line with its end, or as much of a very long one as has come. Raises when nothing more comes."""
        try:
            return await self._reader.readuntil(b"\r\n")
        except LimitOverrunError as error:
            return await self._reader.read(error.consumed)

    async def _say(self, answer: str) -> None:
        self._writer.write(answer.encode() + b"\r\n")
        await self._writer.drain()


def _envelope(sender: str, recipients: list[str]) -> bytes:
    """The envelope on top of the mail, as final delivery writes it (RFC 5321 section 4.4)."""
    names = [("Return-Path", sender), *(("Delivered-To", name) for name in dict.fromkeys(recipients))]
    return "".join(f"{header}: <{name}>\r\n" for header, name in names).encode()
