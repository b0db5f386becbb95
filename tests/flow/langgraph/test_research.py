"""The research agent through a whole gateway: it asks, and asks again about a correction that is mistyped."""

import pytest

from answerback.agent import AgentContext
from answerback.model import RunStatus
from answerback_agents.langgraph import LangGraph
from tests.flow.langgraph.harness import HERE
from tests.support.databases import Database
from tests.support.gateway import gateway

pytestmark = pytest.mark.either_database


async def test_who_only_says_no_is_asked_what_to_search_for_instead(database: Database) -> None:
    context = AgentContext(str(database.data_dir), database.url, str(HERE))
    settings = LangGraph.Settings(graph="answerback_agents.research:graph")
    async with gateway(database, LangGraph("research", settings, context)) as g:
        run = await g.run("research", input={"topic": "tokens on a phone"})
        await g.types("1001", "No.")
        assert "What should I search for instead of “tokens on a phone”?" in g.memory.titles("1001")
        await g.types("1001", "deadlines")
        ended = await g.settled(run.id)
        assert (ended.result["topic"], ended.result["additional_context"]) == ("deadlines", "deadlines")
        assert ended.result["passages"]

        run = await g.run("research", input={"topic": "tokens on a phone"})
        await g.types("1001", "no")
        await g.types("1001", "no thanks")
        ended = await g.settled(run.id)
        assert ended.status is RunStatus.COMPLETED
        assert "nothing was searched" in ended.result["report"]


async def test_a_correction_that_is_mistyped_is_asked_about_again_and_then_searched(
    database: Database,
) -> None:
    context = AgentContext(str(database.data_dir), database.url, str(HERE))
    settings = LangGraph.Settings(graph="answerback_agents.research:graph")
    async with gateway(database, LangGraph("research", settings, context)) as g:
        run = await g.run("research", input={"topic": "tokens on a phone"})
        await g.types("1001", "I meant mesage, not phone")
        assert g.memory.shown[-1].message.title == "Search for “mesage”?"
        await g.taps("1001", "Use “message”")
        ended = await g.settled(run.id)
        assert ended.status is RunStatus.COMPLETED
        assert (ended.result["topic"], ended.result["search_terms"]) == ("message", ["message"])
        assert ended.result["additional_context"] == "I meant mesage, not phone"
        assert ended.result["passages"]
