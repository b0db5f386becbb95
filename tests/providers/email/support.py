"""A real mail server on loopback that can be told how to answer, and the messages that the tests send."""

import asyncio
import contextlib
import dataclasses
import ssl
from collections.abc import AsyncIterator, Awaitable, Callable
from typing import Any

from aiosmtpd.smtp import SMTP, AuthResult, Envelope, LoginPassword, Session

from answerback.provider import Address, Button, Message, MessageKind, ProviderContext
from answerback_providers.email import Email, EmailSettings

TOKEN = "k3c9x7m2q8w4e6r1t5y0u2b7n4"
FORM = f"https://ask.example.org/f/{TOKEN}"
PASSWORD = "correct horse"

QUESTION = Message(
    to=Address("email", "alice@example.org", "alice@example.org"),
    kind=MessageKind.QUESTION,
    heading="Research · term check",
    title="Search for “PSR best costing practices”?",
    body="I found 0 documents with “costing”, 214 with “coding”.",
    buttons=(Button("Yes", data="yes"), Button("Use “coding”", data="coding")),
    footer="If you do nothing by 18:00 I stop. · #K7Q2",
    form_url=FORM,
    token=TOKEN,
    code="K7Q2",
    delivery_id="delivery-1",
)


def question(**changes: Any) -> Message:
    return dataclasses.replace(QUESTION, **changes)


def settings(**smtp: Any) -> EmailSettings:
    server = {"host": "localhost", "security": "plain", **smtp}
    return EmailSettings.model_validate({"address": "agent@example.org", "smtp": server})


def email(configured: EmailSettings) -> Email:
    return Email("email", configured, ProviderContext(public_url="https://ask.example.org"))


class Mailroom:
    """What the server took, and how it answers: `answers` maps a verb to a reply, or to another deed."""

    def __init__(self) -> None:
        self.answers: dict[str, str | Callable[[SMTP], Awaitable[str]]] = {}
        self.mails: list[Envelope] = []
        self.verbs: list[str] = []
        self.needs_sign_in = False
        self.encrypted = False
        self.port = 0

    async def handle_MAIL(
        self, server: SMTP, session: Session, envelope: Envelope, address: str, options: list[str]
    ) -> str:
        self.encrypted = server.transport.get_extra_info("sslcontext") is not None
        envelope.mail_from, envelope.mail_options = address, options
        if self.needs_sign_in and not session.authenticated:
            return "530 5.7.0 Authentication required"
        return await self.say(server, "MAIL")

    async def handle_RCPT(
        self, server: SMTP, session: Session, envelope: Envelope, address: str, options: list[str]
    ) -> str:
        envelope.rcpt_tos.append(address)
        return await self.say(server, "RCPT")

    async def handle_DATA(self, server: SMTP, session: Session, envelope: Envelope) -> str:
        self.mails.append(envelope)
        return await self.say(server, "DATA")

    async def handle_QUIT(self, server: SMTP, session: Session, envelope: Envelope) -> str:
        return await self.say(server, "QUIT", "221 Bye")

    def authenticate(
        self, server: SMTP, session: Session, envelope: Envelope, mechanism: str, data: Any
    ) -> AuthResult:
        self.verbs.append("AUTH")
        right = isinstance(data, LoginPassword) and data.password == PASSWORD.encode()
        return AuthResult(success=right, handled=False)  # let aiosmtpd answer

    async def say(self, server: SMTP, verb: str, usual: str = "250 2.0.0 Ok") -> str:
        self.verbs.append(verb)
        answer = self.answers.get(verb, usual)
        return answer if isinstance(answer, str) else await answer(server)


async def hang(server: SMTP) -> str:
    """Never answer."""
    return await asyncio.get_running_loop().create_future()


async def drop(server: SMTP) -> str:
    """Cut the connection instead of answering."""
    server.transport.abort()
    return "250 nobody hears this"


@contextlib.asynccontextmanager
async def mail_server(
    *, tls: ssl.SSLContext | None = None, starttls: ssl.SSLContext | None = None, utf8: bool = False
) -> AsyncIterator[Mailroom]:
    """An SMTP server (aiosmtpd) in this event loop, with implicit TLS, with STARTTLS, or in clear."""
    room, loop = Mailroom(), asyncio.get_running_loop()
    sessions: list[SMTP] = []

    def session() -> SMTP:
        sessions.append(
            SMTP(
                room,
                loop=loop,
                hostname="mail.test",
                tls_context=starttls,
                auth_require_tls=starttls is not None,
                authenticator=room.authenticate,
                enable_SMTPUTF8=utf8,
            )
        )
        return sessions[-1]

    server = await loop.create_server(session, "127.0.0.1", 0, ssl=tls)
    room.port = server.sockets[0].getsockname()[1]
    try:
        yield room
    finally:
        server.close()
        await asyncio.gather(*(end(one) for one in sessions))
        await server.wait_closed()


async def end(session: SMTP) -> None:
    """Close what a session left open: one whose TLS handshake failed waits for ever."""
    for transport in (session.transport, session._original_transport):
        if isinstance(transport, asyncio.Transport):
            transport.abort()
    if session._handler_coroutine is not None:
        session._handler_coroutine.cancel()
        await asyncio.gather(session._handler_coroutine, return_exceptions=True)


@contextlib.asynccontextmanager
async def listener(
    script: dict[str, str], greeting: str = "220 old.test"
) -> AsyncIterator[tuple[int, list[str]]]:
    """A bare server that knows only the lines of `script`; its port, and every line that it was sent."""
    heard: list[str] = []

    tasks: set[asyncio.Task[None]] = set()

    async def serve(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        tasks.add(asyncio.current_task())
        with contextlib.suppress(OSError):
            writer.write(f"{greeting}\r\n".encode())
            while line := (await reader.readline()).decode(errors="replace").strip():
                heard.append(line)
                answer = script.get(line.partition(" ")[0].upper())
                if answer is None:
                    break
                writer.write(f"{answer}\r\n".encode())
                await writer.drain()
        writer.close()
        with contextlib.suppress(OSError):
            await writer.wait_closed()

    server = await asyncio.start_server(serve, "127.0.0.1", 0)
    try:
        yield server.sockets[0].getsockname()[1], heard
    finally:
        server.close()
        await asyncio.gather(*tasks)
