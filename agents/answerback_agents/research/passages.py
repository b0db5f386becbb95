"""Passages of a Markdown document: paragraphs, list items and rows of tables, each with its section."""

import re
from collections.abc import Iterator
from dataclasses import dataclass

FENCE = re.compile(r"^\s*(```|~~~)")
HEADING = re.compile(r"^#{1,6}\s+(.+?)\s*#*$")
ITEM = re.compile(r"^\s*(?:[-*+]|\d+[.)])\s+")
RULE = re.compile(r"^\s*\|?[\s:|-]*-[\s:|-]*\|?\s*$")
SHORTEST = 3  # words: less is a label, not something to cite


@dataclass(frozen=True, slots=True)
class Passage:
    """A stretch of a document as it stands there, white space aside. `section` is the heading above it."""

    document: str
    section: str
    text: str


def passages(document: str, markdown: str) -> Iterator[Passage]:
    """The passages in order. What stands between code fences is left out: it says nothing by itself."""
    section, block = "", list[str]()

    def whole() -> Iterator[Passage]:
        text = " ".join(" ".join(block).split())
        block.clear()
        if len(re.findall(r"\w+", text)) >= SHORTEST:
            yield Passage(document, section, text)

    for line in _prose(markdown):
        heading = HEADING.match(line)
        if heading or not line.strip() or ITEM.match(line) or line.lstrip().startswith("|"):
            yield from whole()
        if heading:
            section = heading[1].replace("`", "")
        elif line.lstrip().startswith("|"):
            block.append(line.strip().strip("|") if not RULE.match(line) else "")
            yield from whole()
        else:
            block.append(ITEM.sub("", line))
    yield from whole()


def _prose(markdown: str) -> Iterator[str]:
    fence = ""
    for line in markdown.splitlines():
        found = FENCE.match(line)
        if found and fence in ("", found[1]):
            fence = "" if fence else found[1]
            yield ""
        elif not fence:
            yield line
