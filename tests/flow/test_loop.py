"""The main job: an agent pauses, a person is asked, and the agent goes on with exactly that answer."""

from answerback.model import Question, QuestionKind, RunStatus
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


async def test_law_9_words_from_right_to_left_are_set_apart_for_people_only(database: Database) -> None:
    agent = ScriptedAgent(asks("Which term?"), Question("q1", "How many?", QuestionKind.NUMBER))
    async with gateway(database, agent) as g:
        run = await g.run()
        await g.types("1001", "שלום 14")
        assert g.memory.titles("1001")[0].startswith("✅ You wrote “\u2068שלום 14\u2069” · ")
        await g.types("1001", "שלום")
        assert g.memory.titles("1001")[-1].startswith("“\u2068שלום\u2069” is not a number")
        await g.types("1001", "3")
        assert (await g.settled(run.id)).result == ["שלום 14", 3]
    assert agent.journal[0][2].text == "שלום 14"
