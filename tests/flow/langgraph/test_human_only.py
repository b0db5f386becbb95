"""A payload that says `human_only` keeps stand-ins out, all the way through the agent's own process."""

from pathlib import Path

from answerback.agent import AgentContext
from answerback.model import RunStatus
from answerback.provider import ProviderContext
from answerback.settings import Hitl, Plugin
from answerback.workers import WorkerAgent
from answerback_providers.scripted import Scripted
from tests.flow.langgraph.harness import HERE
from tests.support.databases import Database
from tests.support.gateway import gateway


async def test_a_stand_in_answers_the_one_question_and_a_person_the_other(tmp_path: Path) -> None:
    plugin = Plugin("marked", "langgraph", {"graph": "marked.py:graph"}, base_dir=str(HERE))
    agent = WorkerAgent(plugin, AgentContext(str(tmp_path / "var"), "sqlite", str(HERE)))
    script = Scripted(
        "script", Scripted.Settings.model_validate({"answers": ["blue", "Rex"]}), ProviderContext()
    )
    async with gateway(
        Database("sqlite", tmp_path), agent, providers={"script": script}, hitl=Hitl(mode="script")
    ) as g:
        run = await g.run("marked")
        assert g.memory.titles("1001") == ["Which name?"]
        await g.types("1001", "Fido")
        run = await g.settled(run.id)
        assert (run.status, run.result) == (
            RunStatus.COMPLETED,
            {"heard": ["blue", "Fido"], "by": ["stand-in:script", None]},
        )
