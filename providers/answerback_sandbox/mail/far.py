"""Mail as one object: the agent's account, people with mailboxes, for tests and for the phone page."""

import contextlib
import socket
from collections.abc import AsyncIterator, Callable, Sequence

from answerback_sandbox.changes import Changes
from answerback_sandbox.faults import Fault, FaultKind, Faults
from answerback_sandbox.mail import quoting
from answerback_sandbox.mail.imap import Reading
from answerback_sandbox.mail.lines import Line, listening
from answerback_sandbox.mail.making import date, put_headers, text_part, written
from answerback_sandbox.mail.reports import HOST, absence, returned
from answerback_sandbox.mail.service import Service
from answerback_sandbox.mail.smtp import Submission
from answerback_sandbox.mail.state import File, Letter, Mailbox, Style
from answerback_sandbox.mail.world import Envelope, World

ADDRESS = "agent@sandbox.test"
PASSWORD = "sandbox-of-answerback-not-a-secret"
AWAY = "I am out of the office until Monday and read no mail."


class Mail:
    """One mail server: the agent hands its mail in by SMTP, and reads what people answer by IMAP.

    `address` (also the name to sign in with), `password`; `authserv_id` is what the server calls itself
    in Authentication-Results. `host`, `smtp_port` and `imap_port` are known while it serves.
    """

    address, password, authserv_id = ADDRESS, PASSWORD, HOST

    def __init__(self, changes: Changes, clock: Callable[[], int]) -> None:
        self._changes, self._clock = changes, clock
        self.faults = Faults()
        self.world = World(changes, clock, self.faults)
        self.world.add(ADDRESS, "Agent")
        self._service = Service(self.world, self.faults, changes, PASSWORD)
        self.host, self.smtp_port, self.imap_port = "", 0, 0

    @contextlib.asynccontextmanager
    async def serve(self, smtp: socket.socket, imap: socket.socket) -> AsyncIterator[None]:
        """Serve on these listening sockets while the body runs."""
        self.host, self.smtp_port = smtp.getsockname()[:2]
        self.imap_port = imap.getsockname()[1]
        async with listening(smtp, self._take), listening(imap, self._show):
            yield

    async def _take(self, line: Line) -> None:
        await Submission(self._service, line).talk()

    async def _show(self, line: Line) -> None:
        await Reading(self._service, line).talk()

    # ── people ──

    def add_person(self, address: str, name: str) -> Mailbox:
        """Someone with a mailbox. Raises SandboxError."""
        return self.world.add(address, name)

    def people(self) -> tuple[Mailbox, ...]:
        """Everyone with a mailbox but the agent."""
        return tuple(box for box in self.world.boxes.values() if box.address != ADDRESS)

    def messages(self, address: str) -> tuple[Letter, ...]:
        """What lies in somebody's mailbox, what they sent too, oldest first. Raises SandboxError."""
        return self.world.letters(address)

    def received(self, address: str) -> tuple[Letter, ...]:
        """What came in among it. Raises SandboxError."""
        return tuple(item for item in self.messages(address) if not item.mine)

    def opens(self, address: str, message_id: str) -> None:
        """A person reads a mail. Raises SandboxError."""
        self.world.opened(address, message_id)

    def reply(
        self,
        address: str,
        message_id: str,
        text: str,
        style: Style | str = Style.GMAIL,
        files: Sequence[File] = (),
    ) -> Letter:
        """A person answers a mail with their own program; what they sent. Raises SandboxError, ValueError."""
        box, old = self.world.box(address), self.world.letter(address, message_id)
        to = old.reply_to or old.sender
        answered = quoting.Answered(old, box.name, box.address, to)
        mail = quoting.compose(answered, text, Style(style), self._clock(), files)
        return self.world.post(box, mail, to)

    def write(self, address: str, subject: str, text: str, to: str = ADDRESS) -> Letter:
        """A person writes a new mail, to the agent if nobody else is named. Raises SandboxError."""
        box = self.world.box(address)
        mail = text_part(text, "plain", "utf-8", "quoted-printable")
        put_headers(
            mail,
            {
                "From": quoting.named(box.name, box.address),
                "To": to,
                "Subject": subject,
                "Date": date(self._clock()),
                "Message-ID": quoting.new_id(Style.GMAIL, box.address),
            },
        )
        return self.world.post(box, mail, to)

    def forge(self, address: str, message_id: str, text: str) -> None:
        """Somebody else answers a mail in this person's name; nobody vouches for it. Raises SandboxError."""
        box, old = self.world.box(address), self.world.letter(address, message_id)
        to = old.reply_to or old.sender
        answered = quoting.Answered(old, box.name, box.address, to)
        raw = written(quoting.compose(answered, text, Style.GMAIL, self._clock()))
        self.world.deliver(raw, Envelope("somebody@elsewhere.test", to, proved=False))

    def out_of_office(self, address: str, message_id: str, text: str = AWAY) -> Letter:
        """A person's program answers one mail in their absence. Raises SandboxError."""
        box, old = self.world.box(address), self.world.letter(address, message_id)
        to = old.reply_to or old.sender
        mail = absence(old, box.name, box.address, to, text, self._clock())
        return self.world.post(box, mail, to, sender="")

    def bounce(self, address: str, message_id: str) -> None:
        """A mail that had been taken comes back to its envelope's sender. Raises SandboxError."""
        old = self.world.letter(address, message_id)
        sender = old.headers.get("return-path", "").strip("<> ")
        self.world.box(sender)
        report = returned(old.raw, sender, self.world.box(address).address, self._clock())
        self.world.deliver(written(report), Envelope("", sender, proved=True))

    def set_away(self, address: str, away: bool, text: str = AWAY) -> None:
        """From now on every mail to this person is answered by their program. Raises SandboxError."""
        self.world.box(address).away = text if away else ""
        self._changes.touch()

    def set_bouncing(self, address: str, bouncing: bool) -> None:
        """From now on every mail to this person is taken, and comes back. Raises SandboxError."""
        self.world.box(address).bounces = bouncing
        self._changes.touch()

    # ── faults ──

    def fail(
        self, kind: FaultKind, calls: int | None = 1, *, method: str | None = None, seconds: float = 1.0
    ) -> None:
        """Let the next `calls` go wrong. Methods: `send` (a mail by SMTP), `read` (a command of IMAP)."""
        self.faults.add(Fault(kind, calls, method, seconds))
        self._changes.touch()

    def heal(self) -> None:
        """Everything works again."""
        self.faults.heal()
        self._changes.touch()
