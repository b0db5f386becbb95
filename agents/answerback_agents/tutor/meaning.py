"""What an answer means if all of it is listed phrases. Pure.

"Yes but shorter" is none, and neither is "yes?": whatever is not a listed phrase to its last word is left to
be read as feedback, and approves nothing.
"""

import re
import unicodedata
from collections.abc import Iterable
from enum import StrEnum

from answerback_agents.tutor.catalogue import LETTER
from answerback_agents.tutor.phrases import BESIDE, DIFFERENT, MORE, OTHERS, REFUSED, SATISFIED, STOP, YES

SEPARATORS = r"[\s.,;:!¡…。，、！；：'\"“”„«»()（）\ufe0f🏻🏼🏽🏾🏿–—-]+"
LONGEST = 100  # characters: more is not a phrase
QUOTES = str.maketrans("’‘", "''")


class Said(StrEnum):
    """What a whole answer says."""

    YES = "yes"
    DIFFERENT = "different"
    MORE = "more"
    STOP = "stop"
    SOMETHING = "something"  # in words of their own


Meanings = tuple[tuple[Said, re.Pattern[str]], ...]


def _listed(*tables: str) -> set[str]:
    return {phrase.strip() for table in tables for phrase in table.split("|")}


def _token(phrases: set[str]) -> re.Pattern[str]:
    beside = _listed(BESIDE) - phrases
    return re.compile(
        f"(?P<phrase>{_longest_first(phrases)})|(?P<beside>{_longest_first(beside)})|{SEPARATORS}"
    )


def _longest_first(phrases: Iterable[str]) -> str:
    ordered = sorted(phrases, key=lambda phrase: (-len(phrase), phrase))
    return "|".join(
        f"(?<!{LETTER}){re.escape(each)}(?!{LETTER})" if each[0].isascii() or each[-1].isascii()
        else re.escape(each)
        for each in ordered
    )  # fmt: skip


OF_A_PLAN = (
    (Said.YES, _token(_listed(YES, SATISFIED))),
    (Said.DIFFERENT, _token(_listed(DIFFERENT, OTHERS))),
    (Said.DIFFERENT, _token(_listed(REFUSED))),
    (Said.STOP, _token(_listed(STOP))),
)
OF_COURSES = (
    (Said.YES, _token(_listed(YES, SATISFIED))),
    (Said.MORE, _token(_listed(MORE))),
    (Said.DIFFERENT, _token(_listed(DIFFERENT, OTHERS, MORE))),
    (Said.DIFFERENT, _token(_listed(REFUSED))),
    (Said.STOP, _token(_listed(STOP))),
)
BARE = (_token(_listed(YES, SATISFIED)), _token(_listed(REFUSED)))
PART = re.compile(r"[,.;:!…。，、！；：\n]+")


def said_of_plan(text: str) -> Said:
    """Whether all of an answer approves a plan, wants a different one, or wants to stop."""
    return _said(text, OF_A_PLAN)


def said_of_courses(text: str) -> Said:
    """Whether all of an answer is satisfied, wants more courses or others, or wants to stop."""
    return _said(text, OF_COURSES)


def says_nothing(text: str) -> bool:
    """Whether a text is nothing but "yes", "no", "please", a smile: no wish is in it."""
    whole = folded(text)
    return _is_beside(whole) or any(_made_of(whole, token) for token in BARE)


def folded(text: str) -> str:
    """Texts made comparable: one form of Unicode, one apostrophe, no case."""
    return unicodedata.normalize("NFC", text).casefold().translate(QUOTES)


def _said(text: str, meanings: Meanings) -> Said:
    """What every part of a text says alike."""
    parts = [part for part in PART.split(folded(text[: LONGEST + 1])) if not _is_beside(part)]
    if not parts or len(text) > LONGEST:
        return Said.SOMETHING
    said = [[meaning for meaning, token in meanings if _made_of(part, token)] for part in parts]
    common = (meaning for meaning in said[0] if all(meaning in each for each in said))
    return next(common, Said.SOMETHING)


def _is_beside(text: str) -> bool:
    return not text.strip() or _all_of(text, OF_A_PLAN[0][1]) == _all_of(text, OF_A_PLAN[-1][1]) == 0


def _made_of(text: str, token: re.Pattern[str]) -> bool:
    """Whether a text is phrases from its first to its last character, and at least one."""
    return (_all_of(text, token) or 0) > 0


def _all_of(text: str, token: re.Pattern[str]) -> int | None:
    """How many phrases a text is made of; None if it is anything else besides, or empty."""
    place, phrases = 0, 0
    while place < len(text) <= LONGEST:
        found = token.match(text, place)
        if found is None:
            return None
        place, phrases = found.end(), phrases + (found.lastgroup == "phrase")
    return phrases if 0 < place == len(text) else None
