"""Reads the octets of a mail into a letter, as a mail program shows it."""

import email
import email.policy
import re
from dataclasses import replace
from email.message import EmailMessage, MIMEPart
from email.utils import getaddresses
from functools import lru_cache
from html.parser import HTMLParser

from answerback_sandbox.mail.enclosing import enclosed
from answerback_sandbox.mail.state import Kept, Letter, Link

SEEN = r"\Seen"


def letter(kept: Kept) -> Letter:
    """What a mail says. Whatever stands in it, this raises nothing: mail is not always well made."""
    found = _letter(kept.uid, kept.raw, kept.at, kept.mine)
    return replace(found, read=True) if SEEN in kept.flags else found


@lru_cache(maxsize=2048)
def _letter(uid: int, raw: bytes, at: int, mine: bool) -> Letter:
    """The part that does not change: a page that shows a mailbox reads each mail again and again."""
    mail = parsed(raw)
    html = _part(mail, "html")
    sender_name, sender = _first(mail, "from")
    names = list(dict.fromkeys(name.lower() for name in mail.keys()))  # noqa: SIM118 (it lists names twice)
    return Letter(
        uid=uid,
        message_id=header(mail, "message-id"),
        sender=sender,
        sender_name=sender_name,
        to=_first(mail, "to")[1],
        reply_to=_first(mail, "reply-to")[1],
        subject=header(mail, "subject"),
        text=_part(mail, "plain"),
        html=html,
        at=at,
        mine=mine,
        read=mine,
        links=_links(html),
        files=enclosed(mail),
        headers={name: header(mail, name) for name in names},
        raw=raw,
    )


def parsed(raw: bytes) -> EmailMessage:
    """A mail as the standard library reads it."""
    return email.message_from_bytes(raw, policy=email.policy.default)


def header(mail: EmailMessage, name: str) -> str:
    """The topmost header of that name in one line; "" where there is none, or none that can be read."""
    try:
        return " ".join(str(mail.get(name, "")).split())
    except (ValueError, IndexError, LookupError, RecursionError):  # faults of its parser on hostile headers
        return ""


def _first(mail: EmailMessage, name: str) -> tuple[str, str]:
    """Display name and address of the first mailbox in a header."""
    found = [pair for pair in getaddresses([header(mail, name)]) if pair[1]]
    return found[0] if found else ("", "")


def _part(mail: EmailMessage, subtype: str) -> str:
    try:
        part = mail.get_body((subtype,))
    except (ValueError, LookupError, RecursionError):
        return ""
    return _text(part) if part is not None else ""


def _text(part: MIMEPart) -> str:
    payload = part.get_payload(decode=True)
    octets = payload if isinstance(payload, bytes) else b""
    try:
        text = octets.decode(part.get_content_charset("utf-8"), "replace")
    except LookupError:
        text = octets.decode("utf-8", "replace")
    return text.replace("\r\n", "\n")


class _Anchors(HTMLParser):
    """Collects what can be tapped."""

    def __init__(self) -> None:
        super().__init__(convert_charrefs=True)
        self.links: list[Link] = []
        self._url: str | None = None
        self._label: list[str] = []

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        if tag == "a":
            url = dict(attrs).get("href") or ""
            self._url, self._label = url if re.match(r"https?://", url, re.IGNORECASE) else None, []

    def handle_data(self, data: str) -> None:
        self._label.append(data)

    def handle_endtag(self, tag: str) -> None:
        if tag == "a" and self._url is not None:
            self.links.append(Link(" ".join("".join(self._label).split()), self._url))
            self._url = None


def _links(html: str) -> tuple[Link, ...]:
    anchors = _Anchors()
    anchors.feed(html)
    anchors.close()
    return tuple(anchors.links)
