"""Whoever answers when, and whatever fails on the way: a graph gives what its answers mean."""

from collections import Counter
from pathlib import Path

import pytest

from answerback.loops import make_room
from answerback_agents.langgraph import LangGraph
from tests.flow.langgraph.harness import Harness
from tests.flow.langgraph.playing import Person
from tests.flow.langgraph.programs import ALIKE, of_size


async def prove(harness: Harness, tmp_path: Path, seed: int, most: int, topic: str = "") -> None:
    await make_room()  # as an agent's process has it: steps in threads wait for tasks in others
    program, options = of_size(seed, most), {"seed": str(seed), "most": str(most)}

    async def begin() -> LangGraph:
        return await harness.open("made.py:graph", options=options)

    person, log = Person(begin, program, seed, topic), tmp_path / "log"
    await person.play(log)
    if not (program.can_fail or person.was_asked_anew):  # law 12: what failed, or was cut off, runs again
        ends = Counter(line for line in log.read_text().splitlines() if line.startswith("end"))
        assert max(ends.values(), default=1) == 1


@pytest.mark.either_database
@pytest.mark.parametrize("seed", range(10))
async def test_laws_1_and_12_a_graph_gives_what_its_answers_mean_and_does_once_what_ends(
    harness: Harness, tmp_path: Path, seed: int
) -> None:
    await prove(harness, tmp_path, seed, 30)


@pytest.mark.either_database
@pytest.mark.parametrize("seed", range(10, 16))
async def test_law_1_each_answer_counts_once_where_all_questions_read_alike(
    harness: Harness, tmp_path: Path, seed: int
) -> None:
    await prove(harness, tmp_path, seed, 30, ALIKE)


@pytest.mark.slow
@pytest.mark.parametrize("topic", ["", ALIKE])
@pytest.mark.parametrize("seed", range(1000, 1400))
async def test_so_do_many_larger_ones(harness: Harness, tmp_path: Path, seed: int, topic: str) -> None:
    await prove(harness, tmp_path, seed, 80, topic)
