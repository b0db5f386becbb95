"""Numbers as people write them: decimal comma or point, grouped thousands, digits of any script."""

import math
import re
import unicodedata

from answerback.model import Question
from answerback.read.normal import tidy
from answerback.read.numerals import spelt
from answerback.read.result import Read, Unclear, Value
from answerback.sentences import number as written
from answerback.values import LARGEST, SMALLEST

SPACES = re.compile(r"(?<=\d)[ '’\u00a0\u2009\u202f](?=\d{3}(?!\d))")  # separators that only group
PLAIN = re.compile(r"[+-]?\d+(?:[.,]\d+)*")
SIGNS = str.maketrans("−－＋，．٫٬", "--+,..,")
# What stands around a number and says nothing; not "(", which makes some a negative one.
AROUND = ' \t\r\n!.。！*_`"“”„«»'
UNIT_BEHIND = re.compile(
    r"(?P<number>[+-]?\d[\d.,' \u00a0\u202f’]{0,40}?|\w{1,12}(?=\s))"
    r"\s*(?P<unit>[^\W\d_]{1,20}\.?|[%‰°\u20a0-\u20bf$£¥])"
)
UNIT_BEFORE = re.compile(
    r"(?P<unit>[A-Z]{3}|[\u20a0-\u20bf$£¥￥])\s*(?P<number>[+-]?\d[\d.,' \u00a0\u202f’]{0,40})"
)
COURTESY = frozenset("please pls bitte merci svp gracias 个 個".split())
MOST = 40  # characters of a number


def read_number(question: Question, text: str, language: str) -> Read:
    """A number that fits its question. "1.234" can mean two numbers, so it is asked again."""
    found = _found(question, text, language)
    if isinstance(found, Unclear):
        return Unclear(found.key, {**found.args, "text": text, "example": _example(question, language)})
    if question.whole and isinstance(found, float):
        if not found.is_integer():
            return Unclear("number_whole", {"text": text, "example": _example(question, language)})
        found = int(found)
    if not SMALLEST <= found <= LARGEST:
        return Unclear("unclear_number", {"text": text, "example": _example(question, language)})
    if question.minimum is not None and found < question.minimum:
        return Unclear("number_small", {"text": text, "limit": _limit(question.minimum, language)})
    if question.maximum is not None and found > question.maximum:
        return Unclear("number_large", {"text": text, "limit": _limit(question.maximum, language)})
    return Value(found, text)


def _found(question: Question, text: str, language: str) -> int | float | Unclear:
    """The number in digits or in a word, as it is or with the unit that the question itself names."""
    alone = _without_unit(question, text.strip().strip(AROUND))
    found = parse(alone, whole=question.whole)
    word = spelt(tidy(alone), language) if isinstance(found, Unclear) else None
    return found if word is None else word


def _without_unit(question: Question, text: str) -> str:
    """ "5 GB" where GB are asked for, "€ 5" where it says €: in another unit it would be another number."""
    split = UNIT_BEHIND.fullmatch(text) or UNIT_BEFORE.fullmatch(text) if len(text) <= 2 * MOST else None
    if split is None:
        return text
    unit = tidy(split["unit"]).rstrip(".")
    if unit in COURTESY:
        return split["number"]
    asked = tidy(question.text)
    edge = r"\w" if unit.isalpha() and unit.isascii() else "(?!)"
    named = re.search(rf"(?<!{edge}){re.escape(unit)}(?!{edge})", asked)
    return split["number"] if named else text


def parse(text: str, *, whole: bool = False) -> int | float | Unclear:
    """The one number that a text can mean. `whole`: no decimals are possible, so a sign only groups."""
    plain = _plain(text)
    if not PLAIN.fullmatch(plain):
        return Unclear("unclear_number", {"text": text})
    sign, body = (plain[0], plain[1:]) if plain[0] in "+-" else ("", plain)
    marks = [character for character in body if character in ".,"]
    if not marks:
        return int(sign + body)
    parts = re.split("[.,]", body)
    grouped = _groups(parts) and len(set(marks)) == 1
    last_differs = len(marks) > 1 and len(set(marks[:-1])) == 1 and marks[-1] != marks[-2]
    decimal = len(marks) == 1 or (last_differs and _groups(parts[:-1]))
    if grouped and decimal and not whole:
        one, other = "".join(parts), f"{parts[0]}{marks[0]}{parts[1]}0"
        return Unclear("number_ambiguous", {"text": text, "one": sign + one, "other": sign + other})
    if grouped:
        return int(sign + "".join(parts))
    if decimal:
        return float(f"{sign}{''.join(parts[:-1])}.{parts[-1]}")
    return Unclear("unclear_number", {"text": text})


def _plain(text: str) -> str:
    """ASCII digits and signs, without what only groups; "" if it is too long to be a number."""
    short = text.strip()[: MOST + 1].translate(SIGNS)
    if len(short) > MOST:
        return ""
    signs = "".join(str(unicodedata.decimal(each)) if each.isdecimal() else each for each in short)
    return SPACES.sub("", signs)


def _groups(parts: list[str]) -> bool:
    """Whether thousands may be separated like that: 1.234.567, and not 0.123 or 12.34."""
    first, *others = parts
    begins = 1 <= len(first) <= 3 and not first.startswith("0")
    return bool(others) and begins and all(len(part) == 3 for part in others)


def _example(question: Question, language: str) -> str:
    """A number as it may be written: 12, or else one of its limits."""
    low = question.minimum if question.minimum is not None else float("-inf")
    high = question.maximum if question.maximum is not None else float("inf")
    if low > high or low <= 12 <= high:
        return "12"
    near = low if low > 12 else high
    if question.whole:
        near = math.ceil(near) if near == low else math.floor(near)
    return _limit(near, language)


def _limit(value: float, language: str) -> str:
    return written(int(value) if float(value).is_integer() else value, language)
