"""A reply as Gmail, Outlook and Apple Mail write it: what is quoted and how, both bodies, and the headers.

The shapes are those of mails that these programs sent: Gmail puts an attribution and `>` below the new
text, Outlook on the web a rule and the header block of the old mail and quotes nothing, Apple Mail puts the
attribution into the quotation.
"""

import datetime
import html
import re
import uuid
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from email.message import Message
from email.utils import formataddr

from answerback_sandbox.mail.enclosing import PLACE, enclose
from answerback_sandbox.mail.making import date, put_headers, text_part
from answerback_sandbox.mail.state import File, Letter, Style

BODY = re.compile(r"<body[^>]*>(.*?)(?:</body>|\Z)", re.IGNORECASE | re.DOTALL)
PROGRAMS: dict[Style, dict[str, str]] = {
    Style.GMAIL: {},
    Style.OUTLOOK: {"Accept-Language": "en-US", "Content-Language": "en-US"},
    Style.APPLE: {"X-Mailer": r"Apple Mail (2.3826.700.81)"},
}


@dataclass(frozen=True, slots=True)
class Bodies:
    """Both bodies of a reply, and how their UTF-8 is written down."""

    text: str = field(repr=False)
    html: str = field(repr=False)
    encoding: str


@dataclass(frozen=True, slots=True)
class Answered:
    """The mail that is replied to, and who replies."""

    letter: Letter
    name: str
    address: str
    to: str

    @property
    def sent(self) -> datetime.datetime:
        return datetime.datetime.fromtimestamp(self.letter.at // 1_000_000, datetime.UTC)

    @property
    def inner(self) -> str:
        """The old mail's HTML without its frame."""
        found = BODY.search(self.letter.html)
        return found[1] if found else self.letter.html or _paragraphs(self.letter.text)

    @property
    def their_name(self) -> str:
        return self.letter.sender_name or self.letter.sender


def compose(answered: Answered, text: str, style: Style, at: int, files: Sequence[File] = ()) -> Message:
    """The reply, dated `at`, with files."""
    old = answered.letter
    bodies = WRITERS[style](answered, text.strip("\n"))
    plain = text_part(bodies.text, "plain", "utf-8", bodies.encoding)
    mail = enclose(plain, bodies.html, files, style, bodies.encoding)
    put_headers(
        mail,
        {
            "From": named(answered.name, answered.address),
            "To": answered.to,
            "Subject": _subject(old.subject, "RE: " if style is Style.OUTLOOK else "Re: "),
            "Date": date(at),
            "Message-ID": new_id(style, answered.address),
            "In-Reply-To": old.message_id,
            "References": f"{old.headers.get('references', '')} {old.message_id}",
            **PROGRAMS[style],
        },
    )
    return mail


def _subject(old: str, prefix: str) -> str:
    return old if re.match(r"re:\s", old, re.IGNORECASE) else prefix + old


def named(name: str, address: str) -> str:
    """Name and address as a From has them."""
    return formataddr((name, address))


def new_id(style: Style, address: str) -> str:
    """A Message-ID as that program makes them."""
    number = uuid.uuid4()
    return {
        Style.GMAIL: f"<CAF{number.hex}@mail.gmail.com>",
        Style.OUTLOOK: f"<{number.hex.upper()}@AM0PR05MB0001.eurprd05.prod.outlook.com>",
        Style.APPLE: f"<{str(number).upper()}@{address.rpartition('@')[2]}>",
    }[style]


def _gmail(old: Answered, text: str) -> Bodies:
    when = f"{old.sent:%a, %b} {old.sent.day}, {old.sent:%Y} at {_hour(old.sent)}"
    who = f"{old.letter.sender_name} <{old.letter.sender}>".strip()
    attribution = f"On {when} {who} wrote:"
    if len(attribution) > 78:  # Gmail breaks the line there
        attribution = f"On {when} {who}\nwrote:"
    address = html.escape(old.letter.sender)
    said = html.escape(old.letter.sender_name)
    quoted_html = (
        f'<div dir="ltr">{_breaks(text)}</div><br>'
        '<div class="gmail_quote gmail_quote_container"><div dir="ltr" class="gmail_attr">'
        f'On {when} {said} &lt;<a href="mailto:{address}">{address}</a>&gt; wrote:<br></div>'
        '<blockquote class="gmail_quote" style="margin:0px 0px 0px 0.8ex;'
        'border-left:1px solid rgb(204,204,204);padding-left:1ex">'
        f"{old.inner}</blockquote></div>\n"
    )
    written = f"{text}\n\n{attribution}\n\n{_marked(old.letter.text)}\n"
    return Bodies(written, quoted_html, "quoted-printable")


def _outlook(old: Answered, text: str) -> Bodies:
    rows = {
        "From": f"{old.their_name} <{old.letter.sender}>",
        "Sent": f"{old.sent:%A, %B} {old.sent.day}, {old.sent:%Y} {_hour(old.sent)}",
        "To": f"{old.name} <{old.address}>",
        "Subject": old.letter.subject,
    }
    block = "\n".join(f"{name}: {value}" for name, value in rows.items())
    rows_html = "<br>\n".join(f"<b>{name}:</b> {html.escape(value)}" for name, value in rows.items())
    quoted_html = (
        '<html><head><meta http-equiv="Content-Type" content="text/html; charset=utf-8"></head>\n'
        '<body dir="ltr"><div class="elementToProof" style="font-family: Aptos, Calibri, Helvetica, '
        f'sans-serif; font-size: 12pt;">{_breaks(text)}</div>\n<div id="appendonsend"></div>\n'
        '<hr style="display:inline-block;width:98%" tabindex="-1">\n'
        '<div id="divRplyFwdMsg" dir="ltr"><font face="Calibri, sans-serif" color="#000000">'
        f"{rows_html}</font><div>&nbsp;</div></div>\n<div>{old.inner}</div></body></html>\n"
    )
    written = f"{text}\n\n{'_' * 32}\n{block}\n\n{old.letter.text}\n"
    return Bodies(written, quoted_html, "base64")


def _apple(old: Answered, text: str) -> Bodies:
    when = f"{old.sent:%b} {old.sent.day}, {old.sent:%Y}, at {_hour(old.sent)}"
    attribution = f"On {when}, {old.their_name} <{old.letter.sender}> wrote:"
    quoted_html = (
        '<html><head><meta http-equiv="content-type" content="text/html; charset=utf-8"></head>'
        '<body style="overflow-wrap: break-word; -webkit-nbsp-mode: space; '
        f'line-break: after-white-space;">{_breaks(text)}{PLACE}'
        f'<div><br><blockquote type="cite"><div>{html.escape(attribution)}</div>'
        f'<br class="Apple-interchange-newline"><div>{old.inner}</div></blockquote></div><br></body></html>\n'
    )
    quoted = _marked(f"{attribution}\n\n{old.letter.text}")
    written = f"{text}\n\n{quoted}\n"
    return Bodies(written, quoted_html, "quoted-printable")


WRITERS: dict[Style, Callable[[Answered, str], Bodies]] = {
    Style.GMAIL: _gmail,
    Style.OUTLOOK: _outlook,
    Style.APPLE: _apple,
}


def _hour(at: datetime.datetime) -> str:
    """`2:05 AM`, with the narrow space that Gmail and Apple put there since 2023."""
    return f"{at.hour % 12 or 12}:{at:%M}\N{NARROW NO-BREAK SPACE}{at:%p}"


def _marked(text: str) -> str:
    return "\n".join(f"> {line}".rstrip() if line else ">" for line in text.rstrip("\n").split("\n"))


def _breaks(text: str) -> str:
    return "<br>".join(html.escape(line) for line in text.split("\n"))


def _paragraphs(text: str) -> str:
    return f"<div>{_breaks(text)}</div>"
