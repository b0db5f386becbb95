"""The main job: an agent pauses, a person is asked, and the agent goes on with exactly that answer."""

from answerback.model import RunStatus
from answerback.testing import ScriptedAgent, asks
from tests.support.databases import Database
from tests.support.gateway import gateway


async def test_a_tap_reaches_the_agent_and_the_run_ends_with_it(database: Database) -> None:
    agent = ScriptedAgent(asks("Which term?", "Coding", "Costing"))
    async with gateway(database, agent) as g:
        run = await g.run()
        assert run.status is RunStatus.WAITING
        assert g.memory.titles("1001") == ["Which term?"]
        await g.taps("1001", "Coding")
        run = await g.settled(run.id)
    assert (run.status, run.result) == (RunStatus.COMPLETED, ["coding"])
    assert [(text, answer.values) for _, text, answer in agent.journal] == [("Which term?", {"q1": "coding"})]
