"""`/stop NAME`, and `stop` below a message: that agent's run is stopped, and no other one's."""

import pytest

from answerback.model import RunStatus
from answerback.run import RunRequest
from answerback.testing import ScriptedAgent, asks
from tests.flow.test_starting import Recording, agents, runs, writes
from tests.support.databases import Database
from tests.support.gateway import Gateway, gateway

WAITING, RUNNING, CANCELLED = RunStatus.WAITING, RunStatus.RUNNING, RunStatus.CANCELLED


async def statuses(g: Gateway) -> dict[str, RunStatus]:
    return {run.agent: run.status for run in await runs(g)}


def asking(*names: str) -> list[ScriptedAgent]:
    return [ScriptedAgent(asks(f"What does {name} need?"), name=name) for name in names]


def last(g: Gateway) -> list[str]:
    """The buttons under what Alice read last."""
    return [button.label for button in g.memory.shown[-1].message.buttons]


async def test_it_is_stopped_while_it_works_and_not_the_one_that_asks(database: Database) -> None:
    agent, (tutor,) = Recording(asks("Which tea?")), asking("tutor")
    async with gateway(database, agent, tutor, agents=agents()) as g:
        await g.run("research")
        agent.free.clear()
        await writes(g, "green")
        await g.app.runner.start(RunRequest("tutor"))
        await g.app.runner.idle()
        await g.app.deliverer.idle()
        assert await statuses(g) == {"research": RUNNING, "tutor": WAITING}
        assert await writes(g, "/stop research") == "Research was stopped, as you asked."
        assert await statuses(g) == {"research": CANCELLED, "tutor": WAITING}
        agent.free.set()


@pytest.mark.parametrize("text", ["/stop term_check", "/cancel Term Check", "/stop TERM_CHECK"])
async def test_of_several_that_ask_it_is_the_one_of_that_name(database: Database, text: str) -> None:
    async with gateway(database, *asking("tutor", "term_check")) as g:
        for name in ("tutor", "term_check"):
            await g.run(name)
        await g.types("1001", text)
        assert await statuses(g) == {"tutor": WAITING, "term_check": CANCELLED}


async def test_a_name_that_nobody_has_stops_nothing_and_they_are_asked(database: Database) -> None:
    async with gateway(database, *asking("tutor")) as g:
        await g.run("tutor")
        await g.types("1001", "/stop tuttor")
        assert await statuses(g) == {"tutor": WAITING}
        (label,) = last(g)
        await g.taps("1001", label)
        assert await statuses(g) == {"tutor": CANCELLED}


async def test_of_several_questions_of_that_agent_they_are_asked_which_one(database: Database) -> None:
    async with gateway(database, *asking("tutor", "research")) as g:
        for name in ("tutor", "research", "tutor"):
            await g.run(name)
        await g.types("1001", "/stop tutor")
        assert [run.status for run in await runs(g)] == [WAITING] * 3
        assert len(last(g)) == 2
        await g.taps("1001", last(g)[0])
        assert sorted((run.agent, run.status) for run in await runs(g)) == [
            ("research", WAITING),
            ("tutor", CANCELLED),
            ("tutor", WAITING),
        ]


async def test_a_name_below_the_question_of_another_one_is_asked_about(database: Database) -> None:
    async with gateway(database, *asking("tutor", "research")) as g:
        for name in ("tutor", "research"):
            await g.run(name)
        of_tutor = g.memory.shown[0].id
        await g.types("1001", "/stop research", references=[of_tutor])
        assert await statuses(g) == {"tutor": WAITING, "research": WAITING}
        assert len(last(g)) == 2


async def test_below_a_question_that_was_answered_the_run_that_goes_on_is_stopped(database: Database) -> None:
    agent, (tutor,) = Recording(asks("Which tea?")), asking("tutor")
    async with gateway(database, agent, tutor, agents=agents()) as g:
        await g.run("research")
        answered = g.memory.shown[0].id
        agent.free.clear()
        await writes(g, "green")
        await g.app.runner.start(RunRequest("tutor"))
        await g.app.runner.idle()
        await g.app.deliverer.idle()
        assert await writes(g, "stop", references=[answered]) == "Research was stopped, as you asked."
        assert await statuses(g) == {"research": CANCELLED, "tutor": WAITING}
        agent.free.set()


async def test_below_a_question_whose_run_has_ended_they_read_that_it_is_over(database: Database) -> None:
    async with gateway(database, *asking("tutor", "research")) as g:
        await g.run("tutor")
        answered = g.memory.shown[0].id
        await g.types("1001", "nothing")
        await g.run("research")
        await g.types("1001", "/stop", references=[answered])
        assert await statuses(g) == {"tutor": RunStatus.COMPLETED, "research": WAITING}
        assert g.memory.titles("1001")[-1].endswith("“nothing”. Nothing changed.")
