"""The parts of a mail: what a person wrote in it, and what its other parts make of it."""

import codecs
import email
import email.policy
import re
from dataclasses import dataclass, field
from email.message import Message as Part
from typing import Any

from answerback_providers.email.enclosed import ENCRYPTED, Enclosed, at, content, enclosed, is_file
from answerback_providers.email.head import LONGEST_MAIL, Unreadable
from answerback_providers.email.html_text import as_text

LONGEST_BODY = 1 << 20  # octets of one body: reading more would take too long, and is no answer
ACTION = re.compile(r"^action:[ \t]*([a-z]{1,20})", re.IGNORECASE | re.MULTILINE)
BODIES = ("text/plain", "text/html")  # the better one first
MOST_PARTS = 100
DEEPEST = 20
MOST_BOUNDARIES = 50  # declared ones: each line of a mail is compared with all that are open
REACTION = "text/vnd.google.email-reaction+json"
SEALED = "-----BEGIN PGP MESSAGE-----"
# What is written where a narrower charset is named: https://encoding.spec.whatwg.org/#names-and-labels
MEANT = {
    "gb2312": "gb18030",
    "gbk": "gb18030",
    "big5": "big5hkscs",
    "euc_kr": "cp949",
    "shift_jis": "cp932",
    "iso8859-1": "cp1252",
    "iso8859-9": "cp1254",
    "iso8859-11": "cp874",
}
# What `bytes.decode` knows beside charsets of mail: slow on hostile text, or no charset at all.
NO_CHARSET = frozenset("idna punycode unicode_escape raw_unicode_escape undefined utf_7".split())


@dataclass(frozen=True, slots=True)
class Written:
    """`text` is the whole plain text, quotations included; `types` are the types of all parts."""

    text: str = field(repr=False)
    types: frozenset[str]
    actions: tuple[str, ...] = ()  # of a delivery report (RFC 3464 section 2.3.3)
    files: tuple[Enclosed, ...] = ()
    whole: bool = True  # False: a body is too long to be read


def written(raw: bytes) -> Written:
    """Read the parts. Raises `Unreadable` beyond a limit; RecursionError is one of them."""
    parts = _parts(raw)
    types = frozenset(part.get_content_type() for part in parts)
    bodies = [part for part in parts if part.get_content_type() in BODIES and not is_file(part)]
    if any(len(content(part)) > LONGEST_BODY for part in bodies):
        return Written("", types, _actions(parts), whole=False)
    if REACTION in types:  # a smile below our mail is no answer, and the text beside it is Gmail's
        return Written("", types, _actions(parts))
    return Written(_text(parts[0]), types, _actions(parts), enclosed(parts))


def file(raw: bytes, place: int) -> bytes:
    """The octets of the file at a place (`Enclosed.place`). Raises `Unreadable`."""
    return at(_parts(raw), place)


def _parts(raw: bytes) -> list[Part]:
    if len(raw) > LONGEST_MAIL:
        raise Unreadable("longer than 8 MiB")
    if raw.lower().count(b"boundary") > MOST_BOUNDARIES:
        raise Unreadable("too many boundaries")
    return _flat(email.message_from_bytes(raw, policy=email.policy.compat32))


def _flat(whole: Part) -> list[Part]:
    """Every part, outermost first; what is attached as a mail is not looked into."""
    found: list[Part] = []
    open_ = [(whole, 0)]
    while open_:
        part, depth = open_.pop()
        found.append(part)
        if len(found) > MOST_PARTS or depth > DEEPEST:
            raise Unreadable("too many parts, or too deep")
        if part.is_multipart() and part.get_content_type() != "message/rfc822":
            inside: Any = part.get_payload()
            open_ += [(each, depth + 1) for each in reversed(inside) if isinstance(each, Part)]
    return found


def _text(part: Part) -> str:
    """What was written: of alternatives the plain one; otherwise all, above and below a photo."""
    kind = part.get_content_type()
    if not part.is_multipart():
        text = _decoded(part) if kind in BODIES and not is_file(part) else ""
        return "" if text.lstrip().startswith(SEALED) else as_text(text) if kind == "text/html" else text
    if part.get_content_maintype() == "message" or kind == ENCRYPTED:
        return ""
    payload: Any = part.get_payload()
    inside = [each for each in payload if isinstance(each, Part)]
    if kind != "multipart/alternative":
        return "\n".join(text for each in inside if (text := _text(each)).strip())
    inside.sort(key=lambda each: each.get_content_type() != "text/plain")
    return next((text for each in inside if (text := _text(each)).strip()), "")


def _decoded(part: Part) -> str:
    payload = part.get_payload(decode=True)
    octets = payload if isinstance(payload, bytes) else b""
    text = _characters(octets, (part.get_content_charset() or "us-ascii").lower()).removeprefix("\ufeff")
    text = text.replace("\r\n", "\n").replace("\r", "\n").removesuffix("\n")
    flowed = str(part.get_param("format", "")).lower() == "flowed"
    return _unflowed(text, delsp=str(part.get_param("delsp", "")).lower() == "yes") if flowed else text


def _characters(octets: bytes, charset: str) -> str:
    """In the charset that is meant: programs name a narrower one than they write, or none."""
    try:
        named = "" if charset.replace("-", "_") in NO_CHARSET else codecs.lookup(charset).name
        if named not in ("", "ascii"):
            return octets.decode(MEANT.get(named, named), "replace")
        return octets.decode("utf-8")
    except (LookupError, UnicodeError, ValueError):
        return octets.decode("utf-8" if _is_utf8(octets) else "cp1252", "replace")


def _is_utf8(octets: bytes) -> bool:
    try:
        octets.decode("utf-8")
    except UnicodeDecodeError:
        return False
    return True


def _unflowed(text: str, *, delsp: bool) -> str:
    """Join the lines that the sender's program broke (RFC 3676 section 4)."""
    joined: list[list[str]] = []
    level, soft = -1, False
    for line in text.split("\n"):
        depth = len(line) - len(line.lstrip(">"))
        words = line[depth:].removeprefix(" ")
        goes_on = words.endswith(" ") and words != "-- "
        shown = words[:-1] if goes_on and delsp else words
        if soft and depth == level and words != "-- ":
            joined[-1].append(shown)
        else:
            joined.append([">" * depth + (" " if depth else ""), shown])
        level, soft = depth, goes_on
    return "\n".join("".join(pieces) for pieces in joined)


def _actions(parts: list[Part]) -> tuple[str, ...]:
    reports = [part for part in parts if part.get_content_type() == "message/delivery-status"]
    return tuple(action.lower() for report in reports for action in ACTION.findall(str(report)))
