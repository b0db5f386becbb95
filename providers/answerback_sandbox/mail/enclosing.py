"""Files in a mail: as Gmail, Outlook and Apple Mail enclose them, and as whoever gets one sees them."""

from collections.abc import Sequence
from email.header import Header
from email.message import EmailMessage, Message, MIMEPart
from email.mime.base import MIMEBase
from email.mime.multipart import MIMEMultipart
from email.utils import encode_rfc2231

from answerback_sandbox.mail.making import in_base64
from answerback_sandbox.mail.state import File, Style

SHOWN_INSIDE = ("image/", "application/pdf")  # what Apple Mail shows in the text


def enclose(body: Message, files: Sequence[File], style: Style) -> Message:
    """The body with files behind it."""
    mail = MIMEMultipart("mixed")
    mail.attach(body)
    for number, file in enumerate(files):
        mail.attach(_part(file, style, number))
    return mail


def _part(file: File, style: Style, number: int) -> Message:
    part = MIMEBase(*file.content_type.split("/", 1))
    inside = style is Style.APPLE and file.content_type.startswith(SHOWN_INSIDE)
    named = _rfc2231 if style is Style.APPLE else _in_words
    part["Content-Disposition"] = f"{'inline' if inside else 'attachment'}; {named('filename', file.name)}"
    part.set_param("name", file.name if file.name.isascii() else Header(file.name, "utf-8").encode())
    if style is Style.GMAIL:
        part["Content-ID"] = f"<f_mb0sandbox{number}>"
        part["X-Attachment-Id"] = f"f_mb0sandbox{number}"
    if style is Style.OUTLOOK:
        part["Content-Description"] = (
            Header(file.name, "utf-8").encode() if not file.name.isascii() else file.name
        )
    in_base64(part, file.content)
    return part


def _in_words(key: str, name: str) -> str:
    """Encoded words in a parameter, which RFC 2047 forbids and most programs write."""
    quoted = name.replace("\\", "\\\\").replace('"', '\\"')
    return f'{key}="{quoted if name.isascii() else Header(name, "utf-8", maxlinelen=10_000).encode()}"'


def _rfc2231(key: str, name: str) -> str:
    return _in_words(key, name) if name.isascii() else f"{key}*={encode_rfc2231(name, 'utf-8')}"


def enclosed(mail: EmailMessage) -> tuple[File, ...]:
    """The files of a mail, as its reader is shown them."""
    try:
        return tuple(_file(part) for part in mail.iter_attachments() if part.get_filename())
    except (ValueError, LookupError, RecursionError, AttributeError, TypeError):
        return ()  # mail is not always well made


def _file(part: MIMEPart) -> File:
    content = part.get_payload(decode=True)
    name, kind = part.get_filename() or "", part.get_content_type()
    return File(name, kind, content if isinstance(content, bytes) else b"")
