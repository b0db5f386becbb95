"""What one mail says, read under limits from its raw bytes: a reply, a bounce, or nothing that counts."""

import hashlib
import json
import re
from dataclasses import asdict, dataclass, field, replace
from datetime import UTC
from email.errors import HeaderParseError
from email.header import decode_header, make_header
from email.utils import parsedate_to_datetime
from enum import StrEnum
from typing import TYPE_CHECKING

from answerback_providers.email import trust
from answerback_providers.email.addresses import ATOM, Mailbox, mailbox
from answerback_providers.email.enclosed import Enclosed
from answerback_providers.email.head import LONGEST_MAIL, Head, split
from answerback_providers.email.marks import MESSAGE_ID, TOKEN, bounce_id
from answerback_providers.email.parts import Written, written

if TYPE_CHECKING:
    from answerback.provider import Receipt, Reply

LONGEST_TEXT = 250_000  # characters, quotations included: more is no answer, and would hold up the core
MOST_LINES = 10_000
MOST_ADDRESSES = 100
MOST_REFERENCES = 20
BOUNCE = "bounce-"
RECEIPT = "message/disposition-notification"  # RFC 8098: somebody has read it
QUOTED = r'"(?:[^"\\]|\\.)*"'
# RFC 5322 section 3.4, without groups and routes: what those may hide is not worth reading. A name has no
# second address in it, but Exchange writes the same one there once more.
NAMED = re.compile(rf"(?:{ATOM[:-1]}|[. \t()\[\]]|{QUOTED})*<([^<>\s]+)>")
TWICE = re.compile(r"'?([^<>\s'\"]+)'?[ \t]*<(\1)>", re.IGNORECASE)
SEPARATED = re.compile(rf"(?:{QUOTED}|[^\",])+")
LISTED = frozenset({"bulk", "junk", "list", "auto_reply", "auto-reply", "autoreply"})
AUTOMATIC = (
    "list-id",
    "x-auto-reply",
    "x-autoreply",
    "x-autoreply-from",
    "x-autorespond",
    "x-autoresponder",
    "x-loop",
    "x-mail-autoreply",
    "x-ms-exchange-generated-message-source",
    "x-vacation",
)
# How a subject begins where a program answers by itself and says so nowhere else (a reply of ours begins with
# "Re:" or the like): somebody is away, or has read it.
ABSENT = re.compile(
    r"(?:automatic reply|auto[- ]?reply|auto(?:matic)? ?response|auto\s*:|out of (?:the )?office|ooo\s*:|"
    r"automatische antwort|abwesenheits|abwesen[dt]|automatische abwesenheits|réponse automatique|"
    r"absence du bureau|absent du bureau|message d['’]absence|respuesta automática|fuera de (?:la )?oficina|"
    r"ausente\b|自动回复|自動回覆|自动答复|不在办公室|自動応答|不在通知|risposta automatica|fuori ufficio|"
    r"resposta automática|automatisch antwoord|afwezig|autosvar|automatiskt? svar|automatisk svar|"
    r"odpowiedź automatyczna|автоответ|автоматический ответ|"
    r"(?:read|not read|gelesen|ungelesen|lu|leído|leida|已读|已讀)\s*[:：])",
    re.IGNORECASE,
)
# Not "VS:", which is an answer in Finnish though a forwarded mail in Danish.
FORWARDED = re.compile(r"(?:fwd?|wg|tr|rv|enc|i|vb|vl|pd|tov|doorst|转发|轉寄|转寄)\s*[:：]", re.IGNORECASE)
LATE = re.compile(r"\b(?:warning|delay|delayed|verzögert|retardé|retrasado)\b", re.IGNORECASE)
NO_LETTER = frozenset({"multipart/report", "text/calendar", RECEIPT})
MACHINES = frozenset({"mailer-daemon", "postmaster"})


class Kind(StrEnum):
    REPLY = "reply"
    BOUNCE = "bounce"
    NOTHING = "nothing"  # an automatic reply, a list, a calendar, our own mail, or from nobody


