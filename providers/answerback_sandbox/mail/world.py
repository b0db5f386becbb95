"""The world of mail: mailboxes, and the mail server that delivers into them and says who vouches.

Whatever it delivers gets a Return-Path (RFC 5321 section 4.4), a Delivered-To, and on top its own
Authentication-Results (RFC 8601); those that somebody else wrote in its name are taken out (section 5).
"""

import re
from collections.abc import Callable
from dataclasses import dataclass
from email.message import Message

from answerback_sandbox.changes import Changes
from answerback_sandbox.errors import SandboxError
from answerback_sandbox.faults import Faults
from answerback_sandbox.mail import reports
from answerback_sandbox.mail.letters import SEEN, letter
from answerback_sandbox.mail.making import written
from answerback_sandbox.mail.state import Kept, Letter, Mailbox

ADDRESS = re.compile(r"[^\s@<>\"(),:;\x00-\x20]+@[^\s@<>\"(),:;]+")
DOMAIN = re.compile(r"[a-z0-9.-]{1,253}")
CLAIMED = re.compile(
    rb"^authentication-results:[ \t]*" + re.escape(reports.HOST.encode()) + rb"\b.*\r?\n(?:[ \t].*\r?\n)*",
    re.IGNORECASE | re.MULTILINE,
)


@dataclass(frozen=True, slots=True)
class Envelope:
    """Who gets reports ("" for nobody), who gets the mail; `proved`: the From is the sender's own."""

    sender: str
    recipient: str
    proved: bool


class World:
    """All of it in memory, changed only from the one event loop. `clock`: microseconds since the epoch."""

    def __init__(self, changes: Changes, clock: Callable[[], int], faults: Faults) -> None:
        self.changes, self.clock, self._faults = changes, clock, faults
        self.boxes: dict[str, Mailbox] = {}

    def add(self, address: str, name: str) -> Mailbox:
        """One more mailbox. Raises SandboxError if the address is none, or is taken."""
        if not ADDRESS.fullmatch(address) or "+" in address or self.find(address) is not None:
            raise SandboxError(f"the address {address!r} cannot be used for another mailbox")
        # Another number at each start: nobody may take the new mails for the old ones (RFC 3501, 2.3.1.1).
        validity = self.clock() // 1_000_000 % (1 << 32) or 1
        box = self.boxes[address.lower()] = Mailbox(address, name, validity)
        self.changes.touch()
        return box

    def find(self, address: str) -> Mailbox | None:
        """Whose mailbox an address is; what stands behind a plus does not matter, nor does case."""
        local, _, domain = address.lower().rpartition("@")
        return self.boxes.get(f"{local.partition('+')[0]}@{domain}")

    def box(self, address: str) -> Mailbox:
        """Raises SandboxError if there is no such mailbox."""
        found = self.find(address)
        if found is None:
            raise SandboxError(f"there is no mailbox {address!r}")
        return found

    def letters(self, address: str) -> tuple[Letter, ...]:
        """What lies in a mailbox, sent mail too, oldest first. Raises SandboxError."""
        return tuple(letter(kept) for kept in self.box(address).kept.values())

    def letter(self, address: str, message_id: str) -> Letter:
        """The newest mail with that Message-ID. Raises SandboxError."""
        for kept in reversed(self.box(address).kept.values()):
            if (found := letter(kept)).message_id == message_id:
                return found
        raise SandboxError(f"there is no mail {message_id} in this mailbox")

    def opened(self, address: str, message_id: str) -> None:
        """Its owner has read a mail. Raises SandboxError."""
        kept = self.box(address).kept[self.letter(address, message_id).uid]
        if SEEN not in kept.flags:
            kept.flags.add(SEEN)
            self.changes.touch()

    def post(self, owner: Mailbox, mail: Message, to: str, *, sender: str | None = None) -> Letter:
        """Send a mail from somebody's mailbox, where a copy stays; the copy. Raises SandboxError."""
        self.box(to)
        raw = written(mail)
        copy = self._keep(owner, raw, mine=True)
        self.deliver(raw, Envelope(owner.address if sender is None else sender, to, proved=True))
        return letter(copy)

    def deliver(self, raw: bytes, envelope: Envelope) -> None:
        """Into the recipient's mailbox, or back. Raises SandboxError if there is no such recipient."""
        box = self.box(envelope.recipient)
        if box.bounces:
            if envelope.sender and self.find(envelope.sender) is not None:
                back = reports.returned(raw, envelope.sender, envelope.recipient, self.clock())
                self.deliver(written(back), Envelope("", envelope.sender, proved=True))
            return
        whole = self._stamp(raw, envelope)
        kept = self._keep(box, whole)
        if self._faults.take_duplicate():
            self._keep(box, whole)
        if box.away:
            self._excuse(box, letter(kept), envelope.sender)

    def _excuse(self, box: Mailbox, came: Letter, sender: str) -> None:
        """Answer in somebody's absence, as the least careful programs do: also what a machine generated.

        What nobody sent, and what is itself such an answer, gets none: that would never end.
        """
        answer_to = came.reply_to or came.sender
        if not sender or came.headers.get("auto-submitted", "").startswith("auto-replied"):
            return
        if self.find(answer_to) is not None:
            mail = reports.absence(came, box.name, box.address, answer_to, box.away, self.clock())
            self.post(box, mail, answer_to, sender="")

    def _keep(self, box: Mailbox, raw: bytes, *, mine: bool = False) -> Kept:
        kept = box.kept[box.next_uid] = Kept(box.next_uid, raw, self.clock(), mine)
        box.next_uid += 1
        self.changes.touch()
        return kept

    def _stamp(self, raw: bytes, envelope: Envelope) -> bytes:
        head, blank, body = raw.partition(b"\r\n\r\n")
        head = CLAIMED.sub(b"", head + b"\r\n").removesuffix(b"\r\n")
        domain = letter(Kept(0, raw, 0)).sender.rpartition("@")[2].lower()
        if not DOMAIN.fullmatch(domain):  # whatever stands there, it must not write results of its own
            domain = "invalid"
        found = "pass" if envelope.proved else "fail"
        trace = (
            f"Return-Path: <{envelope.sender}>\r\nDelivered-To: {envelope.recipient}\r\n"
            f"Authentication-Results: {reports.HOST}; dmarc={found} header.from={domain}\r\n"
        )
        return trace.encode() + head + blank + body
