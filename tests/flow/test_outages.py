"""A service that takes nothing any more, after months of taking everything: readiness says so."""

import httpx

from answerback.cli.site import provider_states, site
from answerback.errors import TryLater, Undeliverable
from answerback.intake import Intake
from answerback.testing import MemoryProvider, ScriptedAgent, asks
from answerback.web.people import WELL
from tests.support.databases import Database
from tests.support.gateway import Gateway, gateway

REFUSED = "smtp.example.org refused signing in. Check username and password."
SINCE = "No message has been taken since 2025-12-01 12:00 UTC: "


async def said(g: Gateway) -> str:
    """What readiness says of the provider; it is green all the while, as questions can still be asked."""
    async with httpx.AsyncClient(transport=httpx.ASGITransport(site(g.app)), base_url="http://here") as http:
        ready = await http.get("/-/ready")
    assert ready.status_code == 200
    return str(ready.json()["parts"]["provider:memory"])


async def opened(g: Gateway) -> Intake:
    """The providers are open, as in a gateway that is served."""
    g.app.intake.start()
    await g.app.intake.drained(10)
    return g.app.intake


async def test_readiness_says_since_when_no_message_was_taken_and_why(database: Database) -> None:
    memory = MemoryProvider()
    memory.failures.extend([TryLater(900, REFUSED), OSError("no route")])
    async with gateway(database, ScriptedAgent(asks("Which?")), providers={"memory": memory}) as g:
        await opened(g)
        assert await said(g) == WELL
        await g.run()
        assert await said(g) == SINCE + REFUSED
        await g.later(901)
        assert await said(g) == SINCE + "the service cannot be reached."
        await g.later(901)
        assert memory.titles("1001") == ["Which?"]
        assert await said(g) == WELL


async def test_what_raises_in_the_plugin_is_said_too(database: Database) -> None:
    memory = MemoryProvider()
    memory.failures.append(KeyError("id"))
    async with gateway(database, ScriptedAgent(asks("Which?")), providers={"memory": memory}) as g:
        await opened(g)
        await g.run()
        assert await said(g) == SINCE + "KeyError in the provider."


async def test_a_service_that_refuses_one_message_for_good_works(database: Database) -> None:
    memory = MemoryProvider()
    memory.failures.extend([TryLater(1, "not now"), Undeliverable("there is no such chat")])
    async with gateway(database, ScriptedAgent(asks("Which?")), providers={"memory": memory}) as g:
        await opened(g)
        await g.run()
        assert "not now" in await said(g)
        await g.later(120)
        assert await said(g) == WELL


async def test_that_nothing_comes_in_is_said_rather_than_that_nothing_goes_out(database: Database) -> None:
    memory = MemoryProvider()
    memory.failures.append(TryLater(1, "not now"))
    async with gateway(database, ScriptedAgent(asks("Which?")), providers={"memory": memory}) as g:
        (await opened(g)).state["memory"] = "the mailbox is gone"
        await g.run()
        assert provider_states(g.app)["memory"] == "the mailbox is gone"
