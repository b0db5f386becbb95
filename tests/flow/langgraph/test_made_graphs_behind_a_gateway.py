"""Graphs at random behind a gateway: whoever answers what at the same moment, each answer counts where it was
given, nobody is asked twice, and every run comes to its end. Also where all questions have the same words."""

import asyncio
import contextlib
import random
from collections import Counter
from pathlib import Path

import pytest

from answerback.agent import AgentContext
from answerback.errors import AlreadyAnswered, Closed, Conflict
from answerback.loops import make_room
from answerback.model import Interaction, QuestionKind, RunStatus
from answerback.run import Run, RunRequest
from answerback_agents.langgraph import LangGraph
from tests.flow.langgraph.harness import HERE
from tests.flow.langgraph.playing import heard_rightly
from tests.flow.langgraph.programs import ALIKE, of_size, told
from tests.support.databases import Database
from tests.support.gateway import Gateway, gateway

RUNS = 3
ENOUGH = 500  # rounds in which any of these programs comes to its end


class People:
    """They answer some of what waits, at the same moment or one after the other, and have tried again what
    failed. All that they answered is in `given`, with its answer."""

    def __init__(self, here: Gateway, seed: int, folder: Path, topic: str) -> None:
        self.here, self.folder, self.topic = here, folder, topic
        self.rnd = random.Random(seed)  # noqa: S311 (no secret)
        self.runs: list[str] = []
        self.given: list[tuple[Interaction, str]] = []

    async def play(self) -> list[Run]:
        for number in range(RUNS):
            log = self.log(f"t{number}")
            log.touch()
            given = {"log": str(log), "topic": self.topic, "heard": []}
            self.runs.append((await self.here.app.runner.start(RunRequest("mine", given, f"t{number}"))).id)
        for _ in range(ENOUGH):
            found = await self._stand()
            if all(run.status is RunStatus.COMPLETED for run in found):
                return found
            await self._act(found)
        raise AssertionError([(run.status, run.error) for run in await self._stand()])

    def log(self, thread: str) -> Path:
        return self.folder / f"log-{thread}"

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
        await asyncio.gather(*(self._answer(asked, f"answer {self.rnd.random()}") for asked in some))
        if self.rnd.random() < 0.5:
            await self.here.app.idle()

    async def _answer(self, asked: Interaction, words: str) -> None:
        (question,) = asked.questions
        confirms = question.kind is QuestionKind.CONFIRM
        answer = words if question.text == ALIKE else told(question.text)
        try:
            await self.here.app.receiver.respond(asked.id, True if confirms else answer, by="", via="api")
        except (AlreadyAnswered, Closed, Conflict):  # what failed beside it has taken it back
            return
        if not confirms:
            self.given.append((asked, answer))


async def prove(database: Database, tmp_path: Path, seed: int, most: int, topic: str) -> None:
    await make_room()  # as an agent's process has it: steps in threads wait for tasks in others
    settings = LangGraph.Settings(graph="made.py:graph", options={"seed": str(seed), "most": str(most)})
    context = AgentContext(str(database.data_dir), database.url, str(HERE))
    program = of_size(seed, most)
    async with gateway(database, LangGraph("mine", settings, context)) as here:
        people = People(here, seed, tmp_path, topic)
        ended = await people.play()
        after = [(await here.app.reader.interaction(asked.id), answer) for asked, answer in people.given]
    for run in ended:
        had = heard_rightly(program, topic, people.log(run.thread_id), run.result)
        mine = [(asked, answer) for asked, answer in after if asked.thread_id == run.thread_id]
        assert Counter(had) == Counter(answer for asked, answer in mine if not asked.resume_error)
        assert program.gives_up or not any(asked.resume_error for asked, _ in mine)


@pytest.mark.either_database
@pytest.mark.parametrize("seed", range(4))
async def test_laws_1_and_3_every_answer_counts_where_it_was_given_whatever_is_answered_beside_it(
    database: Database, tmp_path: Path, seed: int
) -> None:
    await prove(database, tmp_path, seed, 30, "")


@pytest.mark.either_database
@pytest.mark.parametrize("seed", range(4, 8))
async def test_law_1_so_it_does_where_all_questions_read_alike(
    database: Database, tmp_path: Path, seed: int
) -> None:
    await prove(database, tmp_path, seed, 30, ALIKE)


@pytest.mark.slow
@pytest.mark.parametrize("topic", ["", ALIKE])
@pytest.mark.parametrize("seed", range(1000, 1100))
async def test_so_it_does_in_many_larger_ones(
    database: Database, tmp_path: Path, seed: int, topic: str
) -> None:
    await prove(database, tmp_path, seed, 80, topic)
