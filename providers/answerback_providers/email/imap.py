"""The mailbox that answers come to, read by IMAP in one thread: search, fetch, flag, IDLE, and begin again.

How far it was read is `UIDVALIDITY:UID` (RFC 9051 section 2.3.1.1), committed by the core with the mails.
A mail is flagged as seen only once a cursor that stands behind it comes back: then the commit happened.
"""

import asyncio
import contextlib
import imaplib
import re
import socket
import ssl
import threading
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass, field
from datetime import UTC, datetime, timedelta
from typing import TypeVar

import imap_tools

from answerback.provider import ProviderError, TryLater
from answerback_providers.email import certificates
from answerback_providers.email.head import LONGEST_MAIL
from answerback_providers.email.settings import Imap, Security
from answerback_providers.email.smtp import LATER, MUCH_LATER, SOON

SILENCE = 20  # seconds for one answer of the server
IDLE = 300.0  # seconds; a NAT forgets a silent connection soon after
GOODBYE = 2.0  # seconds
NO_IDLE = 30.0  # seconds between two looks where the server knows no IDLE
MOST, ENOUGH = 20, LONGEST_MAIL  # mails of one batch, and octets after which it is closed
LOOK_BACK = timedelta(days=14)  # where no cursor says how far it was read
SEEN, EXISTS = r"(\Seen)", "EXISTS"
FOR_NOW = re.compile(rb"\[(?:UNAVAILABLE|INUSE)[\] ]", re.IGNORECASE)  # RFC 5530 section 3
T = TypeVar("T")


@dataclass(frozen=True, slots=True)
class Haul:
    """The mails of one look, oldest first, and the cursor behind the last. A mail beyond 8 MiB is cut."""

    mails: tuple[bytes, ...] = field(repr=False)
    cursor: str


class _NoStartTls(imap_tools.ImapToolsError):
    """The server does not offer it, or somebody between us and it has taken it away."""


