"""Feedback in a person's own words: what plain rules can take from it, and what they cannot. Pure.

A clause at a time: what is negated twice, or could be meant in two ways, changes nothing and is named, so
that the person can say it again. Whatever was taken is shown to them before anything is approved.
"""

import re
from collections.abc import Callable, Collection, Mapping
from dataclasses import dataclass, field

from answerback_agents.tutor.amounts import hours_in, weeks_in
from answerback_agents.tutor.catalogue import whole
from answerback_agents.tutor.keywords import aspect_of
from answerback_agents.tutor.meaning import Said, folded, says_nothing
from answerback_agents.tutor.words import ADDING, DIRECTIONS, QUESTION, REQUEST, SIGN, SIGN_OF, TURN

CLAUSE = re.compile(
    r"[!;。！；\n]+|[.,](?!\d)|[，、]|(?<![^\s])(?:but|aber|mais|pero|sino)(?=\s)|但是|不过|可是|然后|而且|但"
)
SENTENCE = re.compile(r"(?<=[?？])(?![?？])")
MOST = 100  # clauses of one text that are read


@dataclass(frozen=True, slots=True)
class How:
    """How a clause is read: as a `phrase` to its last word, or else by a `keyword` in it."""

    phrase: Callable[[str], Said]
    keyword: Callable[[str], Said]


@dataclass(frozen=True, slots=True)
class Topics:
    """What can be named: every word for a topic; the goal's own topics; those that are in already."""

    words: Mapping[str, str]
    own: Collection[str]
    there: Collection[str]


@dataclass(slots=True)
class Clause:
    """A part of what was written, and what is in it. `ways` are directions: shorter, lighter, easier …

    `said`: what all of it says as a phrase, or by a keyword. `partly`: nothing else of it could be read.
    `aspect`: what is to change, if it is not said which way. `asks`: it wants to know something and wishes
    for nothing.
    """

    text: str
    said: Said = Said.SOMETHING
    partly: bool = False
    aspect: str = ""
    asks: bool = False
    weeks: int | None = None
    hours: int | None = None
    ways: set[str] = field(default_factory=set)
    wanted: list[str] = field(default_factory=list)
    unwanted: list[str] = field(default_factory=list)

    @property
    def says_something(self) -> bool:
        """Whether a rule could take a wish from it."""
        return bool(self.ways or self.wanted or self.unwanted) or (self.weeks, self.hours) != (None, None)

    @property
    def is_unread(self) -> bool:
        """Whether there is no telling what it says."""
        return self.says_nothing_else and self.said is Said.SOMETHING

    @property
    def says_nothing_else(self) -> bool:
        """Whether there is neither a wish nor a question in it, beside what it says as a phrase."""
        return not self.says_something and not self.asks and not self.aspect


def clauses(text: str, topics: Topics, how: How, *, weeks: int = 0, hours: int = 0) -> list[Clause]:
    """What was written, clause by clause; "please" and "yes" alone are left out.

    `weeks` and `hours` are those of now, for "two weeks less". Of a text without end only the beginning is
    read; the rest is one clause of which nothing is known.
    """
    said = parts(text)
    read = [_read(part, topics, how, weeks, hours) for part in _joined(said[:MOST], topics)]
    return [*read, Clause(" … ".join(said[MOST:]))] if len(said) > MOST else read


def parts(text: str) -> list[str]:
    """The clauses of a text as they stand there."""
    found = (part.strip() for sentence in SENTENCE.split(text) for part in CLAUSE.split(sentence))
    return [part for part in found if part]


def _joined(listed: list[str], topics: Topics) -> list[str]:
    """The clauses that say something. In "no files, tests" the second part goes on with the first."""
    found, words = list[str](), whole(topics.words)
    for part in listed:
        said = folded(part)
        bare = bool(words.search(said)) and says_nothing(words.sub(" ", said))
        if bare and found and words.search(folded(found[-1])):
            found[-1] = f"{found[-1]}, {part}"
        elif not says_nothing(part):
            found.append(part)
    return found


def _read(text: str, topics: Topics, how: How, weeks: int, hours: int) -> Clause:
    said = " ".join(folded(text).split())
    meant = how.phrase(text)
    keyword = how.keyword(said) if meant is Said.SOMETHING else meant
    if keyword is Said.SOMETHING and _asks(said):
        return Clause(text, asks=True)
    clause = Clause(text, weeks=weeks_in(said, weeks), hours=hours_in(said, hours))
    clause.ways = _ways(said, clause)
    clause.wanted, clause.unwanted = _topics(said, topics)
    if meant is Said.SOMETHING and not clause.says_something:
        clause.aspect = aspect_of(said)
    if not clause.aspect:
        clause.said = keyword
        clause.partly = keyword is not meant and clause.says_nothing_else
    return clause


def _asks(said: str) -> bool:
    """Whether it is a question, and not a wish that is put as one: "can you make it shorter?"."""
    return said.endswith(("?", "？", "吗", "呢")) and not REQUEST.search(said) and bool(QUESTION.match(said))


def _ways(said: str, clause: Clause) -> set[str]:
    """The directions in a clause. Of what has a number, the number is what counts."""
    found, rest = set[str](), said
    for name, words in DIRECTIONS.items():
        numbered = clause.weeks if name in ("shorter", "longer") else clause.hours
        for match in words.finditer(rest):
            if not TURN.search(rest[: match.start()]) and (numbered is None or name in ("easier", "harder")):
                found.add(name)
        rest = words.sub(" ", rest)
    opposed = ({"lighter", "heavier"}, {"shorter", "longer"}, {"easier", "harder"})
    return set() if any(pair <= found for pair in opposed) else found


def _topics(said: str, topics: Topics) -> tuple[list[str], list[str]]:
    """The topics that should be in, and those that should be out, by the words before them, or after all."""
    named = list(whole(topics.words).finditer(said))
    after = _sign(said[named[-1].end() :]) if named else ""
    signs: dict[str, set[str]] = {"in": set(), "out": set()}
    listed, last, meant = list[str](), 0, ""
    for found in named:
        name, before = topics.words[found[0]], said[last : found.start()]
        meant, last = _sign(before) or meant, found.end()
        if name in topics.own:
            sign = meant or after or ("" if name in topics.there else "in")
        else:
            sign = meant if name in topics.there or ADDING.search(before) else ""
        signs.get(sign, set()).add(name)
        listed.append(name)
    if signs["in"] & signs["out"]:
        return [], []
    return [name for name in listed if name in signs["in"]], [name for name in listed if name in signs["out"]]


def _sign(words: str) -> str:
    """`out` or `in`; "" if nothing says either, `unclear` if more than one thing does."""
    found = [SIGN_OF[match[0]] for match in SIGN.finditer(words)]
    return found[0] if len(found) == 1 else "unclear" if found else ""