@dataclass(frozen=True, slots=True)
class Reading:
    """A mail in the words of the contract. `lookups`: names in the DNS that could prove who sent it.

    `whole`: not too long to be read to its end. `forwarded`: somebody else may have written it.
    """

    kind: Kind
    event_id: str
    sender: str = field(default="", repr=False)
    token: str = field(default="", repr=False)
    references: tuple[str, ...] = ()
    text: str = field(default="", repr=False)
    sent_at: int | None = None
    trusted: bool = False
    lookups: tuple[str, ...] = ()
    files: tuple[Enclosed, ...] = field(default=(), repr=False)
    whole: bool = True
    forwarded: bool = False

    def dump(self) -> str:
        """As JSON, for `load`."""
        return json.dumps(asdict(self))

    def found(self, received_at: int) -> "list[Reply | Receipt]":
        """For the core, which lets nothing decide that is not `trusted`."""
        from answerback.provider import Attachment, Receipt, Reply, Void  # the process that reads needs none

        if self.kind is Kind.BOUNCE:
            why = "The mail came back."
            known = f"{BOUNCE}{self.event_id}"  # anybody can make a bounce of a copy of a reply
            return [Receipt(known, bounce_id(self.token), "failed", why, address_dead=True)]
        if self.kind is not Kind.REPLY:
            return []
        written = min(self.sent_at, received_at) if self.sent_at and received_at else self.sent_at
        return [
            Reply(
                event_id=self.event_id,
                sender=self.sender,
                place=self.sender,
                text=self.text,
                token=self.token,
                references=self.references,
                sent_at=written if self.trusted else None,
                trusted=self.trusted,
                quoted=True,
                attachments=tuple(
                    Attachment(f"{self.event_id}/{file.place}", file.name, file.content_type, file.size)
                    for file in self.files
                ),
                void=Void.TOO_LONG if not self.whole else Void.FORWARDED if self.forwarded else None,
            )
        ]


def load(dumped: str) -> Reading:
    """The reading that `dump` wrote."""
    values = json.loads(dumped)
    lists = {name: tuple(values[name]) for name in ("references", "lookups")}
    files = tuple(Enclosed(**file) for file in values["files"])
    return Reading(**{**values, **lists, "files": files, "kind": Kind(values["kind"])})


def read(raw: bytes, own: Mailbox, authserv_id: str = "") -> Reading:
    """Read one mail that came to `own`. Raises `Unreadable`, or whatever a hostile mail brings about."""
    head = split(raw)
    # Of a longer one only its beginning came: it decides nothing.
    parts = written(raw) if len(raw) <= LONGEST_MAIL else Written("", frozenset(), whole=False)
    if len(parts.text) > LONGEST_TEXT or parts.text.count("\n") > MOST_LINES:
        parts = replace(parts, text="", files=(), whole=False)
    event_id = _event_id(head)
    if token := _bounced(head, own):
        return Reading(Kind.BOUNCE if _came_back(head, parts) else Kind.NOTHING, event_id, token=token)
    sender = _sender(head)
    if sender is None or _automatic(head, parts) or own.holds(sender):
        return Reading(Kind.NOTHING, event_id)
    tags = _tags(head.all("to"), own)
    tokens = {tag for tag in tags if TOKEN.fullmatch(tag)}
    addressed = parts.whole and bool(tags)  # To is what every signature that counts covers
    trusted = addressed and bool(authserv_id) and trust.found_by(authserv_id, head, sender.domain)
    ask = trust.lookups(head, sender.domain) if addressed and not authserv_id else []
    return Reading(
        Kind.REPLY,
        event_id,
        sender=str(sender).lower(),
        token=tokens.pop() if len(tokens) == 1 else "",
        references=_references(head),
        text=parts.text,
        sent_at=_date(head),
        trusted=trusted,
        lookups=tuple(ask),
        files=parts.files,
        whole=parts.whole,
        forwarded=bool(FORWARDED.match(_subject(head))),
    )


