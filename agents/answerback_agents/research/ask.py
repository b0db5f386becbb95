"""The question of the research agent, and what its answer means. Pure."""

import re
from typing import Any

from answerback_agents.research.corrections import AROUND, meant
from answerback_agents.research.terms import Term

TITLE = "search terms"
YES = "yes"
NO = frozenset({"no", "nope", "no thanks", "no thank you", "n", "nein", "non", "不", "不是"})
MOST_SHOWN = 3  # terms in the reason: it has to be read at a glance
MOST_LIKELIER = 3  # buttons


def question(topic: str, terms: list[Term]) -> dict[str, Any]:
    """The payload of the interrupt: a question with choices, beside which words of one's own are possible."""
    return {
        "type": "clarify_search",
        "title": TITLE,
        "question": f"Search for “{topic}”?",
        "context": _reason(terms),
        "choices": [
            {"id": YES, "label": "Yes"},
            *({"id": word, "label": f"Use “{word}”"} for word in _likelier(terms)),
        ],
    }


def instead(topic: str) -> dict[str, Any]:
    """The payload where somebody said no, and nothing else."""
    return {
        "type": "clarify_search",
        "title": TITLE,
        "question": f"What should I search for instead of “{topic}”?",
        "context": "Write it in a few words.",
    }


def is_no(answer: Any) -> bool:
    """Whether an answer is a no, and nothing else."""
    return " ".join(written(answer).casefold().strip(AROUND).split()) in NO


def chosen(topic: str, terms: list[Term], answer: Any) -> str | None:
    """The topic that is searched for; None if nobody answered.

    `answer` is `{"content": text, "choice": id or None}`, or a plain text.
    """
    if isinstance(answer, str):
        return meant(answer, topic) or topic
    if answer.get("timed_out"):
        return None
    choice = answer.get("choice")
    if choice == YES:
        return topic
    if choice in _likelier(terms):
        return _replaced(topic, next(term["word"] for term in terms if term["likelier"] == choice), choice)
    return meant(str(answer.get("content") or ""), topic) or topic


def written(answer: Any) -> str:
    """What the person wrote, word for word; "" if they tapped, or nobody answered."""
    if isinstance(answer, str):
        return answer
    tapped = answer.get("timed_out") or answer.get("choice") is not None
    return "" if tapped else str(answer.get("content") or "")


def _reason(terms: list[Term]) -> str:
    if not terms:
        return "I see no word in this that I could search for."
    words = f"Search terms: {', '.join(term['word'] for term in terms)}."
    doubtful = [term for term in terms if term["likelier"]]
    if doubtful:
        return "\n".join([words, *map(_doubt, doubtful[:2])])
    counts = [f"{term['found']} with “{term['word']}”" for term in terms[:MOST_SHOWN]]
    return f"{words}\nI found passages: {', '.join(counts)}."


def _doubt(term: Term) -> str:
    return (
        f"I found {term['found']} passages with “{term['word']}”, "
        f"{term['likelier_found']} with “{term['likelier']}”."
    )


def _likelier(terms: list[Term]) -> list[str]:
    return list(dict.fromkeys(term["likelier"] for term in terms if term["likelier"]))[:MOST_LIKELIER]


def _replaced(topic: str, word: str, by: str) -> str:
    return re.sub(rf"(?<!\w){re.escape(word)}(?!\w)", lambda _: by, topic, flags=re.IGNORECASE)
