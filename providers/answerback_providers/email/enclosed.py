"""The files in a mail: which of its parts somebody attached, and what is in them."""

import re
from dataclasses import dataclass
from email.errors import HeaderParseError
from email.header import decode_header, make_header
from email.message import Message as Part
from typing import Any
from urllib.parse import unquote

from answerback_providers.email.head import Unreadable

ENCRYPTED = "multipart/encrypted"
MEDIA = frozenset({"image", "audio", "video"})
# What programs add by themselves, and what nobody here can open: signatures, keys, the shell of what is
# encrypted (RFC 3156, RFC 8551), invitations.
ADDED = frozenset(
    {
        "application/pgp-encrypted",
        "application/pgp-keys",
        "application/pgp-signature",
        "application/pkcs7-mime",
        "application/pkcs7-signature",
        "application/x-pkcs7-mime",
        "application/x-pkcs7-signature",
        "text/calendar",
    }
)
# Apple Mail shows a photo that is sent with a reply in its text, as others show the logo below a name. What
# tells them apart is how much there is of it: rather a logo too many than a photo lost.
LOGO = 8 * 1024  # octets
SHOWN = re.compile(r"\bcid:([^\s\"'<>)]{1,300})", re.IGNORECASE)  # a picture that the text shows (RFC 2392)


@dataclass(frozen=True, slots=True)
class Enclosed:
    """A file in a mail. `place`: of its part among all, outermost first; `size` in octets, None: unknown."""

    place: int
    name: str
    content_type: str
    size: int | None


def enclosed(parts: list[Part]) -> tuple[Enclosed, ...]:
    """What was attached, in order, of all parts of a mail; not what its text shows as a logo below a name."""
    shown, sealed = _shown(parts), _sealed(parts)
    files = (
        (Enclosed(place, _name(part), part.get_content_type(), _size(part)), _id(part) in shown)
        for place, part in enumerate(parts)
        if is_file(part) and id(part) not in sealed
    )
    return tuple(file for file, is_shown in files if not is_shown or (file.size or 0) >= LOGO)


def _sealed(parts: list[Part]) -> frozenset[int]:
    """What is encrypted: nobody but the addressee of its key can tell what it is."""
    shells: list[Any] = [part.get_payload() for part in parts if part.get_content_type() == ENCRYPTED]
    return frozenset(id(each) for inside in shells if isinstance(inside, list) for each in inside)


def content(part: Part) -> bytes:
    """The octets of a part, without its transfer encoding; of a mail in a mail, all of that."""
    if part.get_content_type() == "message/rfc822" and part.is_multipart():
        inner: Any = part.get_payload(0)
        try:
            return bytes(inner.as_bytes())
        except (UnicodeError, LookupError):  # its own program wrote what is no mail: as well as can be
            return str(inner).encode("utf-8", "replace")
    payload = part.get_payload(decode=True)
    return payload if isinstance(payload, bytes) else b""


def _size(part: Part) -> int | None:
    """One file that cannot be written down must not hide what stands beside it."""
    try:
        return len(content(part))
    except Exception:  # whatever a hostile mail brings about
        return None


def at(parts: list[Part], place: int) -> bytes:
    """The octets of the file at a place. Raises `Unreadable` where there is none."""
    if not 0 <= place < len(parts) or not is_file(parts[place]):
        raise Unreadable("no such file")
    return content(parts[place])


def is_file(part: Part) -> bool:
    """Whether somebody attached it, or it is no text to begin with."""
    kind = part.get_content_type()
    if part.get_content_maintype() == "multipart" or kind in ADDED:
        return False
    named = part.get_content_disposition() == "attachment" or bool(_name(part))
    return named or part.get_content_maintype() in MEDIA


def _shown(parts: list[Part]) -> frozenset[str]:
    """The ids of what the HTML of a mail shows."""
    pages = (part for part in parts if part.get_content_type() == "text/html" and not is_file(part))
    found = (name for page in pages for name in SHOWN.findall(content(page).decode("utf-8", "replace")))
    return frozenset(unquote(name).lower() for name in found)


def _id(part: Part) -> str:
    return str(part.get("content-id", "")).strip("<> \t").lower()


def _name(part: Part) -> str:
    """Its file name (RFC 2183, RFC 2231), or what Outlook writes there instead: encoded words (RFC 2047)."""
    try:
        name = part.get_filename() or ""
    except (TypeError, ValueError):  # faults of its parser on parameters that are none
        return ""
    try:
        return str(make_header(decode_header(name)))
    except (HeaderParseError, LookupError, ValueError):
        return name
