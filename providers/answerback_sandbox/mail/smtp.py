"""The SMTP server that the agent hands its mail to: submission with a password (RFC 5321, 4954, 6409)."""

import base64
import binascii
import re
from collections.abc import Awaitable, Callable

from answerback_sandbox.faults import FaultKind
from answerback_sandbox.mail.lines import Line
from answerback_sandbox.mail.reports import HOST
from answerback_sandbox.mail.service import Service
from answerback_sandbox.mail.world import Envelope

LARGEST = 10 << 20  # octets of a mail
MOST_RECIPIENTS = 100
PATH = re.compile(r"(FROM|TO):[ ]?<([^<>\s]*)>((?: [^\s=]+(?:=\S*)?)*)", re.IGNORECASE)
KNOWN = frozenset({"SIZE", "BODY", "SMTPUTF8"})
METHOD = "send"  # as faults call what happens here
OFFER = (
    f"250-{HOST}",
    f"250-SIZE {LARGEST}",
    "250-8BITMIME",
    "250-SMTPUTF8",
    "250-PIPELINING",
    "250-AUTH PLAIN LOGIN",
    "250 ENHANCEDSTATUSCODES",
)


class Leave(Exception):
    """The conversation ends here."""


class Submission:
    """One conversation."""

    def __init__(self, service: Service, line: Line) -> None:
        self._service, self._line = service, line
        self._account = ""
        self._sender: str | None = None
        self._recipients: list[str] = []
        self._drops = False
        self._verbs: dict[str, Callable[[str], Awaitable[None]]] = {
            "EHLO": self._ehlo,
            "HELO": self._helo,
            "AUTH": self._auth,
            "MAIL": self._mail,
            "RCPT": self._rcpt,
            "DATA": self._data,
            "RSET": self._rset,
            "NOOP": self._noop,
            "QUIT": self._quit,
        }

    async def talk(self) -> None:
        """Until the other side has said QUIT, or is gone."""
        try:
            await self._meet(FaultKind.DOWN, FaultKind.REFUSED)
            await self._line.say(f"220 {HOST} ESMTP, the sandbox's mail server")
            while (row := await self._line.read()) is not None:
                verb, _, rest = row.decode("utf-8", "replace").rstrip("\r\n").partition(" ")
                await self._obey(verb.upper(), rest.strip())
        except Leave:
            return

    async def _obey(self, verb: str, rest: str) -> None:
        deed = self._verbs.get(verb)
        if deed is not None:
            return await deed(rest)
        await self._line.say("500 5.5.2 Command not recognized")
        if rest.upper().endswith(("HTTP/1.0", "HTTP/1.1")) or verb.endswith(":"):
            raise Leave  # a browser that somebody's page sent here

    async def _meet(self, *kinds: FaultKind) -> FaultKind | None:
        """Suffer the fault that lies ahead, if it is one of these (or of any)."""
        fault = self._service.faults.take(METHOD, *kinds)
        if fault is None:
            return None
        if fault.kind is FaultKind.REFUSED:
            self._line.cut()
            raise Leave
        if fault.kind is FaultKind.DOWN:
            await self._line.say("421 4.3.2 Service not available, closing")
            raise Leave
        if fault.kind is FaultKind.SLOW:
            await self._service.wait(fault.seconds)
        return fault.kind

    # ── the verbs ──

    async def _ehlo(self, rest: str) -> None:
        self._begin_anew()
        await self._line.say(*OFFER)

    async def _helo(self, rest: str) -> None:
        self._begin_anew()
        await self._line.say(f"250 {HOST}")

    async def _noop(self, rest: str) -> None:
        await self._line.say("250 2.0.0 Ok")

    async def _rset(self, rest: str) -> None:
        self._begin_anew()
        await self._line.say("250 2.0.0 Ok")

    async def _quit(self, rest: str) -> None:
        await self._line.say("221 2.0.0 Bye")
        raise Leave

    async def _auth(self, rest: str) -> None:
        mechanism, _, first = rest.partition(" ")
        if mechanism.upper() == "PLAIN":
            name, password = _plain(first or await self._ask(""))
        elif mechanism.upper() == "LOGIN":
            name = _decoded(first or await self._ask("Username:"))
            password = _decoded(await self._ask("Password:"))
        else:
            return await self._line.say("504 5.5.4 Unrecognized authentication type")
        if not self._service.signs_in(name, password):
            return await self._line.say("535 5.7.8 Authentication credentials invalid")
        self._account = name
        await self._line.say("235 2.7.0 Authentication successful")

    async def _ask(self, prompt: str) -> str:
        await self._line.say("334 " + base64.b64encode(prompt.encode()).decode())
        row = await self._line.read()
        if row is None:
            raise Leave
        return row.decode("ascii", "replace").strip()

    async def _mail(self, rest: str) -> None:
        fault = await self._meet()
        if fault is FaultKind.RATE_LIMITED:
            return await self._line.say("451 4.7.1 Too many messages, try again later")
        if not self._account:
            return await self._line.say("530 5.7.0 Authentication required")
        path, options = _path(rest, "FROM")
        if path is None:
            return await self._line.say("501 5.5.4 Syntax: MAIL FROM:<address>")
        if set(options) - KNOWN:
            return await self._line.say("555 5.5.4 Unsupported option")
        if options.get("SIZE", "0").isdecimal() and int(options.get("SIZE", "0")) > LARGEST:
            return await self._line.say("552 5.3.4 Message too big")
        self._sender, self._drops = path, fault is FaultKind.DROPPED
        await self._line.say("250 2.1.0 Ok")

    async def _rcpt(self, rest: str) -> None:
        path, _ = _path(rest, "TO")
        if self._sender is None:
            return await self._line.say("503 5.5.1 Need MAIL first")
        if not path:
            return await self._line.say("501 5.5.4 Syntax: RCPT TO:<address>")
        if self._service.world.find(path) is None:
            return await self._line.say("550 5.1.1 There is no such mailbox in the sandbox")
        if len(self._recipients) >= MOST_RECIPIENTS:
            return await self._line.say("452 4.5.3 Too many recipients")
        self._recipients.append(path)
        await self._line.say("250 2.1.5 Ok")

    async def _data(self, rest: str) -> None:
        if self._sender is None or not self._recipients:
            return await self._line.say("503 5.5.1 Need RCPT first")
        await self._line.say("354 End with a dot in a line of its own")
        raw = await self._content()
        if raw is None:
            return await self._line.say("552 5.3.4 Message too big")
        for recipient in self._recipients:
            proved = self._service.is_from(raw, self._account)
            self._service.world.deliver(raw, Envelope(self._sender, recipient, proved))
        self._begin_anew()
        if self._drops:
            self._line.cut()
            raise Leave
        await self._line.say("250 2.0.0 Ok, delivered")

    async def _content(self) -> bytes | None:
        """The mail with doubled dots undone; None if it is too big. Ended by CRLF, dot, CRLF only."""
        raw, size, whole = bytearray(), 0, True
        while (row := await self._line.read()) is not None:
            if whole and row == b".\r\n":
                return None if size > LARGEST else bytes(raw)
            content = row[1:] if whole and row.startswith(b".") else row
            whole, size = row.endswith(b"\r\n"), size + len(content)
            if size <= LARGEST:
                raw += content
        raise Leave

    def _begin_anew(self) -> None:
        self._sender, self._recipients = None, []


def _path(rest: str, word: str) -> tuple[str | None, dict[str, str]]:
    """The address and the options of `FROM:<address> SIZE=1`, or None."""
    found = PATH.fullmatch(rest)
    if found is None or found[1].upper() != word:
        return None, {}
    options = [option.partition("=") for option in found[3].split()]
    return found[2], {name.upper(): value for name, _, value in options}


def _decoded(text: str) -> str:
    try:
        return base64.b64decode(text, validate=True).decode()
    except (binascii.Error, UnicodeDecodeError):
        return ""


def _plain(text: str) -> tuple[str, str]:
    """Name and password of RFC 4616: three fields, separated by NUL."""
    fields = _decoded(text).split("\0")
    return (fields[1], fields[2]) if len(fields) == 3 else ("", "")
