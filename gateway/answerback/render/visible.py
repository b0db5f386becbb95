"""Texts of agents and strangers made safe to look at: what hides or turns around is shown as what it is.

Bidirectional controls can make "refund 1" read as another sum, invisible characters can hide words:
both become their number (⟦U+202E⟧). Joiners and variation selectors stay where writing needs them.
"""

import re
import unicodedata

from answerback.sentences.isolating import FIRST, LAST

# Invisible, and not of the category Cf: fillers, joiners and selectors that are marks or letters.
BLANK = frozenset("\u034f\u115f\u1160\u17b4\u17b5\u180b\u180c\u180d\u180f\u2800\u3164\uffa0")
JOINERS = "\u200c\u200d"
SELECTORS = "\ufe0e\ufe0f"
SUSPECT = re.compile(r"[^\x20-\x7e\n\u00a1-\u00ac\u00ae-\u02ff\u0370-\u05ff\u4e00-\u9fff]")
SPACES = re.compile(r"\s+")
LINE_ENDS = re.compile("\r\n?|[\u0085\u2028\u2029\x0b\x0c]")


def visible(text: str) -> str:
    """The text with controls cut, line ends alike, and what cannot be seen made visible."""
    plain = LINE_ENDS.sub("\n", text)
    return SUSPECT.sub(_shown, plain)


def line(text: str) -> str:
    """`visible`, in one line."""
    return SPACES.sub(" ", visible(text)).strip()


def cap(text: str, most: int) -> str:
    """At most `most` characters, the last of them "…" if something was cut, and what then is still set apart

    closed before that.
    """
    if len(text) <= most:
        return text
    kept = text[: most - 1].rstrip()
    return kept + LAST * (kept.count(FIRST) - kept.count(LAST)) + "…"


def brief(text: str, most: int) -> str:
    """`line`, capped."""
    # A visible character can take eight places: no need to look at more of a long text than can be shown.
    return cap(line(text[: most * 8 + 8]), most)


def _shown(match: re.Match[str]) -> str:
    character, text, place = match[0], match.string, match.start()
    category = unicodedata.category(character)
    if category == "Cc":
        return "\t" if character == "\t" else ""
    if character in SELECTORS:
        return character if _follows_picture(text, place) else _number(character)
    if character in JOINERS:
        return character if _joins(text, place) else _number(character)
    hidden = category in ("Cf", "Cs", "Cn") or character in BLANK or _is_selector(character)
    return _number(character) if hidden else character


def _is_selector(character: str) -> bool:
    return "\ufe00" <= character <= "\ufe0d" or "\U000e0100" <= character <= "\U000e01ef"


def _follows_picture(text: str, place: int) -> bool:
    """Whether a selector chooses how a sign before it is drawn (❤️, 1️⃣)."""
    before = text[place - 1 : place]
    return bool(before) and (unicodedata.category(before)[0] == "S" or before in "0123456789#*‼⁉〰〽㊗㊙")


def _joins(text: str, place: int) -> bool:
    """Whether a joiner stands between two pictures, or between letters of a script that needs it."""
    before, after = text[place - 1 : place], text[place + 1 : place + 2]
    if not before or not after:
        return False
    if _is_picture(before) and _is_picture(after):
        return text[place] == "\u200d"
    return all(
        "\u0600" <= each <= "\u0dff" and unicodedata.category(each)[0] in "LM" for each in (before, after)
    )


def _is_picture(character: str) -> bool:
    return unicodedata.category(character) in ("So", "Sk") or character in SELECTORS


def _number(character: str) -> str:
    return f"⟦U+{ord(character):04X}⟧"
