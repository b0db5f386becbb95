"""The sandbox alone: options, what is printed, and serving until it is told to stop."""

import asyncio
import contextlib
import signal
from collections.abc import Callable

from answerback_sandbox.endpoints import Json, endpoints
from answerback_sandbox.errors import SandboxError
from answerback_sandbox.sandbox import Sandbox

PORT, SMTP_PORT, IMAP_PORT = 8710, 8711, 8712


def equipped(box: Sandbox, names: list[str], webhook: str) -> Sandbox:
    """The sandbox with more people and the webhook. Raises SandboxError."""
    box.twilio.webhook(webhook)
    return with_people(box, names)


def with_people(box: Sandbox, names: list[str]) -> Sandbox:
    """Add people beside Ana, numbered from 1002 on. Raises SandboxError for a name that is none."""
    for number, name in enumerate(names, start=1002):
        if not name.strip():
            raise SandboxError("a person needs a name")
        box.add_person(number, name.strip())
    return box


async def stand(
    box: Sandbox, host: str, port: int, smtp_port: int, imap_port: int, tell: Callable[[Json], None]
) -> None:
    """Serve until SIGINT or SIGTERM; `tell` gets what to connect to. Raises NotLoopback, OSError."""
    stopped = asyncio.Event()
    loop = asyncio.get_running_loop()
    for number in (signal.SIGINT, signal.SIGTERM):
        with contextlib.suppress(NotImplementedError):
            loop.add_signal_handler(number, stopped.set)
    async with box.serve(host, port, smtp_port=smtp_port, imap_port=imap_port):
        tell(endpoints(box))
        await stopped.wait()


def lines(found: Json) -> list[str]:
    """What to put into a bot's settings, for a person to read."""
    telegram, whatsapp, mail = found["telegram"], found["whatsapp"], found["mail"]
    smtp, imap = (f"{mail[name]['host']}:{mail[name]['port']}" for name in ("smtp", "imap"))
    rows = [
        ("phone", found["phone"]),
        ("control", found["control"]),
        ("telegram", f"base {telegram['bot_api']}"),
        ("", f"files {telegram['file_api']}"),
        ("", f"token {telegram['token']}"),
        ("whatsapp", f"base {whatsapp['api_base']}"),
        ("", f"sender {whatsapp['sender']}"),
        ("", f"account {whatsapp['account_sid']}"),
        ("", f"auth token {whatsapp['auth_token']}"),
        ("", f"template {whatsapp['content_sid']}"),
        ("", f"template for yes or no {whatsapp['confirm_content_sid']}"),
        ("mail", f"smtp {smtp}  imap {imap}  neither encrypted"),
        ("", f"user {mail['username']}"),
        ("", f"password {mail['password']}"),
        ("", f"Authentication-Results by {mail['authserv_id']}"),
    ]
    rows += [(each["name"], f"{each['id']}  {each['whatsapp']}  {each['mail']}") for each in found["people"]]
    return [f"{label:<10}{text}".rstrip() for label, text in rows]
