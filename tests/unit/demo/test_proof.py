"""What the demo's exit code rests on: a report passes only if its citations are real and contain the term."""

import random
from pathlib import Path

import pytest

from answerback_demo.proof import flaws
from answerback_demo.world import own_directory

DOCUMENTS = {"docs/a.md": "# A\n\nA token is a\nsecret. Nothing else.\n"}
PASSAGE = {"document": "docs/a.md", "section": "A", "text": "A token is a secret."}
REPORT = "1 passage.\n\n1. docs/a.md\n\n> A token is a secret."


def test_a_report_with_real_passages_that_contain_the_term_has_no_flaw() -> None:
    assert flaws({"report": REPORT, "passages": [PASSAGE]}, "token", DOCUMENTS) == []
    assert flaws({"report": REPORT, "passages": [PASSAGE]}, "Secret", DOCUMENTS) == []


@pytest.mark.parametrize("term", ["tok", "tokens", "else"])
def test_a_passage_without_the_very_term_is_a_flaw(term: str) -> None:
    assert flaws({"report": REPORT, "passages": [PASSAGE]}, term, DOCUMENTS) == [
        f"Passage 1 does not contain “{term}”."
    ]


def test_a_passage_that_stands_nowhere_is_a_flaw() -> None:
    made_up = {**PASSAGE, "text": "A token is a toy."}
    found = flaws({"report": f"{REPORT} A token is a toy.", "passages": [made_up]}, "token", DOCUMENTS)
    assert found == ["Passage 1 does not stand in docs/a.md."]


def test_a_document_that_does_not_exist_is_a_flaw() -> None:
    elsewhere = {**PASSAGE, "document": "docs/b.md"}
    assert flaws({"report": f"{REPORT} docs/b.md", "passages": [elsewhere]}, "token", DOCUMENTS)


def test_a_passage_that_the_report_does_not_show_is_a_flaw() -> None:
    assert flaws({"report": "Trust me: docs/a.md.", "passages": [PASSAGE]}, "token", DOCUMENTS) == [
        "Passage 1 is not in the report."
    ]


@pytest.mark.parametrize("result", [None, {}, "text", {"report": REPORT}, {"report": REPORT, "passages": []}])
def test_nothing_is_no_proof(result: object) -> None:
    assert flaws(result, "token", DOCUMENTS) != []


@pytest.mark.needs_extra("telegram", "langgraph")
def test_the_term_is_a_word_of_the_collection_and_the_same_for_the_same_seed() -> None:
    from answerback_agents.research.collection import collection
    from answerback_demo.person import draw

    drawn, again = ([draw(random.Random(seed)) for seed in range(20)] for _ in range(2))  # noqa: S311
    assert drawn == again
    assert len(set(drawn)) > 10
    assert set(drawn) <= set(collection().vocabulary)
    assert not {"stop", "help", "which"} & set(drawn)


def test_a_second_demo_gets_a_directory_of_its_own_and_an_earlier_ones_database_is_gone(
    tmp_path: Path,
) -> None:
    wanted = tmp_path / "demo"
    with own_directory(wanted) as first:
        (first / "answerback.db").touch()
        (first / "secret").touch()
        with own_directory(wanted) as second:
            assert (first, second) == (wanted, tmp_path / "demo-2")
    with own_directory(wanted) as third:
        assert third == wanted
        assert sorted(file.name for file in third.iterdir()) == ["demo.lock", "secret"]
