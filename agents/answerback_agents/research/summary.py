"""The gist: of what was found, the few sentences that say most about the terms, word for word. Pure."""

import re
from collections.abc import Iterable, Sequence
from typing import NamedTuple

from answerback_agents.research.collection import Cited

MOST = 3
LONGEST = 240  # characters: a gist is short
END = re.compile(r"(?<=[.!?])\s+(?=[A-Z\"“`*\[(])")
SENTENCE = re.compile(r"[^|]*[.!?][\"”`*)]*")  # a row of a table is none
WORD = re.compile(r"\w+")


class Point(NamedTuple):
    """A sentence, and the number of the passage that it stands in, from 1."""

    text: str
    passage: int


def summary(words: Sequence[str], passages: Sequence[Cited], most: int = MOST) -> list[Point]:
    """At most so many sentences, in the order of the passages: those with the most terms, one a passage.

    Nothing where no sentence has a term, or where one passage is all there is: it is its own gist.
    """
    if len(passages) < 2:
        return []
    wanted = set(words)
    best = [
        (_terms(point.text, wanted), -point.passage, point)
        for number, passage in enumerate(passages, start=1)
        if (point := _best(number, passage["text"], wanted)) is not None
    ]
    chosen = _once(point for count, _, point in sorted(best, reverse=True) if count)
    return sorted(chosen[:most], key=lambda point: point.passage)


def _best(number: int, text: str, wanted: set[str]) -> Point | None:
    """The sentence of a passage that has the most terms; of several, the shortest."""
    fit = [each for each in END.split(text) if len(each) <= LONGEST and SENTENCE.fullmatch(each)]
    if not fit:
        return None
    return Point(max(fit, key=lambda sentence: (_terms(sentence, wanted), -len(sentence))), number)


def _terms(text: str, wanted: set[str]) -> int:
    return len(wanted.intersection(word.lower() for word in WORD.findall(text)))


def _once(points: Iterable[Point]) -> list[Point]:
    """Each sentence once: documents repeat each other."""
    return list({point.text: point for point in reversed(list(points))}.values())[::-1]
