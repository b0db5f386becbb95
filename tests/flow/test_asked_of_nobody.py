"""Where nobody has an address: a function, or the printed link, hears of the question; or it is said."""

import io
import logging
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from answerback.app import FALLBACK
from answerback.ask import AskRequest
from answerback.errors import Conflict
from answerback.model import Address, Contact, InteractionStatus, Question
from answerback.notices import NoticeRequest
from answerback.provider import Provider, ProviderContext
from answerback.settings import Route
from answerback.store import audit
from answerback.testing import MemoryProvider, ScriptedAgent, asks
from answerback_providers.callback import Callback
from answerback_providers.webform import WebForm
from tests.support.databases import Database
from tests.support.gateway import ALICE, Gateway, gateway

CAROL = Contact("carol", "Carol")
ASK = AskRequest((Question("q", "Deploy?"),))
EVERYWHERE = {"default": Route("default", ask=("alice", "carol"), providers=("mine", "memory"))}
NOWHERE = {"default": Route("default", ask=("carol",), providers=("memory",))}
MODULE = """
called = []

def notify(interaction_id, agent_message, form_url, expiry_time):
    called.append((interaction_id, agent_message, form_url, expiry_time))
"""


@pytest.fixture
def mine(tmp_path: Path) -> Iterator[Provider]:
    """A function that is called with what is asked."""
    (tmp_path / "called_here.py").write_text(MODULE)
    settings = Callback.Settings.model_validate({"function": "called_here:notify"})
    yield Callback("mine", settings, ProviderContext(base_dir=str(tmp_path)))
    sys.modules.pop("called_here", None)
    sys.path[:] = [entry for entry in sys.path if entry != str(tmp_path)]


def calls() -> list[Any]:
    module = sys.modules.get("called_here")
    return list(getattr(module, "called", ()))


def token_of(url: str) -> str:
    return url.rpartition("/")[2]


@pytest.mark.parametrize("contacts", [{}, {"carol": CAROL}], ids=["no contacts", "nobody with an address"])
async def test_a_function_alone_is_called_for_every_question(
    database: Database, mine: Provider, contacts: dict[str, Contact]
) -> None:
    route = Route("default", ask=tuple(contacts), providers=("mine",))
    agent = ScriptedAgent(asks("Delete it?"))
    async with gateway(
        database, agent, providers={"mine": mine}, contacts=contacts, routes={"default": route}
    ) as g:
        await g.run()
        asked = await g.app.asker.ask(ASK)
        await g.app.idle()

        (_, first, _, _), (id, second, _, expires) = calls()
        assert "Delete it?" in first
        assert "Deploy?" in second
        assert (id, expires) == (asked.interaction.id, None)
        await g.app.forms.submit(token_of(calls()[1][2]), {"q": "yes"})
        assert (await g.app.reader.interaction(asked.interaction.id)).status is InteractionStatus.COMPLETED


async def test_a_function_is_not_called_where_somebody_is_asked(database: Database, mine: Provider) -> None:
    async with gateway(
        database, providers={"mine": mine}, contacts={"alice": ALICE, "carol": CAROL}, routes=EVERYWHERE
    ) as g:
        await g.app.asker.ask(ASK)
        await g.app.idle()

        assert g.memory.shown and not calls()


async def test_a_function_is_called_for_the_person_who_has_an_address_on_it(
    database: Database, mine: Provider
) -> None:
    dora = Contact("dora", "Dora", addresses=(Address("mine", "d", "d"),))
    route = Route("default", ask=("dora",), providers=("mine",))
    async with gateway(
        database, providers={"mine": mine}, contacts={"dora": dora}, routes={"default": route}
    ) as g:
        await g.app.asker.ask(ASK)
        await g.app.idle()

        assert len(calls()) == 1


async def test_a_function_that_is_not_on_the_route_is_not_called(database: Database, mine: Provider) -> None:
    async with gateway(database, providers={"mine": mine}, contacts={"carol": CAROL}, routes=NOWHERE) as g:
        await g.app.asker.ask(ASK)
        await g.app.idle()

        assert not calls()


async def test_a_notice_that_reaches_nobody_is_refused_and_not_given_to_a_function(
    database: Database, mine: Provider
) -> None:
    async with gateway(database, providers={"mine": mine}, contacts={"carol": CAROL}, routes=NOWHERE) as g:
        with pytest.raises(Conflict, match="Nobody can be told"):
            await g.app.notices.send(NoticeRequest("Done.", ask=("carol",)))

        assert not calls()


async def test_a_page_that_is_configured_alone_shows_the_link(database: Database) -> None:
    echo = io.StringIO()
    page = WebForm("page", WebForm.Settings(), ProviderContext(extra={"echo": echo}))
    route = Route("default", providers=("page",))
    async with gateway(database, providers={"page": page}, contacts={}, routes={"default": route}) as g:
        await g.app.asker.ask(ASK)
        await g.app.idle()

        assert "Answer here: " in echo.getvalue()


async def test_a_question_that_reaches_nobody_is_said_in_the_log_and_in_its_history(
    database: Database, caplog: pytest.LogCaptureFixture
) -> None:
    caplog.set_level(logging.WARNING)
    async with gateway(database, contacts={"carol": CAROL}, routes=NOWHERE) as g:
        asked = await g.app.asker.ask(ASK)
        await g.app.idle()

        assert "nobody is asked" in caplog.text
        assert await events(g, asked.interaction.id) == ["asked", "asked nobody"]


async def test_the_plan_names_what_is_told_instead(database: Database, mine: Provider) -> None:
    async with gateway(
        database,
        providers={"mine": mine, FALLBACK: MemoryProvider(FALLBACK)},
        contacts={"carol": CAROL},
        routes=EVERYWHERE | {"elsewhere": Route("elsewhere", ask=("carol",), providers=("memory",))},
    ) as g:
        assert (await g.app.planner.of("default", ("carol",))).fallback == "mine"
        assert (await g.app.planner.of("elsewhere")).fallback == FALLBACK


async def events(g: Gateway, id: str) -> list[str]:
    return [each["event"] for each in await g.app.context.store.read(lambda tx: audit.of(tx, id))]
