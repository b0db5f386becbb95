"""Texts made comparable: one form of Unicode, no case, no decoration around them."""

import re
import unicodedata

SPACES = re.compile(r"\s+")
COMMA = re.compile(r"\s*[,，、]\s*")
QUOTES = " '\"`´‘’“”„«»‹›)]*_"
# What people put around a word without changing what it says. Not "?", which does, nor "~", which strikes
# it out; not "-", "+" and "#", which belong to numbers and names (-1, C++, C#).
DECORATION = " \t\r\n.,;:!¡…。，、！；：‼❗❕'\"`´‘’“”„«»‹›()[]*_"
DECORATION += "\u200b\u200e\u200f\u061c\u2060\ufeff"  # what telephones and copying leave unseen
# What follows a yes that is not all yet: "yes, …".
UNFINISHED = (",", "，", "、", ":", "：", ";", "；", "…", "..", "。。")
NEGATED = re.compile(r"[^\w!！]*[!！]+\w")
EMPTY_BOX = re.compile(r"[\[(]\s*[\])]")  # not ticked
SMILE = re.compile(r"\s*[:=]-?\)+$")
FACE = re.compile(r"[:;=][-'^]?[()\[\]]+$|[()\[\]]+[-'^]?[:;=]$")
FACE_AT = 12  # characters at the end: nobody smiles longer
FULL_WIDTH = {0x3000: " "} | {0xFEE0 + each: chr(each) for each in range(0x21, 0x7F)}
MARKS = frozenset('"“”„«»‹›' + "\ufe0f\ufe0e\u200d")
PICTURES = frozenset({"So", "Sk", "Cs", "Cn"})
SPEAKING = PICTURES - {"Sk"}
AGREEING = frozenset("👍👌✅✔☑💯🆗🙆")
REFUSING = frozenset("👎❌✖🚫🛑⛔🙅")
NEUTRAL = frozenset("🙏🙂😀😃😄😊😉🎉🚀❤")
MODIFIERS = frozenset("\ufe0f\ufe0e🏻🏼🏽🏾🏿")


def tidy(text: str) -> str:
    """NFC, case folded, white space runs as one space: equal for a reader means equal here."""
    folded = unicodedata.normalize("NFC", unicodedata.normalize("NFC", text).casefold())
    return SPACES.sub(" ", folded).strip()


def bare(text: str) -> str:
    """`tidy`, and without the punctuation around it. Not without a "!" right before a word: it negates."""
    whole = tidy(text)
    return whole if NEGATED.match(whole) else whole.strip(DECORATION)


def bare_and_mood(text: str) -> tuple[str, frozenset[str]]:
    """`bare` without emoji around it either, and what those say: of "yes", "no".

    A comma in it is as good as none ("yes, please"). What trails off, winks or is a box without a tick
    stays as it is, and so is no phrase.
    """
    emoji = "".join(AGREEING | REFUSING | NEUTRAL | MODIFIERS)
    whole = SMILE.sub("", tidy(text.translate(FULL_WIDTH)))
    inner = whole.strip(DECORATION + emoji)
    around = set(whole.replace(inner, "", 1)) if inner else set(whole)
    says = {"yes"} if around & AGREEING else set()
    mood = frozenset(says | ({"no"} if around & REFUSING else set()))
    if (
        NEGATED.match(whole)
        or whole.rstrip(QUOTES + emoji).endswith(UNFINISHED)
        or EMPTY_BOX.search(whole)
        or FACE.search(whole[-FACE_AT:])
    ):
        return whole, mood
    return COMMA.sub(" ", inner), mood


def letters(text: str) -> str:
    """`bare`, and without pictures and quotation marks in it: what somebody types who reads "🛑 Stop"."""
    kept = (each for each in tidy(text) if unicodedata.category(each) not in PICTURES and each not in MARKS)
    return bare("".join(kept))


def pictures(text: str) -> frozenset[str]:
    """The emoji in a text, and what else of signs says something by itself."""
    return frozenset(each for each in text if unicodedata.category(each) in SPEAKING) - MODIFIERS


def digits(text: str) -> int | None:
    """A text of nothing but decimal digits of any script as a number; None for any other, or a long one."""
    return int(text) if text.isdecimal() and len(text) <= 9 else None
