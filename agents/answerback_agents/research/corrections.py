"""What was meant: the X of "I meant X", "correct it to X" or "costing should be X". Pure.

Who says "I meant" is believed first, the last time they say so. "Should be" may stand in the topic itself, as
in "logs should be kept": it corrects only where before it stands nothing but what was asked about.
"""

import re
from collections.abc import Iterator

AROUND = " \t\r\n\"'“”„‘’«».,;:!?()[]–—-"
MEANT = re.compile(
    r"\b(?P<what>what\s+)?i\s+(?:really\s+|actually\s+|just\s+)?(?:meant|mean)\b"
    r"(?:\s+to\s+(?:say|write|type|ask(?:\s+(?:about|for))?|search(?:\s+for)?)\b)?",
    re.IGNORECASE,
)
IS_MEANT = re.compile(
    r"^(?P<meant>.+?)\s*"
    r"(?:[,;:–—-]\s*(?:(?:that|this|it|which)(?:['’]s|\s+is|\s+was)\s+)?|\s(?:is|was)\s+)$",
    re.IGNORECASE | re.DOTALL,
)
CORRECT = re.compile(
    r"(?:^|[.,;:!?–—\n]|\b(?:please|you|just|and|be))\s*(?:correct|corrected|change)"
    r"(?:\s+(?:it|that|this)|(?:\s+[\w\"'“”‘’]+){1,3}?)?\s+to\b(?!-)",
    re.IGNORECASE,
)
SHOULD = re.compile(r"\bshould\s+(?:really\s+|actually\s+|rather\s+)?(?P<verb>be|say|read)\b", re.IGNORECASE)
# What may stand before "should" beside the words of the topic.
POINTS = frozenset(
    "it that this the a an word words term topic query search one no nope sorry oops hm actually and i "
    "think".split()
)
LONGEST = 2000  # characters: who writes more corrects no word
LONGEST_BEFORE = 4  # words before "should"
# After "should be" they say what is to happen to something, and are no word that somebody meant.
HAPPENS = frozenset(
    "used done made sent kept told shown known seen given taken written left lost found built held put able "
    "possible allowed enough".split()
)
GOES_ON = frozenset(
    "a an the and or by in from when if as for to before after on at with only also again not instead".split()
)
NOT_THAT = re.compile(
    r"\s*(?:[,;(–—]|\s-)\s*(?:and\s+|but\s+)?(?:not|rather\s+than|instead\s+of)\s.*$",
    re.IGNORECASE | re.DOTALL,
)
NOT_TOPIC = re.compile(r"\s*(?:[,;(–—-]\s*)?\bnot\s+(?P<other>[^,;]+)$", re.IGNORECASE)
COURTESY = re.compile(r"(?:[\s,.;!]+(?:please|thanks?|thank\s+you|sorry))+\W*$", re.IGNORECASE)
WAS = re.compile(r"^\W*was\b", re.IGNORECASE)
IS = re.compile(r"^\W*(?:was|is)\b", re.IGNORECASE)  # behind "what I meant"
DENIED = re.compile(r"\b(?:not|never)\b|n['’]t\b", re.IGNORECASE)
WORD = re.compile(r"[\w'’]+")


def meant(text: str, topic: str = "") -> str:
    """What was meant instead of `topic`; all that was written, where it corrects nothing."""
    if len(text) > LONGEST:
        return text.strip(AROUND)
    found = _meant(text) or _corrected(text) or _should(text, topic)
    if not found:
        return _without_topic(text, topic).strip(AROUND)
    return _without_topic(COURTESY.sub("", NOT_THAT.sub("", found)), topic).strip(AROUND)


def _meant(text: str) -> str:
    """After the last "I meant"; before it, if nothing comes after: "coding is what I meant"."""
    for found in _last_first(MEANT, text):
        after = text[found.end() :]
        if _says(after):
            return (IS if found["what"] else WAS).sub("", after)
        before = IS_MEANT.match(text[: found.start()])
        if before and _says(before["meant"]) and not DENIED.search(before["meant"]):
            return before["meant"]
    return ""


def _corrected(text: str) -> str:
    after = (text[found.end() :] for found in _last_first(CORRECT, text))
    return next((each for each in after if _says(each)), "")


def _should(text: str, topic: str) -> str:
    for found in _last_first(SHOULD, text):
        after = text[found.end() :]
        if _says(after) and _is_the_term(text[: found.start()], topic):
            return "" if found["verb"].lower() == "be" and _happens(after) else after
    return ""


def _is_the_term(before: str, topic: str) -> bool:
    """Whether what stands before "should" is short and about what was asked, or nothing."""
    words = _words(re.split(r"[.,;:!?\n]", before)[-1])
    return len(words) <= LONGEST_BEFORE and (not topic or set(words) <= POINTS | set(_words(topic)))


def _happens(after: str) -> bool:
    """Whether "should be" goes on with what is to happen: "removed", "used by nobody"."""
    first, *rest = _words(after)
    if first in HAPPENS:
        return True
    participle = len(first) > 4 and first.endswith("ed") and not first.endswith("eed")
    return participle and (not rest or rest[0] in GOES_ON)


def _without_topic(text: str, topic: str) -> str:
    """Without "not costing" at its end, where that is a word of the topic."""
    found = NOT_TOPIC.search(text)
    others = set(_words(found["other"])) if found else set[str]()
    return text[: found.start()] if found and others and others <= set(_words(topic)) else text


def _last_first(pattern: re.Pattern[str], text: str) -> Iterator[re.Match[str]]:
    return reversed(list(pattern.finditer(text)))


def _says(text: str) -> bool:
    return WORD.search(text) is not None


def _words(text: str) -> list[str]:
    return [word.lower() for word in WORD.findall(text)]
