"""What a FETCH asks for, and what it is told (RFC 3501, section 6.4.5)."""

import datetime
import re

from answerback_sandbox.mail.imap_words import Bad, Words, atom
from answerback_sandbox.mail.state import Kept

BODY = re.compile(r"BODY(\.PEEK)?\[(HEADER|TEXT)?\](?:<(\d+)\.(\d+)>)?", re.IGNORECASE)
FAST = ["FLAGS", "INTERNALDATE", "RFC822.SIZE"]


def items_of(word: "str | Words") -> list[str]:
    """The items of a list, of the macro FAST, or the one item."""
    if isinstance(word, list):
        return [atom(each).upper() for each in word]
    return FAST if word.upper() == "FAST" else [word.upper()]


def marks_seen(item: str) -> bool:
    """Whether fetching this makes a mail seen."""
    found = BODY.fullmatch(item)
    return item in ("RFC822", "RFC822.TEXT") or (found is not None and not found[1])


def item_of(item: str, kept: Kept) -> bytes:
    """One item of a FETCH and its value. Raises Bad."""
    came = datetime.datetime.fromtimestamp(kept.at // 1_000_000, datetime.UTC)
    simple = {
        "UID": str(kept.uid),
        "FLAGS": f"({' '.join(sorted(kept.flags))})",
        "RFC822.SIZE": str(len(kept.raw)),
        "INTERNALDATE": f'"{came:%d-%b-%Y %H:%M:%S} +0000"',
    }
    if item in simple:
        return f"{item} {simple[item]}".encode()
    found = BODY.fullmatch({"RFC822": "BODY[]", "RFC822.HEADER": "BODY.PEEK[HEADER]"}.get(item, item))
    if found is None:
        raise Bad("this server knows no such item to fetch")
    head, blank, text = kept.raw.partition(b"\r\n\r\n")
    octets = {None: kept.raw, "HEADER": head + blank, "TEXT": text}[found[2]]
    label = f"BODY[{found[2] or ''}]" if item.startswith("BODY") else item
    if found[3] is not None:
        start = int(found[3])
        octets, label = octets[start : start + int(found[4])], f"{label}<{start}>"
    return f"{label} {{{len(octets)}}}\r\n".encode() + octets


def flag_of(word: str) -> str:
    """A flag with the capitals that RFC 3501 gives it."""
    return word.capitalize() if not word.startswith("\\") else "\\" + word[1:].capitalize()
