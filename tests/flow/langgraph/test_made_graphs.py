"""Whoever answers when, and whatever fails on the way: a graph gives what its answers mean."""

import random
from collections import Counter
from pathlib import Path

import pytest

from answerback.agent import Failed, Finished, Paused, Pending, State
from answerback.errors import NotPending
from answerback.loops import make_room
from answerback.model import Answer, QuestionKind
from answerback_agents.langgraph import LangGraph
from tests.flow.langgraph.harness import Harness, ids, said, target
from tests.flow.langgraph.programs import ALIKE, expected, heard, of_size, told


class Person:
    """Who answers one of the questions that wait, has what failed tried again, or restarts the agent."""

    def __init__(self, harness: Harness, options: dict[str, str], topic: str) -> None:
        self.harness, self.options, self.topic = harness, options, topic
        self.program = of_size(int(options["seed"]), int(options["most"]))
        self.rnd = random.Random(int(options["seed"]))  # noqa: S311 (no secret)
        self.mine: LangGraph
        self.given: list[tuple[Pending, Answer]] = []
        self.was_asked_anew = False

    async def play(self) -> State:
        self.mine = await self._open()
        state = await self.mine.start("t", self.harness.input(topic=self.topic))
        while not isinstance(state, Finished):
            if self._chance(0.1):
                await self.mine.close()
                self.mine = await self._open()
            state = await (self._answer(state) if isinstance(state, Paused) else self._repair(state))
        return state

    async def _open(self) -> LangGraph:
        return await self.harness.open("made.py:graph", options=self.options)

    def _chance(self, of: float) -> bool:
        return self.rnd.random() < of

    async def _answer(self, state: Paused) -> State:
        if self.given and self._chance(0.1):
            earlier, _ = self.rnd.choice(self.given)
            with pytest.raises(NotPending):
                await self.mine.resume("t", target(earlier), _yes(earlier) or said("wrong"))
        pending = self.rnd.choice(state.pending)
        answer = _yes(pending) or said(self._words(pending.questions[0].text))
        after = await self.mine.resume("t", target(pending), answer)
        self.given.append((pending, answer))
        is_held = isinstance(after, Paused) and any(map(_yes, after.pending))
        if isinstance(after, Paused) and not (self.program.mends or is_held or _yes(pending)):
            assert ids(state) - {pending.interrupt_id} <= ids(after)  # nothing else is taken back
        if not isinstance(after, Failed) and self._chance(0.15):  # as if nobody had heard what became of it
            again = await self.mine.resume("t", target(pending), answer, again=True)
            assert (type(again), ids(again)) == (type(after), ids(after))
        return after

    def words(self) -> list[str]:
        """All that was answered but to breakpoints."""
        return [answer.text for _, answer in self.given if answer.text]

    def _words(self, question: str) -> str:
        return f"answer {len(self.given)}" if question == ALIKE else told(question)

    async def _repair(self, state: State) -> State:
        assert isinstance(state, Failed)
        assert state.retryable
        assert state.error.endswith(" fails")
        if not self.topic and self._chance(0.2):
            self.given, self.was_asked_anew = [], True
            return await self.mine.reask("t")
        return await self.mine.retry("t")


def _yes(pending: Pending) -> Answer | None:
    """The answer to a breakpoint, if it is one."""
    return said(True) if pending.questions[0].kind is QuestionKind.CONFIRM else None


async def prove(harness: Harness, tmp_path: Path, seed: int, most: int, topic: str = "") -> None:
    await make_room()  # as an agent's process has it: steps in threads wait for tasks in others
    (tmp_path / "log").touch()
    person = Person(harness, {"seed": str(seed), "most": str(most)}, topic)
    ended, program = await person.play(), person.program
    assert isinstance(ended, Finished)
    lines = (tmp_path / "log").read_text().splitlines()
    had = heard(lines)
    assert ended.result.get("heard", []) == sorted(expected(program, topic, had.__getitem__))
    assert topic or all(answer == told(question) for question, answer in had.items())
    assert person.was_asked_anew or sorted(had.values()) == sorted(person.words())
    if not (program.can_fail or person.was_asked_anew):  # law 12: what failed, or was cut off, runs again
        assert max(Counter(line for line in lines if line.startswith("end")).values(), default=1) == 1


@pytest.mark.either_database
@pytest.mark.parametrize("seed", range(16))
async def test_laws_1_and_12_a_graph_gives_what_its_answers_mean_and_does_once_what_ends(
    harness: Harness, tmp_path: Path, seed: int
) -> None:
    await prove(harness, tmp_path, seed, 30)


@pytest.mark.either_database
@pytest.mark.parametrize("seed", range(16, 24))
async def test_law_1_each_answer_counts_once_where_all_questions_read_alike(
    harness: Harness, tmp_path: Path, seed: int
) -> None:
    await prove(harness, tmp_path, seed, 30, ALIKE)


@pytest.mark.slow
@pytest.mark.parametrize("topic", ["", ALIKE])
@pytest.mark.parametrize("seed", range(1000, 1400))
async def test_so_do_many_larger_ones(harness: Harness, tmp_path: Path, seed: int, topic: str) -> None:
    await prove(harness, tmp_path, seed, 80, topic)
