"""Answer binding: every hazard of the conformance suite, on a whole gateway in processes of its own."""

from collections import Counter
from collections.abc import Iterator
from pathlib import Path

import pytest

from tests.conformance.hazards import HAZARDS
from tests.conformance.play import Result, play
from tests.conformance.remote import Host, hosted
from tests.conformance.steps import Hazard
from tests.support.databases import Database

# What is no fault on the way: what a hazard kills itself, and a second process on one SQLite file.
EXPECTED = ("died in life", "a second process is refused")
FOUND_OUT = {
    "the first answer again, while the second question of the node waits": "a node heard what it must not",
    "another tap on the first question, while the next node's waits": "a node heard what it must not",
    "a breakpoint behind the question": "a node heard what it must not",
    "thirty-two answers at the same moment": "the graph ran to its end more than once",
    "an answer that was not offered": "a node heard what it must not",
}
pytestmark = pytest.mark.needs_extra("langgraph")


@pytest.fixture(scope="module")
def ours() -> Iterator[Host]:
    with hosted("tests.conformance.ours:Ours") as host:
        yield host


@pytest.fixture(scope="module")
def plain() -> Iterator[Host]:
    with hosted("tests.conformance.naive:Naive", quiet=True) as host:
        yield host


@pytest.mark.parametrize("hazard", HAZARDS, ids=lambda hazard: hazard.name)
async def test_an_answer_reaches_its_own_question_only(
    ours: Host, database: Database, hazard: Hazard
) -> None:
    verdict = await play(ours, hazard, database.data_dir, database.url)
    assert verdict.result is Result.HELD, verdict
    assert [note for note in verdict.notes if not note.startswith(EXPECTED)] == []


def test_every_hazard_has_a_name_of_its_own() -> None:
    assert [name for name, count in Counter(hazard.name for hazard in HAZARDS).items() if count > 1] == []


@pytest.mark.parametrize("name", FOUND_OUT)
async def test_a_plain_resume_is_found_out(plain: Host, tmp_path: Path, name: str) -> None:
    (hazard,) = (hazard for hazard in HAZARDS if hazard.name == name)
    verdict = await play(plain, hazard, tmp_path, "sqlite")
    assert (verdict.result, verdict.how) == (Result.BROKEN, FOUND_OUT[name]), verdict
