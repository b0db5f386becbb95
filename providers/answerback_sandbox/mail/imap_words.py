"""The words of an IMAP command: atoms, quoted strings, literals, lists; sets of numbers; searching.

RFC 3501, section 9 (formal syntax) and 6.4.4 (SEARCH).
"""

import datetime
import re
from collections.abc import Callable, Iterator, Sequence

from answerback_sandbox.mail.letters import header, parsed
from answerback_sandbox.mail.state import Kept

WORD = re.compile(
    r'\s*(?:(?P<open>\()|(?P<close>\))|"(?P<quoted>(?:[^"\\]|\\.)*)"|'
    r'(?P<atom>[^\s()"\[]+(?:\[[^\]]*\])?[^\s()"]*))',
    re.DOTALL,
)
SET = re.compile(r"(?:\d+|\*)(?::(?:\d+|\*))?(?:,(?:\d+|\*)(?::(?:\d+|\*))?)*")
FLAGS = frozenset("ANSWERED DELETED DRAFT FLAGGED SEEN".split())
DEEPEST = 20
Words = list["str | Words"]
Test = Callable[[int, Kept], bool]


class Bad(ValueError):
    """A command that this server does not know, or that is none."""


class No(Exception):
    """A command that is understood, and refused."""


def words(text: str) -> Words:
    """A command's words; a list in parentheses is a list of words. Raises Bad."""
    found: list[Words] = [[]]
    place = 0
    text = text.rstrip()
    while place < len(text):
        match = WORD.match(text, place)
        if match is None:
            raise Bad("this is not how a command is written")
        place = match.end()
        if match["open"]:
            found.append([])
        elif match["close"]:
            if len(found) < 2:
                raise Bad("a parenthesis closes nothing")
            inner = found.pop()
            found[-1].append(inner)
        elif match["quoted"] is not None:
            found[-1].append(re.sub(r"\\(.)", r"\1", match["quoted"]))
        else:
            found[-1].append(match["atom"])
        if len(found) > DEEPEST:
            raise Bad("too many parentheses")
    if len(found) > 1:
        raise Bad("a parenthesis is not closed")
    return found[0]


def atom(word: "str | Words") -> str:
    """A word that is no list. Raises Bad."""
    if not isinstance(word, str):
        raise Bad("a list stands where a word belongs")
    return word


def numbers(text: str, largest: int) -> list[tuple[int, int]]:
    """The ranges of a set such as `1:3,7,9:*`; `*` is the largest number in use. Raises Bad."""
    if not SET.fullmatch(text):
        raise Bad("this is no set of numbers")

    def number(part: str) -> int:
        return largest if part == "*" else int(part)

    ranges = [item.partition(":") for item in text.split(",")]
    pairs = [(number(first), number(last or first)) for first, _, last in ranges]
    return [(min(pair), max(pair)) for pair in pairs]


def search(criteria: Sequence["str | Words"], view: Sequence[Kept]) -> list[tuple[int, Kept]]:
    """What is meant, each with its number in the view. Raises Bad for a criterion that is not known."""
    every = _all(iter(criteria), view)
    return [(number, kept) for number, kept in enumerate(view, start=1) if every(number, kept)]


def _all(rest: Iterator["str | Words"], view: Sequence[Kept]) -> Test:
    tests = [_one(word, rest, view) for word in rest]
    return lambda number, kept: all(test(number, kept) for test in tests)


def _one(word: "str | Words", rest: Iterator["str | Words"], view: Sequence[Kept]) -> Test:
    """One criterion; what belongs to it is taken from `rest`."""
    if isinstance(word, list):
        return _all(iter(word), view)
    name = word.upper()
    if name == "ALL":
        return lambda number, kept: True
    if name == "NOT":
        inner = _one(_next(rest), rest, view)
        return lambda number, kept: not inner(number, kept)
    if name == "OR":
        one, other = _one(_next(rest), rest, view), _one(_next(rest), rest, view)
        return lambda number, kept: one(number, kept) or other(number, kept)
    if name == "UID":
        ranges = numbers(atom(_next(rest)), view[-1].uid if view else 0)
        return lambda number, kept: any(first <= kept.uid <= last for first, last in ranges)
    if name in FLAGS or name.removeprefix("UN") in FLAGS:
        return _flagged("\\" + name.removeprefix("UN").capitalize(), name in FLAGS)
    if name in ("SINCE", "BEFORE", "ON"):
        return _dated(name, atom(_next(rest)))
    if name in ("FROM", "TO", "SUBJECT", "HEADER"):
        field = atom(_next(rest)) if name == "HEADER" else name
        return _headed(field, atom(_next(rest)).lower())
    ranges = numbers(name, len(view))
    return lambda number, kept: any(first <= number <= last for first, last in ranges)


def _next(rest: Iterator["str | Words"]) -> "str | Words":
    word = next(rest, None)
    if word is None:
        raise Bad("a criterion lacks its value")
    return word


def _flagged(flag: str, wanted: bool) -> Test:
    return lambda number, kept: (flag in kept.flags) is wanted


def _headed(field: str, part: str) -> Test:
    return lambda number, kept: part in header(parsed(kept.raw), field).lower()


def _dated(name: str, text: str) -> Test:
    try:
        day = datetime.datetime.strptime(text, "%d-%b-%Y").date()  # noqa: DTZ007 (a day, without a time)
    except ValueError:
        raise Bad("this is not a date such as 22-Nov-2026") from None

    def test(number: int, kept: Kept) -> bool:
        came = datetime.datetime.fromtimestamp(kept.at // 1_000_000, datetime.UTC).date()
        return {"SINCE": came >= day, "BEFORE": came < day, "ON": came == day}[name]

    return test
