"""Choices from a text: by number, id or label; several separated by commas or an "and"."""

import re
from collections.abc import Callable, Iterable, Sequence

from answerback.model import Choice, Question
from answerback.read.fitting import may_be_none
from answerback.read.normal import AGREEING, NEUTRAL, bare, letters, pictures, tidy
from answerback.read.phrases import yes_or_no
from answerback.read.places import place
from answerback.read.result import Read, Unclear, Value

AND = r"and|und|et|y|e|en|och|og|i|и|ve|和|と|및"
SEPARATORS = re.compile(rf"\s*[,;、，；\n&]\s*(?:(?:{AND})\s+)?|\s+(?:{AND})\s+", re.IGNORECASE)
NUMBER = re.compile(r"(?<![\d.,])\d{1,9}(?![\d]|[.,]\d)")  # in a label
BESIDE = re.compile(r"(\S{1,6})\s+(.{1,200})", re.DOTALL)
NUMBERS = re.compile(r"\d{1,9}(?:\s+\d{1,9})+")
ALL = frozenset("all alle tout toutes tous todas todos tutti 全部 都 すべて 모두".split())
NONE = frozenset("none keine aucun aucune ninguna ninguno nessuno 无 都不 なし 없음".split())
LONGEST = 10_000  # characters, and parts of them that are looked at: a longer list is no answer
MOST = 200


def read_choice(question: Question, text: str, language: str, *, typed: bool) -> Read:
    """One choice. Anything else is free text where that is allowed, as it stands."""
    found = candidates(question.choices, text, numbers=typed)
    if not found and typed:
        found = _agreeing(question.choices, text, language)
    if len(found) == 1:
        return Value(found[0].id, text)
    if found:
        return Unclear("choice_ambiguous", {"text": text})
    if question.free_text and typed:
        return Value(text, text)
    return Unclear("unclear_choice", {"text": text, "question": question.text})


def read_choices(question: Question, text: str, *, typed: bool) -> Read:
    """Several choices, in the order in which they are offered, each once."""
    if not typed or len(candidates(question.choices, text)) == 1:
        parts = [text]
    elif bare(text) in ALL:
        return Value([choice.id for choice in question.choices], text)
    elif bare(text) in NONE and may_be_none(question):
        return Value([], text)
    elif len(text) > LONGEST:
        parts = [text]
    elif NUMBERS.fullmatch(text.strip()):
        parts = text.split()
    else:
        parts = _parts(question.choices, text)
    picked: set[str] = set()
    for part in parts:
        found = candidates(question.choices, part, numbers=typed)
        if len(found) != 1:
            return Unclear("choice_ambiguous" if found else "unclear_choices", {"text": part})
        picked.add(found[0].id)
    if not picked:
        return Unclear("unclear_choices", {"text": text})
    return Value([choice.id for choice in question.choices if choice.id in picked], text)


def candidates(choices: Sequence[Choice], text: str, *, numbers: bool = True) -> list[Choice]:
    """What a text may mean: letter for letter first, then without case, then without what decorates it.

    What a person sees, the words and the place, goes before an id, which nobody does.
    """
    written = [choice for choice in choices if choice.label == text.strip()]
    called = written or _labelled(choices, text, tidy)
    by_number = _numbered(choices, text) if numbers else []
    if called or by_number:
        return _distinct([*called, *by_number])
    return (
        _like(choices, text, tidy)
        or _like(choices, text, bare)
        or [choice for choice in _like(choices, text, letters) if _shows_no_more(text, choice)]
    )


def _shows_no_more(text: str, choice: Choice) -> bool:
    """Whether a text has no picture that could take back what it says: "❌ Deploy" is not "Deploy"."""
    return pictures(text) <= pictures(choice.label) | pictures(choice.id) | AGREEING | NEUTRAL


def _like(choices: Sequence[Choice], text: str, same: Callable[[str], str]) -> list[Choice]:
    """Those that are called like that, or else have such an id."""
    meant = same(text)
    by_id = [choice for choice in choices if meant and meant == same(choice.id)]
    return _distinct(_labelled(choices, text, same) or by_id)


def _labelled(choices: Sequence[Choice], text: str, same: Callable[[str], str]) -> list[Choice]:
    meant = same(text)
    return [choice for choice in choices if meant and meant == same(choice.label)]


def _numbered(choices: Sequence[Choice], text: str) -> list[Choice]:
    """The choice at that place, with those whose own words have that number: "4" may be the "4 GB"."""
    at = place(text)
    if at is None and len(text) <= MOST and (split := BESIDE.fullmatch(text.strip())):
        at = place(split[1])  # "2. Green": both must mean the same
        meant = [choices[at - 1]] if at is not None and 1 <= at <= len(choices) else []
        return meant if meant == _like(choices, split[2], bare) else []
    if at is None or not 1 <= at <= len(choices):
        return []
    named = [choice for choice in choices if [int(each) for each in NUMBER.findall(choice.label)] == [at]]
    return _distinct([choices[at - 1], *named])


def _agreeing(choices: Sequence[Choice], text: str, language: str) -> list[Choice]:
    """For "yep" where "Yes" is offered, or "ja": the one choice whose label says the same."""
    meant = yes_or_no(text, language)
    return [] if meant is None else [each for each in choices if yes_or_no(each.label, language) is meant]


def _parts(choices: Sequence[Choice], text: str) -> list[str]:
    """Split at separators, but not inside a label that has some itself."""
    pieces = list(SEPARATORS.finditer(text))[:MOST]
    ends = [0, *(piece.end() for piece in pieces)]
    starts = [*(piece.start() for piece in pieces), len(text)]
    parts, first = [], 0
    while first < len(ends):
        last = first
        for end in range(min(len(starts), first + 12) - 1, first, -1):
            if len(candidates(choices, text[ends[first] : starts[end]], numbers=False)) == 1:
                last = end
                break
        part = text[ends[first] : starts[last]].strip()
        parts += [part] if part else []
        first = last + 1
    return parts


def _distinct(choices: Iterable[Choice]) -> list[Choice]:
    return list({choice.id: choice for choice in choices}.values())