class Inbox:
    """One connection at a time; whatever breaks it, the next look makes a new one and catches up."""

    def __init__(
        self, server: Imap, trust: ssl.SSLContext, idle: float = IDLE, silence: float = SILENCE
    ) -> None:
        self._server, self._trust, self._idle, self._silence = server, trust, idle, silence
        self._thread = ThreadPoolExecutor(max_workers=1, thread_name_prefix="imap")
        self._closing = threading.Event()
        self.waiting = threading.Event()  # whether the thread is in IDLE
        self._box: imap_tools.BaseMailBox | None = None
        self._validity = ""
        self._given: dict[str, list[str]] = {}  # cursor → the UIDs that it confirms
        self._refused = 0  # how often signing in was, since it last was not

    async def look(self, cursor: str, wait: float | None = None) -> Haul:
        """Mails behind `cursor`, waiting for the first at most `wait` seconds. Raises `TryLater`."""
        seconds = self._idle if wait is None else min(wait, self._idle)
        return await self._in_thread(lambda: self._look(cursor, seconds))

    async def probe(self) -> str:
        """Sign in, for `check --online`. Raises `TryLater`."""
        await self._in_thread(self._connected)
        return f"{self._server.host}:{self._server.at} answers: the mailbox can be read."

    def hang_up(self) -> None:
        """Break the connection, from any thread: what waits for it ends."""
        box = self._box
        if box is not None:
            with contextlib.suppress(OSError):
                box.client.socket().shutdown(socket.SHUT_RDWR)

    async def close(self) -> None:
        """End the thread."""
        self._closing.set()
        self.hang_up()
        dropped = asyncio.wrap_future(self._thread.submit(self._drop))
        with contextlib.suppress(TimeoutError):  # it may still be connecting
            await asyncio.wait_for(dropped, GOODBYE)
        self._thread.shutdown(wait=False)

    async def _in_thread(self, deed: Callable[[], T]) -> T:
        try:
            done = await asyncio.get_running_loop().run_in_executor(self._thread, self._try, deed)
        except asyncio.CancelledError:
            self.hang_up()  # the thread must not wait for mail that nobody wants any more
            raise
        if isinstance(done, ProviderError):
            raise done  # outside the handler: the library's error may hold what was sent
        return done

    # In the thread

    def _try(self, deed: Callable[[], T]) -> T | ProviderError:
        try:
            return deed()
        except (imaplib.IMAP4.error, imap_tools.ImapToolsError, OSError) as error:
            fault = self._fault(error)
        except BaseException:
            self._drop()
            raise
        self._drop()
        return fault

    def _look(self, cursor: str, wait: float) -> Haul:
        box = self._connected()
        self._flag(box, cursor)
        uids = self._search(box, cursor)
        if not uids and wait > 0:
            self._wait(box, wait)
            uids = self._search(box, cursor)
        if not uids:
            return Haul((), cursor)
        taken: list[str] = []
        mails: list[bytes] = []
        while len(taken) < min(MOST, len(uids)) and sum(map(len, mails)) < ENOUGH:
            taken.append(uids[len(taken)])
            if (mail := _fetch(box, taken[-1])) is not None:
                mails.append(mail)
        reached = f"{self._validity}:{taken[-1]}"
        self._given[reached] = taken
        return Haul(tuple(mails), reached)

    def _connected(self) -> imap_tools.BaseMailBox:
        if self._box is None:
            self._box = self._connect()
            self._sign_in(self._box)
        return self._box

    def _connect(self) -> imap_tools.BaseMailBox:
        server, silence = self._server, self._silence
        if server.security is Security.TLS:
            return imap_tools.MailBox(server.host, server.at, silence, ssl_context=self._trust)
        return imap_tools.MailBoxUnencrypted(server.host, server.at, silence)

    def _sign_in(self, box: imap_tools.BaseMailBox) -> None:
        if self._server.security is Security.STARTTLS:
            if "STARTTLS" not in box.client.capabilities:
                raise _NoStartTls
            box.client.starttls(self._trust)
        name, password = self._server.username, self._server.password.get_secret_value()
        (box.login if (name + password).isascii() else box.login_utf8)(name, password)
        self._refused = 0
        validity = box.client.response("UIDVALIDITY")[1][0]
        self._validity = validity.decode() if validity else "0"

    def _flag(self, box: imap_tools.BaseMailBox, cursor: str) -> None:
        """Flag what the cursor confirms; what it does not confirm is given out again."""
        uids = self._given.get(cursor)
        if uids and cursor.startswith(f"{self._validity}:"):
            box.client.uid("STORE", ",".join(uids), "+FLAGS.SILENT", SEEN)
        self._given.clear()

    def _search(self, box: imap_tools.BaseMailBox, cursor: str) -> list[str]:
        """UIDs behind the cursor, ascending. Without one: what is unread; after the mailbox was made anew:

        everything, as far back as `LOOK_BACK` (what the core knows already, it knows by its event id).
        """
        while True:
            box.client.response(EXISTS)  # forget what was said before
            found = sorted(int(uid) for uid in box.uids(self._criteria(cursor), charset=None))
            last = self._last(cursor)
            behind = [str(uid) for uid in found if last is None or uid > last]  # "n:*" is never empty
            if behind or box.client.response(EXISTS)[1] == [None]:
                return behind

    def _criteria(self, cursor: str) -> str:
        last = self._last(cursor)
        if last is not None:
            return f"UID {last + 1}:*"
        since = (datetime.now(UTC) - LOOK_BACK).strftime("%d-%b-%Y")
        return f"SINCE {since}" if cursor else f"UNSEEN SINCE {since}"

    def _last(self, cursor: str) -> int | None:
        known = re.fullmatch(r"(\d+):(\d+)", cursor)
        return int(known[2]) if known and known[1] == self._validity else None

    def _wait(self, box: imap_tools.BaseMailBox, seconds: float) -> None:
        if "IDLE" not in _capabilities(box):
            self._closing.wait(min(seconds, NO_IDLE))
            return
        with box.idle as idle:
            self.waiting.set()
            if EXISTS not in box.client.untagged_responses and not _said_at_once(box.client):
                idle.poll(timeout=seconds)
            self.waiting.clear()

    def _drop(self) -> None:
        box, self._box = self._box, None
        if box is not None:
            with contextlib.suppress(imaplib.IMAP4.error, OSError):
                box.client.shutdown()

    def _fault(self, error: Exception) -> TryLater:
        """The server's own sentences are not passed on."""
        where = f"{self._server.host}:{self._server.at}"
        if refused := certificates.refusal(where, error):
            return TryLater(MUCH_LATER, refused)
        if isinstance(error, _NoStartTls):
            advice = "Use security: tls, or security: plain where the network is trusted."
            return TryLater(
                MUCH_LATER, f"{where} does not offer STARTTLS; nothing was sent in clear. {advice}"
            )
        if isinstance(error, ssl.SSLError):
            return TryLater(MUCH_LATER, f"{where} speaks no TLS that fits. Check the port and security.")
        if _is_for_now(error):
            return TryLater(SOON, f"{where} says that it is not available at the moment.")
        if isinstance(error, imap_tools.MailboxLoginError):
            self._refused += 1  # what is only a moment's is over soon; a wrong password is not tried for ever
            wait = min(MUCH_LATER, LATER * 2 ** (self._refused - 1))
            return TryLater(wait, f"{where} refused signing in. Check username and password.")
        if isinstance(error, imap_tools.ImapToolsError):
            return TryLater(LATER, f"{where} refused a command of IMAP.")
        if self._box is None:
            return TryLater(SOON, f"{where} cannot be reached, or gives no mailbox.")
        return TryLater(SOON, f"The connection to {where} broke.")


def _is_for_now(error: Exception) -> bool:
    """Whether the server says itself that it refuses only at the moment."""
    _, said = getattr(error, "command_result", ("", ()))
    return any(FOR_NOW.search(line) is not None for line in said if isinstance(line, bytes))


def _fetch(box: imap_tools.BaseMailBox, uid: str) -> bytes | None:
    """One mail without touching its flags, at most one octet more than is read; None: it is gone."""
    _, parts = box.client.uid("FETCH", uid, f"(BODY.PEEK[]<0.{LONGEST_MAIL + 1}>)")
    return next((bytes(part[1]) for part in parts if isinstance(part, tuple)), None)


def _capabilities(box: imap_tools.BaseMailBox) -> list[str]:
    """What the server can do for whoever is signed in."""
    _, told = box.client.capability()
    return bytes(told[-1] or b"").decode("ascii", "replace").upper().split()


def _said_at_once(client: imaplib.IMAP4) -> bool:
    """Whether something came in the same packet as the answer to IDLE: waiting would not notice it."""
    before = client.socket().gettimeout()
    client.socket().settimeout(0)
    try:
        return bool(client.readline())
    except OSError:
        return False
    finally:
        client.socket().settimeout(before)
