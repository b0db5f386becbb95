"""A payload sets the deadline of its question, all the way through the agent's own process."""

from pathlib import Path

import pytest

from answerback.agent import AgentContext
from answerback.model import RunStatus
from answerback.settings import Plugin
from answerback.workers import WorkerAgent
from answerback_agents import dialects
from answerback_agents.langgraph_server import reading
from tests.flow.langgraph.harness import HERE
from tests.support.databases import Database
from tests.support.gateway import gateway


async def test_each_question_ends_as_its_payload_says(tmp_path: Path) -> None:
    plugin = Plugin("hurried", "langgraph", {"graph": "hurried.py:graph"}, base_dir=str(HERE))
    agent = WorkerAgent(plugin, AgentContext(str(tmp_path / "var"), "sqlite", str(HERE)))
    async with gateway(Database("sqlite", tmp_path), agent) as g:
        run = await g.run("hurried")
        shown = g.memory.shown[0].message
        assert (shown.title, shown.body) == ("Which colour?", "")
        await g.later(601)
        await g.later(59)
        assert (await g.app.runner.get(run.id)).status is RunStatus.WAITING
        await g.later(2)
        colour, name = (await g.settled(run.id)).result["heard"]
        assert colour == {"content": "green", "choice": "green", "answered_by": "default"}
        assert name == {"content": "No response", "timed_out": True}


@pytest.mark.needs_extra("langgraph-server")
def test_one_on_a_server_is_read_alike() -> None:
    payload = {"question": "Which?", "expires_in": 60, "on_expire": "cancel", "default": "x"}
    state = {"tasks": [{"interrupts": [{"id": "i", "value": payload}]}]}
    (pending,) = reading.pending(state, None)
    assert (pending.expires_in, pending.on_expire, pending.default) == (60, "cancel", "x")
    assert dialects.read(payload).deadline == dialects.Deadline(60, "cancel", "x")
