"""What the graph is resumed with, and what it means. Pure."""

import json
from typing import Any

Heard = dict[str, Any]
"""JSON: `content`; with choices `choice`; of a confirmation `confirmed`; `attachments`; `timed_out`;
`answered_by`, if that was no person."""

NOBODY = (
    "Nobody answered in time, so there is no answer to this question. "
    "Go on without one only where that does no harm, and say what you assumed."
)
UNCONFIRMED = "Nobody answered in time, so this is not confirmed. Do not do it. Nobody said no either."
CONFIRMED = "Confirmed."
REFUSED = "Not confirmed: they said no. Do not do it."
UNCLEAR = "Not confirmed: that was neither a yes nor a no. Do not do it."
# What the buttons say, in each language, and what says no more than they do.
PLAIN = {
    True: frozenset({"", "yes", "ja", "oui", "sí", "si", "是"}),
    False: frozenset({"", "no", "nein", "non", "否"}),
}
OURS = {"content", "confirmed", "timed_out"}


class Silence(Exception):
    """Nobody answered before the deadline. That is no answer, and no "no" either."""

    def __init__(self) -> None:
        super().__init__(
            "Nobody answered in time. Catch Silence to go on without an answer, or ask the question anew."
        )


def heard(resumed: Any) -> Heard:
    """The answer as an object; whoever resumes by hand may give a text alone, or anything else."""
    return resumed if isinstance(resumed, dict) and OURS & resumed.keys() else {"content": resumed}


def silent(answer: Heard) -> bool:
    """Whether nobody answered. Never decided by a text, which somebody may have written."""
    return bool(answer.get("timed_out"))


def agreed(answer: Heard) -> bool:
    """Whether an answer is a yes: nothing but true is one. Ask `silent` first."""
    return answer.get("confirmed") is True


def words(answer: Heard) -> str:
    """What was written or chosen, unmodified; "" if somebody sent only files."""
    said = answer.get("content", "")
    return said if isinstance(said, str) else json.dumps(said, ensure_ascii=False)


def told(answer: Heard) -> str:
    """The answer to a question, for a model: their own words, or else a sentence of ours."""
    if silent(answer):
        return NOBODY
    return words(answer) or _files(answer)


def decided(answer: Heard) -> str:
    """The decision about an action, for a model: our sentence, and what they wrote beyond yes or no."""
    if silent(answer):
        return UNCONFIRMED
    yes, said = answer.get("confirmed"), words(answer)
    sentence = CONFIRMED if agreed(answer) else REFUSED if yes is False else UNCLEAR
    beyond = said.strip().casefold().rstrip(".!") not in PLAIN[agreed(answer)]
    by = answer.get("answered_by")
    nobody = f"No person answered: this is from {by}." if by else ""
    parts = (sentence, nobody, f"In their own words: {said}" if beyond else "", _files(answer))
    return "\n".join(part for part in parts if part)


def _files(answer: Heard) -> str:
    names = [each.get("name") or "a file" for each in answer.get("attachments", ())]
    return f"They sent {', '.join(names)}." if names else ""
