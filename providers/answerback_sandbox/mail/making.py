"""Writes a mail down: headers as given (ids stay whole, other letters become encoded words), and bodies."""

import datetime
import email.policy
from collections.abc import Mapping
from email.charset import BASE64, QP, Charset
from email.encoders import encode_base64
from email.header import Header
from email.message import Message
from email.mime.text import MIMEText
from email.utils import format_datetime

# The older of the two policies: the newer one breaks long ids into encoded words.
LINES = email.policy.compat32.clone(linesep="\r\n")


def put_headers(mail: Message, headers: Mapping[str, str]) -> None:
    """Set headers; an empty one is left out. Line ends in a value become spaces: a header is one line."""
    for name, value in headers.items():
        line = " ".join(value.split())
        if line:
            mail[name] = line if line.isascii() else Header(line, "utf-8", header_name=name).encode()


def text_part(text: str, subtype: str, charset: str, encoding: str) -> MIMEText:
    """One body; `encoding` is `quoted-printable` or `base64`."""
    how = Charset(charset)
    how.body_encoding = BASE64 if encoding == "base64" else QP
    return MIMEText(text, subtype, how)  # type: ignore[arg-type]  # the type stubs know names only


def in_base64(part: Message, content: bytes) -> None:
    """Give a part its octets."""
    part.set_payload(content)
    encode_base64(part)


def written(mail: Message) -> bytes:
    """The octets of a mail, lines ended by CRLF."""
    return mail.as_bytes(policy=LINES)


def date(at: int) -> str:
    """A time in microseconds as a Date header has it."""
    return format_datetime(datetime.datetime.fromtimestamp(at // 1_000_000, datetime.UTC))
