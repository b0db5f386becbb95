"""Texts made comparable: one form of Unicode, no case, no decoration around them."""

import re
import unicodedata

SPACES = re.compile(r"\s+")
# What people put around a word without changing what it says. Not "?", which does; not "-", "+" and "#",
# which belong to numbers and names (-1, C++, C#).
DECORATION = " \t\r\n.,;:!¡…。，、！；：'\"`´‘’“”„«»‹›()[]*_~"
AGREEING = frozenset("👍👌✅✔☑💯🆗🙆")
REFUSING = frozenset("👎❌✖🚫🛑⛔🙅")
NEUTRAL = frozenset("🙏🙂😀😃😄😊😉🎉🚀❤")
MODIFIERS = frozenset("\ufe0f\ufe0e🏻🏼🏽🏾🏿")


def tidy(text: str) -> str:
    """NFC, case folded, white space runs as one space: equal for a reader means equal here."""
    folded = unicodedata.normalize("NFC", unicodedata.normalize("NFC", text).casefold())
    return SPACES.sub(" ", folded).strip()


def bare(text: str) -> str:
    """`tidy`, and without the punctuation around it."""
    return tidy(text).strip(DECORATION)


def bare_and_mood(text: str) -> tuple[str, frozenset[str]]:
    """`bare` without emoji around it either, and what those say: of "yes", "no"."""
    emoji = AGREEING | REFUSING | NEUTRAL
    inner = bare(text).strip(DECORATION + "".join(emoji | MODIFIERS))
    around = set(tidy(text).replace(inner, "", 1)) if inner else set(tidy(text))
    says = {"yes"} if around & AGREEING else set()
    return inner, frozenset(says | ({"no"} if around & REFUSING else set()))


def digits(text: str) -> int | None:
    """A text of nothing but decimal digits of any script as a number; None for any other, or a long one."""
    return int(text) if text.isdecimal() and len(text) <= 9 else None
