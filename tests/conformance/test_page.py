"""The table in the documents: written by a run between its marks, and about the suite as it is."""

from pathlib import Path
from typing import Any

import pytest

from tests.conformance import page
from tests.conformance.__main__ import DOCUMENT, SYSTEMS
from tests.conformance.hazards import HAZARDS

VERDICTS = [
    {"hazard": "a | b", "result": "held", "notes": ()},
    {"hazard": "c", "result": "broken", "notes": ("seen",)},
    {"hazard": "d", "result": "not applicable", "notes": ("It has no deadlines.",)},
    {"hazard": "e", "result": "not run", "notes": ("It is not driven.",)},
]
REPORT: dict[str, Any] = {
    "systems": {"ours (sqlite)": {"version": "1", "langgraph": "2", "python": "3"}, "theirs": {}},
    "hazards": [{"name": verdict["hazard"]} for verdict in VERDICTS],
    "results": {"ours (sqlite)": [VERDICTS[0]] * 4, "theirs": VERDICTS},
}


def test_the_section_between_the_marks_is_replaced_and_nothing_else(tmp_path: Path) -> None:
    document = tmp_path / "why.md"
    document.write_text(f"Before.\n\n{page.BEGIN}\nold\n{page.END}\n\nAfter.\n")
    page.write(document, REPORT)
    once = document.read_text()
    page.write(document, REPORT)
    assert document.read_text() == once
    assert once.startswith(f"Before.\n\n{page.BEGIN}\n")
    assert once.endswith(f"{page.END}\n\nAfter.\n")
    assert "old" not in once


def test_a_run_of_some_renews_those_and_leaves_the_others() -> None:
    verdict = {"hazard": "e", "result": "held", "notes": ()}
    systems = {"theirs": {"version": "2"}}
    report = page.renewed(REPORT, {"systems": systems, "hazards": [], "results": {"theirs": [verdict]}})
    assert report["results"]["theirs"] == [*VERDICTS[:3], verdict]
    assert report["results"]["ours (sqlite)"] == REPORT["results"]["ours (sqlite)"]
    assert report["systems"] == REPORT["systems"] | systems
    assert report["hazards"] == REPORT["hazards"]


def test_a_document_without_marks_is_left_alone(tmp_path: Path) -> None:
    document = tmp_path / "why.md"
    document.write_text("Nothing.\n")
    with pytest.raises(ValueError, match="no marks"):
        page.write(document, REPORT)
    assert document.read_text() == "Nothing.\n"


def test_the_section_has_the_versions_a_row_a_hazard_the_sums_and_the_reasons() -> None:
    lines = list(page.section(REPORT))
    assert "| hazard | ours 1 (sqlite) | theirs |" in lines
    assert "| a \\| b | held | held |" in lines
    assert "| c | held | **broken** |" in lines
    assert "| d | held | – |" in lines
    assert "| e | held | not run |" in lines
    assert "| **held** | 4 | 1 |" in lines
    assert "- theirs: It has no deadlines. It is not driven." in lines
    assert "ours 1 (sqlite) on LangGraph 2 and Python 3." in " ".join(lines)


def test_what_an_earlier_run_broke_stays_broken_though_it_was_lucky_in_this_one() -> None:
    [(system, hazard)] = page.BROKEN_BEFORE
    verdicts = [{"hazard": name, "result": "held", "notes": ()} for name in (hazard, "another")]
    names = [{"name": verdict["hazard"]} for verdict in verdicts]
    results = {system: verdicts, "ours": verdicts}
    systems: dict[str, Any] = {system: {}, "ours": {}}
    lines = list(page.section({"systems": systems, "hazards": names, "results": results}))
    assert f"| {hazard} | **broken** | held |" in lines
    assert "| another | held | held |" in lines
    assert "| **held** | 1 | 2 |" in lines


def _table() -> list[list[str]]:
    """The rows of the document's table, cell by cell."""
    section = DOCUMENT.read_text().partition(page.BEGIN)[2].partition(page.END)[0]
    rows = [line.strip("| ").split(" | ") for line in section.splitlines() if line.startswith("| ")]
    return [[cell.strip() for cell in row] for row in rows]


def test_the_documents_table_is_about_the_suite_as_it_is() -> None:
    head, *rows, sums = _table()
    assert [row[0] for row in rows] == [hazard.name.translate(page.CHARACTERS) for hazard in HAZARDS]
    assert [cell.split()[0] for cell in head[1:]] == [system.name for system in SYSTEMS]
    assert {row[column] for row in rows for column in (1, 2)} == {"held"}
    assert sums[1:3] == [str(len(HAZARDS))] * 2