def _event_id(head: Head) -> str:
    """Known by what a signature covers: a mail that was changed elsewhere and sent again is the same one."""
    covered = [value for name in trust.COVERED for value in head.all(name)]
    digest = hashlib.sha256("\n".join(" ".join(value.split()) for value in covered).encode())
    digest.update(b"\n" + b" ".join(head.body.split()))
    return f"mail:{digest.hexdigest()}"


def _sender(head: Head) -> Mailbox | None:
    """The only From, if it is exactly one address without a defect."""
    found = head.all("from")
    return _address(found[0]) if len(found) == 1 else None


def _address(text: str) -> Mailbox | None:
    plain = text.strip()
    named = NAMED.fullmatch(plain) or TWICE.fullmatch(plain)
    try:
        return mailbox(named[named.lastindex or 0] if named else plain)
    except ValueError:
        return None


def _tags(values: tuple[str, ...], own: Mailbox) -> set[str]:
    """What stands behind the plus of each address of ours; "" for the bare one."""
    listed = [piece for value in values for piece in SEPARATED.findall(value)[:MOST_ADDRESSES]]
    boxes = [box for piece in listed if (box := _address(piece)) and own.holds(box)]
    return {box.local.lower().removeprefix(own.local.lower()).removeprefix("+") for box in boxes}


def _references(head: Head) -> tuple[str, ...]:
    named = [*MESSAGE_ID.findall(head.first("in-reply-to")), *MESSAGE_ID.findall(head.first("references"))]
    return tuple(dict.fromkeys(id for id in named if len(id) <= 500))[:MOST_REFERENCES]


def _subject(head: Head) -> str:
    text = head.first("subject")
    try:
        return str(make_header(decode_header(text))).strip()
    except (HeaderParseError, LookupError, ValueError):
        return text


def _date(head: Head) -> int | None:
    try:
        told = parsedate_to_datetime(head.first("date"))
        return int((told if told.tzinfo else told.replace(tzinfo=UTC)).timestamp()) * 1_000_000
    except (ValueError, TypeError, IndexError, OverflowError):
        return None


# What does not count


def _automatic(head: Head, parts: Written) -> bool:
    """Not written by a person for this question (RFC 3834 section 2, RFC 2919, RFC 3461, RFC 5546)."""
    submitted = head.first("auto-submitted").partition(";")[0].strip().lower()
    return (
        submitted not in ("", "no")
        or any(head.first(name).lower() in LISTED for name in ("precedence", "x-precedence"))
        or any(head.all(each) for each in AUTOMATIC)
        or _from_nobody(head)
        or bool(parts.types & NO_LETTER)
        or bool(ABSENT.match(_subject(head)))
    )


def _from_nobody(head: Head) -> bool:
    sender = _sender(head)
    machine = sender is not None and sender.local.lower() in MACHINES
    return machine or "<>" in [path.replace(" ", "") for path in head.all("return-path")]


# What came back


def _bounced(head: Head, own: Mailbox) -> str:
    """The token of the mail that came back, from the address that its envelope named."""
    names = ("delivered-to", "x-original-to", "envelope-to", "to")
    tags = {tag for name in names for tag in _tags(head.all(name), own) if tag.startswith(BOUNCE)}
    tokens = {tag.removeprefix(BOUNCE) for tag in tags}
    return tokens.pop() if len(tokens) == 1 else ""


def _came_back(head: Head, parts: Written) -> bool:
    """A report says so; without one, a machine that does not merely answer in somebody's absence."""
    if parts.actions:
        return "failed" in parts.actions
    if head.all("x-failed-recipients"):  # Exim's own, without a report
        return True
    subject = _subject(head)
    absent = head.first("auto-submitted").lower().startswith("auto-replied") or ABSENT.match(subject)
    read_ = RECEIPT in parts.types or any(head.all(each) for each in AUTOMATIC)
    return _from_nobody(head) and not (absent or read_ or LATE.search(subject))
