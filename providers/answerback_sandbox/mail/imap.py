"""The IMAP server that mailboxes are read from: what mail clients need of RFC 3501, and IDLE (RFC 2177).

There is one folder, INBOX. Not there: other folders, APPEND and COPY, parts of a mail, STARTTLS.
"""

import asyncio
import base64
import binascii
import re
from collections.abc import Awaitable, Callable

from answerback_sandbox.faults import FaultKind
from answerback_sandbox.mail.imap_view import View
from answerback_sandbox.mail.imap_words import Bad, No, Words, atom, words
from answerback_sandbox.mail.letters import SEEN
from answerback_sandbox.mail.lines import LONGEST, Line
from answerback_sandbox.mail.service import Service
from answerback_sandbox.mail.state import Mailbox

METHOD = "read"  # as faults call what happens here
CAPABILITY = "CAPABILITY IMAP4rev1 IDLE UNSELECT AUTH=PLAIN SASL-IR"
ACCESS = {"SELECT": "[READ-WRITE] ", "EXAMINE": "[READ-ONLY] "}
LITERAL = re.compile(rb"\{(\d{1,6})(\+?)\}\r?\n\Z")
GONE = (FaultKind.DOWN, FaultKind.REFUSED)
# A command of these may not hear that a mail is gone: numbers would change under it (section 7.4.1).
BY_NUMBER = frozenset({"FETCH", "STORE", "SEARCH"})


class Leave(Exception):
    """The conversation ends here."""


