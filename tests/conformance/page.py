"""The conformance table as a section of a document, between two marks: written by a run, never by hand."""

from collections.abc import Iterator
from pathlib import Path
from typing import Any

BEGIN = "<!-- conformance: begin. Written by `make conformance ARGS=--docs`, never by hand. -->"
END = "<!-- conformance: end -->"
CELLS = {"held": "held", "broken": "**broken**", "not applicable": "–", "not run": "not run"}
# What happens at the same moment is luck where nothing locks: what an earlier run broke stays broken.
BROKEN_BEFORE = {("agent-wait", "one event to two processes")}
CHARACTERS = str.maketrans({"|": "\\|", "<": "&lt;", "\n": " "})


def write(document: Path, report: dict[str, Any]) -> None:
    """Put the report in place of what stands between the marks. Raises ValueError without them."""
    before, begin, rest = document.read_text().partition(BEGIN)
    _, end, after = rest.partition(END)
    if not (begin and end):
        raise ValueError(f"{document} has no marks to write between")
    document.write_text("\n".join([before + BEGIN, *section(report), END + after]))


def renewed(earlier: dict[str, Any], report: dict[str, Any]) -> dict[str, Any]:
    """An earlier report with what a later run of some systems or hazards found in the place of the old."""
    results = {key: list(verdicts) for key, verdicts in earlier["results"].items()}
    for key, verdicts in report["results"].items():
        found = {verdict["hazard"]: verdict for verdict in verdicts}
        results[key] = [found.get(old["hazard"], old) for old in results.get(key, verdicts)]
    return {**earlier, "systems": earlier["systems"] | report["systems"], "results": results}


def section(report: dict[str, Any]) -> Iterator[str]:
    """The lines: what ran, the table, the sums, and why something was left out."""
    systems = report["systems"]
    results = {key: [_with_before(key, one) for one in found] for key, found in report["results"].items()}
    yield ""
    yield " ".join(_ran(key, about) for key, about in systems.items() if about)
    yield ""
    yield "| hazard | " + " | ".join(_head(key, systems[key]) for key in results) + " |"
    yield "|---|" + "---|" * len(results)
    for place, hazard in enumerate(report["hazards"]):
        cells = [CELLS[verdicts[place]["result"]] for verdicts in results.values()]
        yield f"| {hazard['name'].translate(CHARACTERS)} | " + " | ".join(cells) + " |"
    sums = [sum(verdict["result"] == "held" for verdict in verdicts) for verdicts in results.values()]
    yield "| **held** | " + " | ".join(map(str, sums)) + " |"
    yield ""
    yield from _left_out(report)


def _with_before(key: str, verdict: dict[str, Any]) -> dict[str, Any]:
    lucky = verdict["result"] == "held" and (key, verdict["hazard"]) in BROKEN_BEFORE
    return {**verdict, "result": "broken"} if lucky else verdict


def _left_out(report: dict[str, Any]) -> Iterator[str]:
    """Each reason once a system, so that an empty cell says whose limit it is."""
    yield "A dash is “not applicable”, “not run” is what our driver could not do. The reasons:"
    yield ""
    for key, verdicts in report["results"].items():
        reasons = dict.fromkeys(
            verdict["notes"][0]
            for verdict in verdicts
            if verdict["notes"] and verdict["result"] in ("not applicable", "not run")
        )
        if reasons:
            yield f"- {key}: {' '.join(reasons)}".translate(CHARACTERS)
    yield ""


def _ran(key: str, about: dict[str, str]) -> str:
    return f"{_head(key, about)} on LangGraph {about['langgraph']} and Python {about['python']}."


def _head(key: str, about: dict[str, str]) -> str:
    name, _, database = key.partition(" ")
    return " ".join(filter(None, (name, about.get("version", ""), database)))
