"""Somebody who plays a graph that was made at random: see programs.py."""

import random
from collections.abc import Awaitable, Callable
from pathlib import Path
from typing import Any

import pytest

from answerback.agent import Agent, Failed, Finished, Paused, Pending, State
from answerback.errors import NotPending
from answerback.model import Answer, Json, QuestionKind
from tests.flow.langgraph.harness import ids, said, target
from tests.flow.langgraph.programs import ALIKE, Program, expected, heard, told


class Person:
    """Who answers one of the questions that wait, has what failed tried again, or restarts the agent."""

    def __init__(
        self, begin: Callable[[], Awaitable[Agent]], program: Program, seed: int, topic: str = ""
    ) -> None:
        self.begin, self.program, self.topic = begin, program, topic
        self.rnd = random.Random(seed)  # noqa: S311 (no secret)
        self.mine: Agent
        self.given: list[tuple[Pending, Answer]] = []
        self.was_asked_anew = False

    async def play(self, log: Path) -> None:
        """To the end, which must be as expected."""
        log.touch()
        ended = await self._end({"log": str(log), "topic": self.topic})
        had = heard_rightly(self.program, self.topic, log, ended.result)
        words = [answer.text for _, answer in self.given if answer.text]
        assert self.was_asked_anew or sorted(had) == sorted(words)

    async def _end(self, input: dict[str, Any]) -> Finished:
        self.mine = await self.begin()
        state = await self.mine.start("t", input)
        while not isinstance(state, Finished):
            if self._chance(0.1):
                await self.mine.close()
                self.mine = await self.begin()
            state = await (self._answer(state) if isinstance(state, Paused) else self._repair(state))
        return state

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


def heard_rightly(program: Program, topic: str, log: Path, result: Json) -> list[str]:
    """All answers that its steps had, each always for the same question, and of which it made its result."""
    had = heard(log.read_text().splitlines())
    assert result.get("heard", []) == sorted(expected(program, topic, had.__getitem__))
    assert topic or all(answer == told(question) for question, answer in had.items())
    return list(had.values())


def _yes(pending: Pending) -> Answer | None:
    """The answer to a breakpoint, if it is one."""
    return said(True) if pending.questions[0].kind is QuestionKind.CONFIRM else None
