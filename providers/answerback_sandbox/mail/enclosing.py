"""Files in a mail: as Gmail, Outlook and Apple Mail enclose them, and as whoever gets one sees them.

Apple Mail shows pictures in the text: its HTML has them by their Content-ID (RFC 2392), below what was
written.
"""

import uuid
from collections.abc import Iterator, Sequence
from email.header import Header
from email.message import EmailMessage, Message, MIMEPart
from email.mime.base import MIMEBase
from email.mime.multipart import MIMEMultipart
from email.utils import encode_rfc2231

from answerback_sandbox.mail.making import in_base64, text_part
from answerback_sandbox.mail.state import File, Style

SHOWN_INSIDE = "image/"  # what Apple Mail shows in the text by its id; a PDF it shows behind the text
PLACE = '<br id="lineBreakAtBeginningOfMessage">'  # in its HTML, between what was written and what is quoted


def enclose(text: Message, html: str, files: Sequence[File], style: Style, encoding: str) -> Message:
    """Both bodies with files in and behind them; `encoding` is how the HTML is written down."""
    inside = [file for file in files if style is Style.APPLE and file.content_type.startswith(SHOWN_INSIDE)]
    body = MIMEMultipart("alternative")
    body.attach(text)
    body.attach(_page(html, inside, encoding))
    behind = [file for file in files if file not in inside]
    if not behind:
        return body
    mail = MIMEMultipart("mixed")
    mail.attach(body)
    for number, file in enumerate(behind):
        mail.attach(_part(file, style, number))
    return mail


def _page(html: str, pictures: Sequence[File], encoding: str) -> Message:
    """The HTML body; with the pictures that it shows, where it shows any."""
    if not pictures:
        return text_part(html, "html", "utf-8", encoding)
    page = MIMEMultipart("related", type="text/html")
    ids = [str(uuid.uuid4()).upper() for _ in pictures]
    shown = "".join(f'<div><img apple-inline="yes" src="cid:{id}"></div>' for id in ids)
    page.attach(text_part(html.replace(PLACE, shown + PLACE), "html", "utf-8", encoding))
    for id, file in zip(ids, pictures, strict=True):
        part = _part(file, Style.APPLE, 0)
        part["Content-ID"] = f"<{id}>"
        page.attach(part)
    return page


def _part(file: File, style: Style, number: int) -> Message:
    part = MIMEBase(*file.content_type.split("/", 1))
    inside = style is Style.APPLE and file.content_type.startswith((SHOWN_INSIDE, "application/pdf"))
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
        return tuple(_file(part) for part in _attached(mail) if part.get_filename())
    except (ValueError, LookupError, RecursionError, AttributeError, TypeError):
        return ()  # mail is not always well made


def _attached(mail: EmailMessage) -> Iterator[MIMEPart]:
    """What is in the text comes first, then what is behind it."""
    for part in mail.walk():
        if part.get_content_disposition() in ("inline", "attachment"):
            yield part


def _file(part: MIMEPart) -> File:
    content = part.get_payload(decode=True)
    name, kind = part.get_filename() or "", part.get_content_type()
    return File(name, kind, content if isinstance(content, bytes) else b"")
