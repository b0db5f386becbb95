"""Foreign text made fit for a mail: what cannot be stored or shown goes, what a reader sees stays."""

import re

CONTROLS = re.compile(r"[\x00-\x08\x0b-\x1f\x7f-\x9f]")


def block(text: str) -> str:
    """Several lines, separated by LF, without control characters (tabs stay) or lone surrogates."""
    whole = text.encode("utf-16-le", "surrogatepass").decode("utf-16-le", "replace")
    return CONTROLS.sub("", "\n".join(whole.splitlines()))


def line(text: str) -> str:
    """The same in one line, with single spaces."""
    return " ".join(block(text).split())


def header(text: str) -> str:
    """One line, fit for a header: nothing in it starts an encoded word (RFC 2047 section 2)."""
    return line(text).replace("=?", "= ?")


def link(url: str) -> str:
    """An http or https address, or "" for whatever else it claims to be."""
    fits = url.isascii() and re.fullmatch(r"https?://[\x21-\x7e]+", url, re.IGNORECASE)
    return url if fits else ""
