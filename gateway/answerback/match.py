"""Which question a reply is for: one pure decision over the evidence that came with it, never a guess.

The order is token, reference, short code, the sender's only pending interaction. Evidence that
disagrees, and none at all with several pending, is `WhichOne`. A reply to something closed matches what
is closed, so that the person hears what became of it; it never falls through to another question.
"""

import re
from collections.abc import Set
from dataclasses import dataclass, replace
from typing import Literal

from answerback.model import InteractionStatus

How = Literal["token", "reference", "code", "only one"]

LETTERS = "ABCDEFGHJKMNPQRSTUVWXYZ"  # without I, L and O, which look like 1, 1 and 0
DIGITS = "23456789"
ALPHABET = LETTERS + DIGITS
LENGTH = 4
# A code has a letter and a digit, so that "#TODO" in an answer is none.
CODE = re.compile(
    rf"(?<![\w/&#＃])[#＃]((?=[a-z]*\d)(?=\d*[a-z])[{ALPHABET}]{{{LENGTH}}})(?![\w-])",
    re.IGNORECASE | re.ASCII,
)


@dataclass(frozen=True, slots=True)
class Open:
    """A question that a reply may be for: one interaction, as the sender was asked it."""

    interaction_id: str
    delivery_id: str
    code: str
    texts: tuple[str, ...]
    status: InteractionStatus


@dataclass(frozen=True, slots=True)
class Evidence:
    """What a reply carries, looked up. All of it concerns this sender only.

    `codes` are the interactions whose codes stand in the text. `doubtful`: something speaks against the
    only open question: a code or a reference of something else which is none of this sender's, that it was
    asked somewhere else, a text older than the question, one of which nobody knows any more what it answered,
    or a database that was put back.
    """

    token_delivery: Open | None = None
    referenced_deliveries: tuple[Open, ...] = ()
    codes: tuple[Open, ...] = ()
    open_for_sender: tuple[Open, ...] = ()
    doubtful: bool = False


@dataclass(frozen=True, slots=True)
class Match:
    """The one it is for, and how that is known. It may be closed."""

    interaction_id: str
    how: How
    delivery_id: str = ""


@dataclass(frozen=True, slots=True)
class WhichOne:
    """It could be for any of these, all pending: ask."""

    candidates: tuple[Open, ...]


@dataclass(frozen=True, slots=True)
class Nothing:
    """No question is open for this sender, and the reply names none."""


def match(evidence: Evidence) -> Match | WhichOne | Nothing:
    """Decide which interaction a reply is for."""
    ranked: tuple[tuple[How, tuple[Open, ...]], ...] = (
        ("token", (evidence.token_delivery,) if evidence.token_delivery else ()),
        ("reference", evidence.referenced_deliveries),
        ("code", evidence.codes),
    )
    named = [(how, found) for how, found in ranked if found]
    if named:
        return _agreed(named)
    pending = _pending(evidence.open_for_sender)
    if not pending:
        return Nothing()
    if len(pending) == 1 and not evidence.doubtful:
        return Match(pending[0].interaction_id, "only one", pending[0].delivery_id)
    return WhichOne(pending)


def match_one_of(evidence: Evidence, ids: Set[str]) -> Match | WhichOne | Nothing:
    """The same for a reply that says itself that it is for one of these interactions.

    What it came with is evidence like that, and may disagree.
    """

    def within(found: tuple[Open, ...]) -> tuple[Open, ...]:
        return tuple(each for each in found if each.interaction_id in ids)

    token = (evidence.token_delivery,) if evidence.token_delivery else ()
    named = (*token, *evidence.referenced_deliveries, *evidence.codes)
    its_own = within(evidence.open_for_sender)
    if len(within(named)) < len(named):
        return match(Evidence(open_for_sender=(*named, *its_own), doubtful=True))
    return match(replace(evidence, open_for_sender=its_own))


def _agreed(named: list[tuple[How, tuple[Open, ...]]]) -> Match | WhichOne:
    """The one interaction that every kind of evidence names, by the strongest kind."""
    how, strongest = named[0]
    common = set.intersection(*({each.interaction_id for each in found} for _, found in named))
    agreed = [each for each in strongest if each.interaction_id in common]
    if len({each.interaction_id for each in agreed}) == 1:
        return Match(agreed[0].interaction_id, how, agreed[0].delivery_id)
    pending = _pending(tuple(each for _, found in named for each in found))
    if pending:
        return WhichOne(pending)
    newest = max(strongest, key=lambda each: each.delivery_id)  # ids are time-ordered
    return Match(newest.interaction_id, how, newest.delivery_id)


def _pending(found: tuple[Open, ...]) -> tuple[Open, ...]:
    """Those that still take an answer, each interaction once, in order."""
    waiting = [each for each in found if each.status is InteractionStatus.PENDING]
    return tuple({each.interaction_id: each for each in reversed(waiting)}.values())[::-1]


def new_code(random_bits: int) -> str:
    """A short code ("K7Q2") from at least 32 random bits: a letter and a digit for certain."""
    bits, letter_at = divmod(random_bits, LENGTH)
    bits, digit_step = divmod(bits, LENGTH - 1)
    digit_at = (letter_at + 1 + digit_step) % LENGTH
    characters = []
    for place in range(LENGTH):
        alphabet = LETTERS if place == letter_at else DIGITS if place == digit_at else ALPHABET
        bits, index = divmod(bits, len(alphabet))
        characters.append(alphabet[index])
    return "".join(characters)


def find_codes(text: str) -> tuple[str, ...]:
    """The codes ("#K7Q2") in what was newly written, in upper case, each once; quoted lines do not count."""
    written = "\n".join(line for line in text.split("\n") if not line.lstrip().startswith((">", "＞")))
    return tuple(dict.fromkeys(found.upper() for found in CODE.findall(written)))


def strip_code(text: str, code: str) -> str:
    """The text that is read: without the code, its brackets, and the space that it stood in.

    What the person wrote is kept beside it as it is.
    """
    here = re.compile(rf"\s*\[?(?<![\w/&#＃])[#＃]{re.escape(code)}(?![\w-])\]?[ \t]*[:,]?\s*", re.IGNORECASE)
    parts = here.split(text)
    return text if len(parts) == 1 else " ".join(part for part in parts if part)
