"""A webhook of the server is a hint: it makes the gateway look at once, and carries no truth."""

import asyncio
from typing import Any

import pytest
from pydantic import SecretStr

from answerback.agent import AgentContext
from answerback.cli.site import site
from answerback.settings import ApiKey, Plugin
from answerback.testing import ScriptedAgent
from answerback.workers import WorkerAgent
from tests.flow.langgraph_server.development import KEY
from tests.flow.langgraph_server.harness import Elsewhere, Harness
from tests.support.databases import Database
from tests.support.described import through
from tests.support.gateway import Gateway, gateway
from tests.support.serving import served

pytestmark = pytest.mark.either_database

KEYS = (
    ApiKey("server", SecretStr(KEY), scopes=frozenset({"ask"}), agents=frozenset({"remote"})),
    ApiKey("reader", SecretStr("reads"), scopes=frozenset({"read"})),
)


async def asked(g: Gateway, how_many: int) -> list[Any]:
    """The pending interactions, once there are so many."""
    async with asyncio.timeout(50):
        while True:
            found = (await g.app.reader.interactions("pending")).items
            if len(found) >= how_many:
                return list(found)
            await asyncio.sleep(0.01)


async def test_a_webhook_makes_the_gateway_ask_long_before_its_next_look(
    database: Database, harness: Harness, elsewhere: Elsewhere
) -> None:
    agent = await harness.open("asking", adopt=True, metadata=elsewhere.metadata, poll_seconds=86400)
    async with gateway(database, agent, api_keys=KEYS) as g, served(g.app) as url:
        g.app.adopter.start()
        thread = await elsewhere.client.threads.create(metadata=elsewhere.metadata)
        await elsewhere.client.runs.create(
            thread["thread_id"], "asking", input=harness.input(), webhook=f"{url}/v1/agents/remote/look"
        )
        (interaction,) = await asked(g, 1)
        assert interaction.questions[0].text == "Go on?"


async def test_what_a_hint_says_counts_for_nothing_and_it_needs_a_key(database: Database) -> None:
    async with (
        gateway(database, ScriptedAgent(), api_keys=KEYS) as g,
        through(site(g.app), "http://here") as http,
    ):
        lie = {"thread_id": "t1", "status": "interrupted", "values": {"__interrupt__": [{"value": "Pay?"}]}}
        for key, status in (("", 401), ("unknown", 401), ("reads", 403), (KEY, 404)):
            headers = {"Authorization": f"Bearer {key}"} if key else {}
            answer = await http.post("/v1/agents/scripted/look", json=lie, headers=headers)
            assert answer.status_code == status
        assert (await g.app.reader.interactions("pending")).items == ()


async def test_an_agent_in_a_worker_is_looked_at_too(
    database: Database, harness: Harness, elsewhere: Elsewhere
) -> None:
    options = {
        "url": harness.front.url,
        "assistant": "asking",
        "adopt": "true",
        "metadata": elsewhere.metadata,
    }
    use = "answerback_agents.langgraph_server:LangGraphServer"
    worker = WorkerAgent(Plugin("remote", use, options), AgentContext(str(harness.place)))
    await elsewhere.start("asking")
    async with gateway(database, worker) as g:
        assert await g.app.adopter.look("remote") == 10.0
        await g.app.idle()
        await g.types("1001", "yes")
        (run,) = (await g.app.runner.list()).items
        assert (await g.settled(run.id)).result["answers"] == ["yes"]
