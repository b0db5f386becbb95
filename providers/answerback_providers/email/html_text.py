"""The text of an HTML mail, in linear time: blocks become lines, and a ">" stands before what is quoted."""

import html
import re

LONGEST_HTML = 256 << 10  # characters
MOST_LEVELS = 10
PIECE = re.compile(r"<(/?)([a-zA-Z][a-zA-Z0-9:]{0,20})(?:[\s/][^<>]*)?>|([^<]+|<)")
BLOCKS = frozenset(
    "address article blockquote body dd div dl dt figure footer h1 h2 h3 h4 h5 h6 header hr li main ol p pre "
    "section table tr ul".split()
)
SPACED = frozenset("blockquote h1 h2 h3 h4 h5 h6 p".split())
STRUCK = frozenset("del s strike".split())  # what is struck out is not said
UNSEEN = frozenset("head noscript script style template title".split())
MARK = "> "


class _Page:
    """Lines so far, and how deep in a quotation the next one stands."""

    def __init__(self) -> None:
        self.lines = [""]
        self.level, self.hidden = 0, ""

    def tag(self, closing: bool, name: str) -> None:
        if name in UNSEEN:
            self.hidden = "" if closing else name
        elif name == "br":
            self.lines.append("")
        elif name in STRUCK:
            self.text("~")
        elif name in BLOCKS:
            self._edge(name in SPACED)
        if name == "blockquote":
            self.level = max(0, self.level - 1) if closing else min(self.level + 1, MOST_LEVELS)

    def text(self, written: str) -> None:
        words = re.sub(r"[ \t\r\n\f]+", " ", written)
        line = self.lines[-1]
        if line.strip() in ("", ">"):
            words = words.lstrip(" ")
        if words and not line:
            line = MARK * self.level
        self.lines[-1] = line + words

    def _edge(self, spaced: bool) -> None:
        """A block begins on a line of its own, a paragraph with an empty one before it."""
        if self.lines[-1]:
            self.lines.append("")
        if spaced and len(self.lines) > 1 and self.lines[-2]:
            self.lines.append("")


def as_text(page: str) -> str:
    """What a reader sees of a page of HTML, at most 256 KiB of it."""
    shown = _Page()
    for closing, name, written in PIECE.findall(_without_comments(page[:LONGEST_HTML])):
        lowered = name.lower()
        if shown.hidden and not (closing and lowered == shown.hidden):
            continue
        if name:
            shown.tag(bool(closing), lowered)
        else:
            shown.text(html.unescape(written))
    lines = [line.rstrip(" ") for line in shown.lines]
    return "\n".join(lines).replace("\u00a0", " ").strip("\n")


def _without_comments(page: str) -> str:
    kept, place = [], 0
    while (start := page.find("<!--", place)) >= 0:
        kept.append(page[place:start])
        end = page.find("-->", start)
        if end < 0:
            return "".join(kept)
        place = end + 3
    return "".join([*kept, page[place:]])