class Reading:
    """One conversation. `_view` is the mailbox that is selected."""

    def __init__(self, service: Service, line: Line) -> None:
        self._service, self._line = service, line
        self._box: Mailbox | None = None
        self._view: View | None = None
        self._anyone: dict[str, Callable[[str, Words], Awaitable[None]]] = {
            "CAPABILITY": self._capability,
            "NOOP": self._noop,
            "LOGOUT": self._logout,
            "LOGIN": self._login,
            "AUTHENTICATE": self._authenticate,
        }
        self._signed_in = {
            "SELECT": self._select,
            "EXAMINE": self._select,
            "LIST": self._list,
            "STATUS": self._status,
        }
        self._selected = {
            "CHECK": self._noop,
            "CLOSE": self._close,
            "UNSELECT": self._close,
            "EXPUNGE": self._expunge,
            "SEARCH": self._search,
            "FETCH": self._fetch,
            "STORE": self._store,
            "IDLE": self._idle,
        }

    async def talk(self) -> None:
        """Until the other side has said LOGOUT, or is gone."""
        try:
            await self._meet(*GONE)
            await self._line.say(f"* OK [{CAPABILITY}] the sandbox's mail server")
            while (command := await self._command()) is not None:
                await self._obey(command)
        except Leave:
            return

    async def _command(self) -> str | None:
        """One command; its literals become quoted strings."""
        text = ""
        while (row := await self._line.read()) is not None:
            literal = LITERAL.search(row)
            if literal is None:
                return text + row.decode("utf-8", "replace").rstrip("\r\n")
            size = int(literal[1])
            if size + len(text) > LONGEST:
                raise ValueError("a command that is too long")
            if not literal[2]:
                await self._line.say("+ go on")
            content = (await self._line.exactly(size)).decode("utf-8", "replace")
            escaped = re.sub(r'(["\\])', r"\\\1", content)
            text += f'{row[: literal.start()].decode("utf-8", "replace")}"{escaped}"'
        return None

    async def _obey(self, command: str) -> None:
        tag, _, rest = command.partition(" ")
        name, _, rest = rest.partition(" ")
        uid = name.upper() == "UID"
        if uid:
            name, _, rest = rest.partition(" ")
        name = name.upper()
        try:
            fault = await self._meet()
            if fault is FaultKind.RATE_LIMITED:
                raise No("[UNAVAILABLE] too many commands, try again later")
            await self._deed(name, uid)(f"UID {name}" if uid else name, words(rest))
            if fault is FaultKind.DROPPED:
                self._cut()
            await self._tell(gone=uid or name not in BY_NUMBER)
            await self._line.say(f"{tag} OK {ACCESS.get(name, '')}{name} done")
        except No as error:
            await self._line.say(f"{tag} NO {error}")
        except RecursionError:
            await self._line.say(f"{tag} BAD too deep")
        except Bad as error:
            await self._line.say(f"{tag if tag.isalnum() else '*'} BAD {error}")
            if command.upper().endswith(("HTTP/1.0", "HTTP/1.1")):
                raise Leave from None  # a browser that somebody's page sent here
        if name == "LOGOUT":
            raise Leave

    def _deed(self, name: str, uid: bool) -> Callable[[str, Words], Awaitable[None]]:
        if uid and name not in BY_NUMBER:
            raise Bad("no such command by UID")
        if name in self._anyone:
            return self._anyone[name]
        if name in self._signed_in:
            if self._box is None:
                raise No("[AUTHENTICATIONFAILED] sign in first")
            return self._signed_in[name]
        if name not in self._selected:
            raise Bad("no such command")
        if self._view is None:
            raise Bad("select a mailbox first")
        return self._selected[name]

    async def _meet(self, *kinds: FaultKind) -> FaultKind | None:
        """Suffer the fault that lies ahead, if it is one of these (or of any)."""
        fault = self._service.faults.take(METHOD, *kinds)
        if fault is None:
            return None
        if fault.kind is FaultKind.REFUSED:
            self._cut()
        if fault.kind is FaultKind.DOWN:
            await self._line.say("* BYE [UNAVAILABLE] the server is down")
            raise Leave
        if fault.kind is FaultKind.SLOW:
            await self._service.wait(fault.seconds)
        return fault.kind

    def _cut(self) -> None:
        self._line.cut()
        raise Leave

    # ── for anyone ──

    async def _capability(self, name: str, rest: Words) -> None:
        await self._line.say(f"* {CAPABILITY}")

    async def _noop(self, name: str, rest: Words) -> None:
        return

    async def _logout(self, name: str, rest: Words) -> None:
        await self._line.say("* BYE until next time")

    async def _login(self, name: str, rest: Words) -> None:
        if len(rest) != 2:
            raise Bad("LOGIN takes a name and a password")
        self._sign_in(atom(rest[0]), atom(rest[1]))

    async def _authenticate(self, name: str, rest: Words) -> None:
        if not rest or atom(rest[0]).upper() != "PLAIN":
            raise No("[CANNOT] PLAIN is what is known here")
        first = atom(rest[1]) if len(rest) > 1 else await self._ask()
        try:
            fields = base64.b64decode(first, validate=True).decode().split("\0")
        except (binascii.Error, UnicodeDecodeError):
            fields = []
        if len(fields) != 3:
            raise Bad("this is not what RFC 4616 describes")
        self._sign_in(fields[1], fields[2])

    async def _ask(self) -> str:
        await self._line.say("+ ")
        row = await self._line.read()
        if row is None:
            raise Leave
        return row.decode("ascii", "replace").strip()

    def _sign_in(self, name: str, password: str) -> None:
        if not self._service.signs_in(name, password):
            raise No("[AUTHENTICATIONFAILED] wrong name or password")
        self._box = self._service.world.box(name)

    # ── for who is signed in ──

    async def _select(self, name: str, rest: Words) -> None:
        self._view = None
        self._view = View(self._inbox(rest), self._service.changes, writable=name == "SELECT")
        await self._line.say(*self._view.greeting())

    async def _list(self, name: str, rest: Words) -> None:
        if len(rest) != 2:
            raise Bad("LIST takes a reference and a pattern")
        pattern = atom(rest[1])
        if pattern.upper() in ("*", "%", "INBOX"):
            await self._line.say('* LIST (\\HasNoChildren) "/" INBOX')
        elif not pattern:
            await self._line.say('* LIST (\\Noselect) "/" ""')

    async def _status(self, name: str, rest: Words) -> None:
        box = self._inbox(rest[:1])
        unseen = sum(SEEN not in kept.flags for kept in box.inbox)
        known = {
            "MESSAGES": len(box.inbox),
            "RECENT": 0,
            "UIDNEXT": box.next_uid,
            "UIDVALIDITY": box.validity,
            "UNSEEN": unseen,
        }
        asked = rest[1] if len(rest) == 2 and isinstance(rest[1], list) else []
        items = [atom(word).upper() for word in asked]
        if not items or set(items) - set(known):
            raise Bad("STATUS takes a list of items")
        await self._line.say(f"* STATUS INBOX ({' '.join(f'{item} {known[item]}' for item in items)})")

    def _inbox(self, rest: Words) -> Mailbox:
        if len(rest) != 1 or atom(rest[0]).upper() != "INBOX":
            raise No("[NONEXISTENT] there is no folder but INBOX")
        assert self._box is not None  # _deed has looked
        return self._box

    # ── for who has selected ──

    @property
    def _selected_view(self) -> View:
        assert self._view is not None  # _deed has looked
        return self._view

    async def _close(self, name: str, rest: Words) -> None:
        if name == "CLOSE" and self._selected_view.writable:
            self._selected_view.expunge()
        self._view = None

    async def _expunge(self, name: str, rest: Words) -> None:
        self._selected_view.expunge()

    async def _search(self, name: str, rest: Words) -> None:
        await self._tell(gone=False)
        await self._line.say(self._selected_view.search(name, rest))

    async def _fetch(self, name: str, rest: Words) -> None:
        for row in self._selected_view.fetch(name, rest):
            await self._line.say_raw(row)

    async def _store(self, name: str, rest: Words) -> None:
        await self._line.say(*self._selected_view.store(name, rest))

    async def _idle(self, name: str, rest: Words) -> None:
        """Tell what happens until the client says DONE, or the server goes down.

        What happens while something is being told is told next: so the version is noted before.
        """
        await self._line.say("+ idling")
        done = asyncio.create_task(self._line.read())
        try:
            while not done.done():
                known = self._service.changes.version
                await self._tell(gone=True)
                if self._service.changes.closed:
                    await self._line.say("* BYE the sandbox closes")
                    raise Leave
                if down := [kind for kind in GONE if self._service.faults.is_on(kind)]:
                    await self._meet(*down)
                change = asyncio.create_task(self._service.changes.after(known))
                try:
                    await asyncio.wait({done, change}, return_when=asyncio.FIRST_COMPLETED)
                finally:
                    change.cancel()
            if (row := await done) is None:
                raise Leave
        finally:
            done.cancel()
        if row.strip().upper() != b"DONE":
            raise Bad("IDLE ends with DONE")

    async def _tell(self, *, gone: bool) -> None:
        """Say what came, and (with `gone`) what went since the client was told last."""
        if self._view is not None:
            await self._line.say(*self._view.news(gone=gone))
