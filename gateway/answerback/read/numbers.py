"""Numbers as people write them: decimal comma or point, grouped thousands, digits of any script."""

import re
import unicodedata

from answerback.model import Question
from answerback.read.result import Read, Unclear, Value
from answerback.sentences import number as written
from answerback.values import LARGEST, SMALLEST

SPACES = re.compile(r"(?<=\d)[ '’\u00a0\u2009\u202f](?=\d{3}(?!\d))")  # separators that only group
PLAIN = re.compile(r"[+-]?\d+(?:[.,]\d+)*")
SIGNS = str.maketrans("−－＋，．٫٬", "--+,..,")
MOST = 40  # characters of a number


def read_number(question: Question, text: str, language: str) -> Read:
    """A number that fits its question. "1.234" can mean two numbers, so it is asked again."""
    found = parse(text, whole=question.whole)
    if isinstance(found, Unclear):
        return found
    if question.whole and isinstance(found, float):
        if not found.is_integer():
            return Unclear("number_whole", {"text": text})
        found = int(found)
    if not SMALLEST <= found <= LARGEST:
        return Unclear("unclear_number", {"text": text})
    if question.minimum is not None and found < question.minimum:
        return Unclear("number_small", {"text": text, "limit": _limit(question.minimum, language)})
    if question.maximum is not None and found > question.maximum:
        return Unclear("number_large", {"text": text, "limit": _limit(question.maximum, language)})
    return Value(found, text)


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


def _limit(value: float, language: str) -> str:
    return written(int(value) if float(value).is_integer() else value, language)
