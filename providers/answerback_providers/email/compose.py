"""Builds the mail of a message, pure: an envelope, our own headers, and the two bodies.

The header lines are written here, not by the email package: its modern headers decode encoded words in
what they are given (so that a subject can add a Bcc), and its line folding either breaks long message
ids or makes encoded words longer than the 75 characters of RFC 2047. The finished bytes are read again
and must show exactly the headers that were meant.
"""

import base64
import datetime
import email
import email.policy
import hashlib
import re
import uuid
from dataclasses import dataclass, field
from email.header import decode_header, make_header
from email.message import EmailMessage
from email.utils import format_datetime

from answerback.provider import Message, Undeliverable, shorten
from answerback_providers.email.addresses import Mailbox, mailbox
from answerback_providers.email.bodies import as_html, as_text, lay_out
from answerback_providers.email.clean import header
from answerback_providers.email.marks import MESSAGE_ID, TOKEN
from answerback_providers.email.settings import EmailSettings

LONGEST_QUESTION = 60  # characters of a subject, before the code
CHUNK = 39  # octets of UTF-8 in an encoded word: with "Subject: " a line of 73; RFC 2047 allows 76
LONGEST_LINE = 998  # octets of a line without its end, RFC 5322 section 2.1.1
MOST_REFERENCES = 20
PARTS = email.policy.SMTP.clone(max_line_length=76, cte_type="7bit")
MIME = ("MIME-Version", "Content-Type")


@dataclass(frozen=True, slots=True)
class Mail:
    """One mail, ready to be handed over. `sender` takes bounces back and holds the delivery's token."""

    id: str
    recipient: str = field(repr=False)
    sender: str = field(repr=False)
    content: bytes = field(repr=False)
    utf8: bool = False  # the recipient's address needs SMTPUTF8 (RFC 6531)


def compose(message: Message, settings: EmailSettings, at: int, *, replies: bool = False) -> Mail:
    """Build the mail of a message, dated `at` (microseconds since the epoch).

    `replies`: whether somebody reads what is mailed back; the words say so. Raises `Undeliverable`.
    """
    own = settings.mailbox
    to = _recipient(message)
    message_id = _message_id(message, own.domain)
    headers = _headers(message, settings, own, to, message_id, at)
    head = "".join(f"{name}: {value}\r\n" for name, (value, _) in headers.items())
    content = head.encode() + _bodies(message, replies)
    _check(content, {name: meant for name, (_, meant) in headers.items()})
    sender = _tagged(own, message, "bounce-")
    return Mail(message_id, str(to), str(sender or own), content, utf8=not to.ascii)


def subject(message: Message) -> str:
    """The question in at most 60 characters, then ` [#CODE]`."""
    code = header(message.code).strip("#")
    mark = f" [#{shorten(code, LONGEST_QUESTION)}]" if code else ""
    question = header(message.subject or message.title).removesuffix(mark.strip()).strip()
    return header(shorten(question, LONGEST_QUESTION) + mark)


def _headers(
    message: Message, settings: EmailSettings, own: Mailbox, to: Mailbox, message_id: str, at: int
) -> dict[str, tuple[str, str]]:
    """Each header as it is written, and as it must read afterwards."""
    about = subject(message)
    reply = _tagged(own, message, "")
    references = [known for known in message.reply_to if MESSAGE_ID.fullmatch(known)][-MOST_REFERENCES:]
    date = format_datetime(datetime.datetime.fromtimestamp(at // 1_000_000, datetime.UTC))
    plain = {
        "To": str(to),
        "Reply-To": str(reply) if reply else "",
        "Date": date,
        "Message-ID": message_id,
        "In-Reply-To": references[-1] if references else "",
        "References": " ".join(references),
        "Auto-Submitted": "auto-generated",  # RFC 3834 section 5
        "X-Auto-Response-Suppress": "OOF, AutoReply",
    }
    written = {key: (value.replace(" <", "\r\n <"), value) for key, value in plain.items() if value}
    return {"From": _from(header(settings.name), own), "Subject": (_encoded(about), about), **written}


def _from(name: str, own: Mailbox) -> tuple[str, str]:
    """The display name is quoted where ASCII is enough, else encoded."""
    if not name.isascii():
        return f"{_encoded(name)}\r\n <{own}>", f"{name} <{own}>"
    quoted = name.replace("\\", "\\\\").replace('"', '\\"')
    whole = f'"{quoted}" <{own}>' if name else str(own)
    return whole, whole


def _encoded(text: str) -> str:
    """ASCII as it is; everything else as encoded words, one a line, no character cut in two (RFC 2047)."""
    if text.isascii():
        return text
    chunks = [b""]
    for character in text:
        octets = character.encode()
        if len(chunks[-1] + octets) > CHUNK:
            chunks.append(b"")
        chunks[-1] += octets
    return "\r\n ".join(f"=?utf-8?b?{base64.b64encode(chunk).decode()}?=" for chunk in chunks)


def _recipient(message: Message) -> Mailbox:
    try:
        return mailbox(message.to.place)
    except ValueError as error:
        raise Undeliverable(f"Mail cannot be sent there: {error}.", address_dead=True) from None


def _tagged(own: Mailbox, message: Message, prefix: str) -> Mailbox | None:
    token = message.token.lower()
    if not token:
        return None
    try:
        if not TOKEN.fullmatch(token):
            raise ValueError("the token has other characters than a-z, 0-9, - and _")
        return own.plus(prefix + token)
    except ValueError as error:
        raise Undeliverable(f"No address for the reply can be made: {error}.") from None


def _message_id(message: Message, domain: str) -> str:
    """The same for each try of a delivery: a mail that was sent twice is then shown once by many readers."""
    if not message.delivery_id:
        return f"<{uuid.uuid4().hex}@{domain}>"
    known = f"{message.delivery_id}\n{message.kind}\n{message.title}"
    return f"<{hashlib.sha256(known.encode(errors='replace')).hexdigest()[:32]}@{domain}>"


def _bodies(message: Message, replies: bool) -> bytes:
    """The MIME headers, the blank line, and both parts, in ASCII lines of at most 76 characters."""
    body = lay_out(message, replies=replies)
    parts = EmailMessage(policy=PARTS)
    parts.set_content(as_text(body))
    parts.add_alternative(as_html(body), subtype="html")
    return parts.as_bytes()


def _check(content: bytes, meant: dict[str, str]) -> None:
    """Read the finished bytes again: our headers, nothing more, and nothing in them but what was meant."""
    read = email.message_from_bytes(content, policy=email.policy.compat32)
    found = sorted((name, _decoded(value)) for name, value in read.raw_items() if name not in MIME)
    rows = content.split(b"\r\n")
    tidy = all(len(row) <= LONGEST_LINE and b"\r" not in row and b"\n" not in row for row in rows)
    if found != sorted(meant.items()) or not tidy:
        raise Undeliverable("The mail was not sent: its headers would not arrive as they were meant.")


def _decoded(value: str) -> str:
    """A header as a mail reader shows it: unfolded, encoded words decoded, raw octets read as UTF-8."""
    unfolded = re.sub(r"\r?\n[ \t]", " ", value)
    readable = unfolded.encode("ascii", "surrogateescape").decode("utf-8", "replace")
    return str(make_header(decode_header(readable)))
