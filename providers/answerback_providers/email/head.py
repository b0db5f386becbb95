"""The headers of a mail, split off under limits before anything else looks at it. Nothing is decoded here."""

import re
from dataclasses import dataclass, field

LONGEST_MAIL = 8 << 20  # octets, files and all
LONGEST_HEAD = 64 << 10
LONGEST_HEADER = 8 << 10
MOST_HEADERS = 500
BREAK = re.compile(rb"\r?\n")
FOLD = re.compile(rb"\r?\n(?=[ \t])")
END = re.compile(rb"\A\r?\n|\n\r?\n")
FIELD = re.compile(rb"([!-9;-~]+)[ \t]*:(.*)", re.DOTALL)  # RFC 5322 section 3.6.8


class Unreadable(ValueError):
    """This mail is beyond what is read. Its text names the limit, and nothing of the mail."""


@dataclass(frozen=True, slots=True)
class Head:
    """Headers in their order, names in lower case, values unfolded; and the octets below them."""

    fields: tuple[tuple[str, str], ...] = field(repr=False)
    body: bytes = field(repr=False)

    def all(self, name: str) -> tuple[str, ...]:
        """Every value of a header, topmost first."""
        return tuple(value for known, value in self.fields if known == name)

    def first(self, name: str) -> str:
        """The topmost value of a header; "" where there is none."""
        return next(iter(self.all(name)), "")


def split(raw: bytes) -> Head:
    """Separate headers and body. Raises `Unreadable` beyond a limit, or where the headers are none."""
    end = END.search(raw, 0, LONGEST_HEAD + 4)
    if end is None and len(raw) > LONGEST_HEAD:
        raise Unreadable("headers longer than 64 KiB")
    head, body = (raw[: end.start()], raw[end.end() :]) if end else (raw, b"")
    rows = BREAK.split(FOLD.sub(b"", head))
    if len(rows) > MOST_HEADERS:
        raise Unreadable("too many headers")
    # A long one is cut: servers and long threads write such, and what is cut off can only be missed.
    return Head(tuple(_field(row[:LONGEST_HEADER]) for row in rows if row.strip()), body)


def _field(row: bytes) -> tuple[str, str]:
    found = FIELD.fullmatch(row)
    if found is None:
        raise Unreadable("a header that is none")
    return found[1].decode("ascii").lower(), found[2].strip().decode("utf-8", "replace")
