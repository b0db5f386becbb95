"""Search terms: the words of a topic that carry meaning, and likelier words for possible mistakes. Pure."""

import math
import re
from collections.abc import Collection, Mapping
from typing import TypedDict

MOST = 6  # terms of one topic
WORD = re.compile(r"[^\W_][\w]*(?<!_)")
STOP_WORDS = frozenset(
    """
    a about above after again all also although always am among an and another any anything are as at be
    because been before being below between both but by can cannot could did do does doing done down
    during each either else ever every for from get gets give given gives go goes had has have having he
    her here hers him his how however i if in into is it its itself just let like made make makes many
    may me might mine more most much must my neither never no nor not nothing now of off often on once
    one only onto or other others our out over own per please same shall she should so some something
    still such than that the their them then there these they thing things this those though through
    thus to too two under until up upon us use used uses using very was we well were what when where
    whether which while who whom whose why will with within without would yes yet you your
    """.split()
)
FAR_MORE = 8  # times as frequent a neighbour must be before a word that does occur counts as a mistake
ENDINGS = ("s", "es", "d", "ed", "r", "er", "ing", "ly")


class Term(TypedDict):
    """A word to search for, in how many passages it is; the word that may be meant instead, or ""."""

    word: str
    found: int
    likelier: str
    likelier_found: int


def words_of(text: str) -> list[str]:
    """The words that a search can use, in lower case, each once; common ones only if there are no others."""
    words = list(dict.fromkeys(word.lower() for word in WORD.findall(text)))
    return ([word for word in words if word not in STOP_WORDS] or words)[:MOST]


def propose(topic: str, vocabulary: Mapping[str, int]) -> list[Term]:
    """The topic's terms. `vocabulary` has the number of passages of every word of the collection."""
    proposed = []
    for word in words_of(topic):
        likelier = likelier_word(word, vocabulary)
        proposed.append(
            Term(
                word=word,
                found=vocabulary.get(word, 0),
                likelier=likelier,
                likelier_found=vocabulary.get(likelier, 0),
            )
        )
    return proposed


def final(word: str, vocabulary: Mapping[str, int]) -> Term:
    """A term that the person has settled: nothing is suggested any more."""
    return Term(word=word, found=vocabulary.get(word, 0), likelier="", likelier_found=0)


def corrected(topic: str, vocabulary: Mapping[str, int], settled: Collection[str]) -> list[Term]:
    """The terms of a topic that a person wrote, who is believed about every word that occurs.

    Doubted are the others, but none of `settled`: about these they were asked already.
    """
    return [
        term if not term["found"] and term["word"] not in settled else final(term["word"], vocabulary)
        for term in propose(topic, vocabulary)
    ]


def likelier_word(word: str, vocabulary: Mapping[str, int]) -> str:
    """What somebody who wrote `word` may have meant: near in spelling, and far more frequent; or ""."""
    found = vocabulary.get(word, 0)
    if len(word) < 4 or word in STOP_WORDS:
        return ""
    furthest = 2 if len(word) > 4 and not found else 1
    best, best_score = "", 0.0
    for other, count in vocabulary.items():
        if abs(len(other) - len(word)) > furthest or other in STOP_WORDS or not other.isalpha():
            continue
        if count < FAR_MORE * found or (found and _same_stem(word, other)):
            continue
        far = distance(word, other, furthest)
        if not 0 < far <= furthest or (far > 1 and other[0] != word[0]):
            continue
        score = math.log2(1 + count) - 2 * (far - 1)  # a mistake more has to be four times as frequent
        if score > best_score:
            best, best_score = other, score
    return best


def distance(one: str, other: str, most: int) -> int:
    """How many letters were mistyped: left out, put in, changed, or swapped. More than `most`: `most` + 1."""
    before: list[int] = []
    last = list(range(len(other) + 1))
    for i, letter in enumerate(one, start=1):
        row = [i]
        for j, against in enumerate(other, start=1):
            cost = min(last[j] + 1, row[j - 1] + 1, last[j - 1] + (letter != against))
            if before and i > 1 and j > 1 and letter == other[j - 2] and one[i - 2] == against:
                cost = min(cost, before[j - 2] + 1)
            row.append(cost)
        if min(row) > most:
            return most + 1
        before, last = last, row
    return last[-1]


def _same_stem(word: str, other: str) -> bool:
    """Whether one is the other with an ending: a plural is no mistake."""
    short, long = sorted((word, other), key=len)
    return long.removeprefix(short) in ENDINGS
