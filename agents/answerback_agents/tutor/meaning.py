"""What an answer means if all of it is listed phrases. Pure.

"Yes but shorter" is none, and neither is "yes?": whatever is not a listed phrase to its last word is left to
be read as feedback, and approves nothing. A request may have more around it, "I'd like …" or "is there …?".
"""

import re
import unicodedata
from collections.abc import Iterable
from enum import StrEnum

from answerback_agents.tutor.catalogue import LETTER
from answerback_agents.tutor.phrases import (
    A_PLAN,
    ASKING,
    BESIDE,
    CHANGE,
    COURSES,
    DIFFERENT,
    GREETING,
    LATER,
    MORE,
    OTHERS,
    REFUSED,
    SATISFIED,
    STOP,
    THANKS,
    YES,
)
from answerback_agents.tutor.words import ASKING_SIGN, OFFER, REQUEST

SEPARATORS = r"[\s.,;:!¡…。，、！；：'\"“”„«»()（）\ufe0f🏻🏼🏽🏾🏿–—-]+"
LONGEST = 100  # characters: more is not a phrase
QUOTES = str.maketrans("’‘", "''")


class Said(StrEnum):
    """What a whole answer says."""

    YES = "yes"
    DIFFERENT = "different"
    MORE = "more"
    STOP = "stop"
    LATER = "later"
    SOMETHING = "something"  # in words of their own


Meanings = tuple[tuple[Said, re.Pattern[str]], ...]


def _listed(*tables: str) -> set[str]:
    return {phrase.strip() for table in tables for phrase in table.split("|")} - {""}


def _token(beside: str, *tables: str) -> re.Pattern[str]:
    phrases = _listed(*tables)
    others = _listed(BESIDE, GREETING, THANKS, beside) - phrases
    return re.compile(
        f"(?P<phrase>{_longest_first(phrases)})|(?P<beside>{_longest_first(others)})|{SEPARATORS}"
    )


def _request(beside: str, *tables: str) -> re.Pattern[str]:
    """Phrases of a request, with what stands in one, and as a question too."""
    return re.compile(rf"{_token(f'{beside}|{ASKING}', *tables).pattern}|[?？¿吗]")


def _longest_first(phrases: Iterable[str]) -> str:
    """One of them, the longest that stands there; where letters of ours end it, no other letter follows."""
    ordered = sorted(phrases, key=lambda phrase: (-len(phrase), phrase))
    # What begins with a letter of ours stands apart: looking for one once, not once a phrase, compiles fast.
    ours = "|".join(re.escape(each) for each in ordered if each[0].isascii())
    others = (
        f"(?<!{LETTER}){re.escape(each)}(?!{LETTER})" if each[-1].isascii() else re.escape(each)
        for each in ordered
        if not each[0].isascii()
    )
    return "|".join([*([f"(?<!{LETTER})(?:{ours})(?!{LETTER})"] if ours else []), *others])


OF_A_PLAN = (
    (Said.YES, _token(A_PLAN, YES, SATISFIED)),
    (Said.DIFFERENT, _request(A_PLAN, DIFFERENT, CHANGE, OTHERS)),
    (Said.DIFFERENT, _token(A_PLAN, REFUSED)),
    (Said.STOP, _token(A_PLAN, STOP)),
    (Said.LATER, _token(A_PLAN, LATER)),
)
OF_COURSES = (
    (Said.YES, _token(COURSES, YES, SATISFIED)),
    (Said.MORE, _request(COURSES, MORE)),
    (Said.DIFFERENT, _request(COURSES, DIFFERENT, CHANGE, OTHERS, MORE)),
    (Said.DIFFERENT, _token(COURSES, REFUSED)),
    (Said.STOP, _token(COURSES, STOP)),
    (Said.LATER, _token(COURSES, LATER)),
)
# Of a part of an answer, whatever was asked about.
BOTH = f"{A_PLAN}|{COURSES}"
A_YES = _token(BOTH, YES, SATISFIED)
A_NO = _token(BOTH, REFUSED)
A_CHANGE = _request("", CHANGE)
REVISION = _token(BOTH, REFUSED, DIFFERENT, CHANGE, OTHERS)
EITHER = _token(BOTH, YES, SATISFIED, REFUSED, DIFFERENT, CHANGE, OTHERS)
GREETED = _token(BOTH, GREETING)
THANKED = _token(BOTH, THANKS)
PART = re.compile(r"[,.;:!…。，、！；：\n]+")


def said_of_plan(text: str) -> Said:
    """Whether all of an answer approves a plan, wants a different one, to stop or to wait."""
    return _said(text, OF_A_PLAN)


def said_of_courses(text: str) -> Said:
    """Whether all of an answer is satisfied, wants more courses or others, to stop or to wait."""
    return _said(text, OF_COURSES)


def says_nothing(text: str) -> bool:
    """Whether a text is nothing but "yes", "no", "change", "please", a smile: no wish is in it."""
    whole = folded(text)
    return is_polite(text) or any(_made_of(whole, token) for token in (A_YES, A_NO, A_CHANGE))


def is_polite(text: str) -> bool:
    """Whether a text is nothing but what is said beside something, or no word at all."""
    whole = folded(text)
    return not whole.strip() or _all_of(whole, A_YES) == _all_of(whole, A_NO) == 0


def is_torn(parts: Iterable[str]) -> bool:
    """Whether the parts of a text say both yes and no, or one of them does."""
    said = [folded(part) for part in parts]
    yes, no = (any(_made_of(part, token) for part in said) for token in (A_YES, A_NO))
    return (yes and no) or any(
        _made_of(part, EITHER) and not _made_of(part, A_YES) and not _made_of(part, REVISION) for part in said
    )


def greets(text: str) -> bool:
    """Whether a text is nothing but a greeting."""
    return _made_of(folded(text), GREETED)


def thanks(text: str) -> bool:
    """Whether a text is nothing but thanks."""
    return _made_of(folded(text), THANKED)


def is_asked_for(text: str) -> bool:
    """Whether a question in folded text is a wish: "can you …?", "are there …?"."""
    return bool(REQUEST.search(text) or OFFER.search(text))


def folded(text: str) -> str:
    """Texts made comparable: one form of Unicode, one apostrophe, no case."""
    return unicodedata.normalize("NFC", text).casefold().translate(QUOTES)


def _said(text: str, meanings: Meanings) -> Said:
    """What every part of a text says alike."""
    parts = [part for part in PART.split(folded(text[: LONGEST + 1])) if not _is_beside(part, meanings)]
    if not parts or len(text) > LONGEST:
        return Said.SOMETHING
    said = [[meaning for meaning, token in meanings if _made_of(part, token)] for part in parts]
    common = (meaning for meaning in said[0] if all(meaning in each for each in said))
    return next(common, Said.SOMETHING)


def _is_beside(text: str, meanings: Meanings) -> bool:
    """Whether every meaning finds a text, and none finds a phrase in it."""
    return not text.strip() or all(_all_of(text, token) == 0 for _, token in meanings[-2:])


def _made_of(text: str, token: re.Pattern[str]) -> bool:
    """Whether a text is phrases from its first to its last character, and at least one.

    What is put as a question has to ask for something: "more?" does not say so.
    """
    if ASKING_SIGN.search(text) and not is_asked_for(text):
        return False
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
