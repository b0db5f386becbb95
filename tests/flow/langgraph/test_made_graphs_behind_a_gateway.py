"""Graphs at random behind a gateway: whoever answers what at the same moment, each answer counts where it was
given, nobody is asked twice, and every run comes to its end."""

import asyncio
import contextlib
import random
from pathlib import Path

import pytest

from answerback.agent import AgentContext
from answerback.errors import AlreadyAnswered, Closed, Conflict
from answerback.loops import make_room
from answerback.model import Interaction, QuestionKind, RunStatus
from answerback.run import Run, RunRequest
from answerback_agents.langgraph import LangGraph
from tests.flow.langgraph.harness import HERE
from tests.flow.langgraph.programs import expected, of_size, told
from tests.support.databases import Database
from tests.support.gateway import Gateway, gateway

RUNS = 3
ENOUGH = 500  # rounds in which any of these programs comes to its end


class People:
    """They answer some of what waits, at the same moment or one after the other, and have tried again what
    failed."""

    def __init__(self, here: Gateway, seed: int, most: int, folder: Path) -> None:
        self.here, self.folder = here, folder
        self.program = of_size(seed, most)
        self.rnd = random.Random(seed)  # noqa: S311 (no secret)
        self.runs: list[str] = []
        self.answered: set[tuple[str, str]] = set()

    async def play(self) -> list[Run]:
        for number in range(RUNS):
            self._log(f"t{number}").touch()
            given = {"log": str(self._log(f"t{number}")), "topic": "", "heard": []}
            self.runs.append((await self.here.app.runner.start(RunRequest("mine", given, f"t{number}"))).id)
        for _ in range(ENOUGH):
            found = await self._stand()
            if all(run.status is RunStatus.COMPLETED for run in found):
                return found
            await self._act(found)
        raise AssertionError([(run.status, run.error) for run in await self._stand()])

    async def _stand(self) -> list[Run]:
        return [await self.here.app.runner.get(id) for id in self.runs]

    async def _act(self, found: list[Run]) -> None:
        for run in found:
            if run.status is RunStatus.FAILED:
                assert run.error.endswith(" fails"), run.error
                with contextlib.suppress(Conflict):  # an answer that had been accepted is given first
                    await self.here.app.runner.retry(run.id)
        waiting = (await self.here.app.reader.interactions(status="pending", limit=1000)).items
        if not waiting:
            await self.here.later(60)
        some = self.rnd.sample(waiting, min(len(waiting), self.rnd.choice((1, 2, 5))))
        await asyncio.gather(*map(self._answer, some))
        if self.rnd.random() < 0.5:
            await self.here.app.idle()

    async def _answer(self, asked: Interaction) -> None:
        (question,) = asked.questions
        confirms = question.kind is QuestionKind.CONFIRM
        key = asked.thread_id, question.text
        assert confirms or key not in self.answered, f"{key} is asked again"
        value = True if confirms else told(question.text)
        try:
            await self.here.app.receiver.respond(asked.id, value, by="", via="api")
        except (AlreadyAnswered, Closed, Conflict):  # what failed beside it has taken it back
            return
        self.answered.add(key)

    def _log(self, thread: str) -> Path:
        return self.folder / f"log-{thread}"

    def wrong(self) -> list[str]:
        lines = (line for number in range(RUNS) for line in self._log(f"t{number}").read_text().splitlines())
        return [line for line in lines if line.startswith("wrong")]


async def prove(database: Database, tmp_path: Path, seed: int, most: int) -> None:
    await make_room()  # as an agent's process has it: steps in threads wait for tasks in others
    settings = LangGraph.Settings(graph="made.py:graph", options={"seed": str(seed), "most": str(most)})
    context = AgentContext(str(database.data_dir), database.url, str(HERE))
    async with gateway(database, LangGraph("mine", settings, context)) as here:
        people = People(here, seed, most, tmp_path)
        ended = await people.play()
    assert people.wrong() == []
    for run in ended:
        assert run.result.get("heard", []) == sorted(expected(people.program))


@pytest.mark.either_database
@pytest.mark.parametrize("seed", range(8))
async def test_laws_1_and_3_every_answer_counts_where_it_was_given_whatever_is_answered_beside_it(
    database: Database, tmp_path: Path, seed: int
) -> None:
    await prove(database, tmp_path, seed, 30)


@pytest.mark.slow
@pytest.mark.parametrize("seed", range(1000, 1100))
async def test_so_it_does_in_many_larger_ones(database: Database, tmp_path: Path, seed: int) -> None:
    await prove(database, tmp_path, seed, 80)
