"""The proof: whether a report cites real passages with the term, by the documents and not by their index."""

import re
from collections.abc import Mapping
from typing import Any


def flaws(result: Any, term: str, documents: Mapping[str, str]) -> list[str]:
    """What is wrong with a run's result, a sentence each; nothing if it cites passages with `term`."""
    if not isinstance(result, dict) or not isinstance(result.get("report"), str):
        return ["There is no report."]
    cited = result.get("passages")
    if not cited:
        return ["The report cites nothing."]
    return [
        flaw
        for number, passage in enumerate(cited, start=1)
        for flaw in _flaws(passage, number, term, result["report"], documents)
    ]


def _flaws(
    passage: Mapping[str, str], number: int, term: str, report: str, documents: Mapping[str, str]
) -> list[str]:
    text = passage["text"]
    document = " ".join(documents.get(passage["document"], "").split())
    found = []
    if text not in document:
        found.append(f"Passage {number} does not stand in {passage['document']}.")
    if not re.search(rf"(?<!\w){re.escape(term)}(?!\w)", text, re.IGNORECASE):
        found.append(f"Passage {number} does not contain “{term}”.")
    if text not in report or passage["document"] not in report:
        found.append(f"Passage {number} is not in the report.")
    return found
