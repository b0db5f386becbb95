"""Which of several: "2", "2.", "#2", "No. 2", "2nd", "the second one", "die zweite", "第二个"."""

import re

from answerback.read.normal import bare, digits

BEFORE = r"(?:#|n[o°º]\.?|nr\.?|num|number|nummer|numéro|número|option|choice|antwort|opción|编号|选项|选|第)"
AFTER = r"(?:st|nd|rd|th|er|re|e|ème|º|ª|个|個|号|項|项)"
WRITTEN = re.compile(rf"{BEFORE}?\s*(\d{{1,9}})\s*\)?{AFTER}?\s*(?:one)?")
KEYCAP = re.compile("([0-9])\ufe0f?\u20e3")
MOST = 40  # characters
CIRCLED = {chr(0x2460 + place): place + 1 for place in range(20)} | {"🔟": 10}
ARTICLE = re.compile(r"^(?:the|der|die|das|den|le|la|el|lo) | one$|^第|[个個项項]$")
# The first, the second, … Not "second" alone: that may be a time; with its article it is a place.
ORDINALS = (
    "first|erste|ersten|erster|erstes|premier|première|primero|primera|一",
    "second|zweite|zweiten|zweiter|zweites|deuxième|second|seconde|segundo|segunda|二",
    "third|dritte|dritten|dritter|drittes|troisième|tercero|tercera|三",
    "fourth|vierte|vierten|vierter|viertes|quatrième|cuarto|cuarta|四",
    "fifth|fünfte|fünften|fünfter|fünftes|cinquième|quinto|quinta|五",
)
PLACE_OF = {word: at for at, words in enumerate(ORDINALS, start=1) for word in words.split("|")}


def place(text: str) -> int | None:
    """The place that all of a text names, counted from 1; None if it names none."""
    if len(text) > MOST:
        return None
    plain = KEYCAP.sub(r"\1", bare(text)).strip()
    if plain in CIRCLED:
        return CIRCLED[plain]
    if match := WRITTEN.fullmatch(plain):
        return digits(match[1])
    word = ARTICLE.sub("", plain)
    return PLACE_OF.get(word) if word != plain else None
