"""The report: what was found, cited word for word, in Markdown. Pure."""

from collections.abc import Sequence

from answerback_agents.research.collection import Found
from answerback_agents.research.summary import Point


def report(topic: str, words: Sequence[str], found: Found, gist: Sequence[Point] = ()) -> str:
    """What was found on the topic, the gist first; if that is nothing, it says so and cites nothing."""
    if not found.passages:
        return f"No passages on “{topic}”.\n\nNone of the documents has {_or(words)}."
    count = found.count
    head = f"{count} {'passage' if count == 1 else 'passages'} on “{topic}”."
    if not found.all_words:
        head += f"\n\nNone has all of these words, so these have some: {_and(words)}."
    if gist:
        head += "\n\nIn short:\n\n" + "\n".join(f"- {point.text} [{point.passage}]" for point in gist)
    if count > len(found.passages):
        head += f"\n\nThe {len(found.passages)} that fit best:"
    cited = [
        f"{place}. **{passage['document']}**{_section(passage['section'])}\n\n   > {passage['text']}"
        for place, passage in enumerate(found.passages, start=1)
    ]
    return "\n\n".join([head, *cited]) + "\n"


def no_answer(topic: str) -> str:
    """Silence is not an answer: nothing was searched for."""
    return f"Nobody said whether “{topic}” is what to search for, so nothing was searched."


def _section(section: str) -> str:
    return f", {section}" if section else ""


def _and(words: Sequence[str]) -> str:
    return ", ".join(f"“{word}”" for word in words)


def _or(words: Sequence[str]) -> str:
    return " or ".join(f"“{word}”" for word in words) or "any of these words"
