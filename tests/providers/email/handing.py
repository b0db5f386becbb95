"""A mail server that hands mail over by LMTP, line by line, and hears the answer for each recipient."""

import asyncio
import contextlib
from collections.abc import AsyncIterator, Iterable
from dataclasses import dataclass

ANA = "ana@x.org"
AGENT = "agent@example.org"


@dataclass(slots=True)
class MailServer:
    """One connection to where mail is taken."""

    reader: asyncio.StreamReader
    writer: asyncio.StreamWriter

    async def heard(self) -> str:
        """One answer; of several lines, all of them."""
        lines = [(await self.reader.readline()).decode()]
        while lines[-1][3:4] == "-":
            lines.append((await self.reader.readline()).decode())
        return "".join(lines).rstrip()

    def writes(self, octets: bytes) -> None:
        self.writer.write(octets)

    async def says(self, line: str) -> str:
        """A command, and the answer to it."""
        self.writes(f"{line}\r\n".encode())
        return await self.heard()

    async def hands_over(self, mail: bytes, *recipients: str, sender: str = ANA) -> list[str]:
        """A mail for these; the answer for each of them. All that was refused before is in it too."""
        names = recipients or (AGENT,)
        answers = [await self.says(f"MAIL FROM:<{sender}>")]
        answers += [await self.says(f"RCPT TO:<{name}>") for name in names]
        accepted = sum(answer.startswith("2") for answer in answers[1:])
        refused = [answer for answer in answers if not answer.startswith("2")]
        if not (await self.says("DATA")).startswith("354"):
            return refused
        self.writes(stuffed(mail))
        return refused + [await self.heard() for _ in range(accepted)]


def stuffed(mail: bytes) -> bytes:
    """A mail as it goes over the line, with its end (RFC 5321 section 4.5.2)."""
    lines: Iterable[bytes] = mail.removesuffix(b"\r\n").split(b"\r\n")
    return b"".join((b"." if line.startswith(b".") else b"") + line + b"\r\n" for line in lines) + b".\r\n"


@contextlib.asynccontextmanager
async def mail_server_at(place: str) -> AsyncIterator[MailServer]:
    """Greeted and ready, at a path or at HOST:PORT."""
    host, _, port = place.rpartition(":")
    there = asyncio.open_unix_connection(place) if not host else asyncio.open_connection(host, int(port))
    reader, writer = await there
    server = MailServer(reader, writer)
    try:
        assert (await server.heard()).startswith("220 ")
        assert (await server.says("LHLO mx.example.org")).startswith("250")
        yield server
    finally:
        writer.close()
        with contextlib.suppress(OSError):
            await writer.wait_closed()
