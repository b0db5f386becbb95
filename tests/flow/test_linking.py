"""A chat is linked by a one-time code; a contact that already has a chat confirms there first."""

import re

import pytest

from answerback.ask import AskRequest
from answerback.errors import Conflict, NotFound
from answerback.model import Contact, InteractionStatus, Question, QuestionKind, RunStatus
from answerback.settings import Route
from answerback.store import contacts
from answerback.testing import ManualClock, ScriptedAgent, asks
from tests.support.databases import Database
from tests.support.gateway import ALICE, Gateway, gateway

pytestmark = pytest.mark.either_database

CAROL = Contact("carol", "Carol")
WITH_CAROL = {"contacts": {"alice": ALICE, "carol": CAROL}}


async def code_for(g: Gateway, contact: str) -> str:
    return (await g.app.linker.create(contact, "memory")).code


async def test_the_code_links_the_chat_once(database: Database) -> None:
    agent = ScriptedAgent(asks("Which?"))
    async with gateway(database, agent, **WITH_CAROL) as g:
        code = await code_for(g, "carol")
        await g.types("3003", f"/start {code}")
        assert g.memory.titles("3003") == ["This chat is now linked to Carol."]
        await g.types("4004", f"/start {code}")
        assert g.memory.titles("4004") == [
            "This link does not work any more. Ask whoever runs the agent for a new one."
        ]
        run = await g.run(ask=("carol",))
        await g.types("3003", "hello")
        assert (await g.settled(run.id)).status is RunStatus.COMPLETED


async def test_the_code_works_for_ten_minutes_and_in_private_only(database: Database) -> None:
    async with gateway(database, **WITH_CAROL) as g:
        code = await code_for(g, "carol")
        await g.types("-55", f"/start {code}", private=False)
        assert g.memory.titles("-55") == ["Please open the link in a private chat."]
        g.clock.advance(601)
        await g.types("3003", f"/start {code}")
        assert g.memory.titles("3003")[-1].startswith("This link does not work any more.")


async def test_a_second_chat_is_linked_only_after_the_first_says_yes(database: Database) -> None:
    agent = ScriptedAgent(asks("Which?", "A"))
    async with gateway(database, agent, **WITH_CAROL) as g:
        await g.types("3003", f"/start {await code_for(g, 'carol')}")
        await g.types("6666", f"/start {await code_for(g, 'carol')}")
        assert g.memory.titles("6666") == []
        assert g.memory.titles("3003")[-1] == "Another chat wants to answer as you, Carol. Is that you?"
        await g.taps("3003", "Yes")
        assert g.memory.titles("6666") == ["This chat is now linked to Carol."]
        run = await g.run(ask=("carol",))
        assert g.memory.titles("6666")[-1] == "Which?"
        await g.taps("6666", "A")
        assert (await g.settled(run.id)).status is RunStatus.COMPLETED


async def test_a_no_keeps_the_chat_as_it_is(database: Database) -> None:
    agent = ScriptedAgent(asks("Which?", "A"))
    async with gateway(database, agent, **WITH_CAROL) as g:
        await g.types("3003", f"/start {await code_for(g, 'carol')}")
        await g.types("6666", f"/start {await code_for(g, 'carol')}")
        await g.taps("3003", "No")
        await g.run(ask=("carol",))
        assert g.memory.titles("6666") == []
        assert g.memory.titles("3003")[-1] == "Which?"


async def test_an_address_of_the_configuration_is_changed_there_and_nowhere_else(database: Database) -> None:
    async with gateway(database, **WITH_CAROL) as g:
        with pytest.raises(Conflict, match="stands in the configuration"):
            await code_for(g, "alice")


async def test_an_address_that_left_the_configuration_may_not_answer_any_more(database: Database) -> None:
    agent, clock = ScriptedAgent(asks("Which?")), ManualClock()
    async with gateway(database, agent, clock=clock, **WITH_CAROL) as g:
        run = await g.run()
        await g.types("3003", f"/start {await code_for(g, 'carol')}")
        before = g.memory.shown[0].message.token
    without = {"contacts": {"carol": CAROL}, "routes": {"default": Route("default", ("carol",), ("memory",))}}
    async with gateway(database, agent, clock=clock, **without) as g:
        await g.receive(g.memory.typed("1001", "still me?", data=f"{before}:0.y", event_id="later"))
        assert (await g.settled(run.id)).status is RunStatus.WAITING
        await g.run(ask=("carol",))
        assert g.memory.titles("3003") == ["Which?"]  # what was linked stays linked


async def test_law_7_who_left_the_configuration_may_not_answer_from_what_they_had_linked(
    database: Database,
) -> None:
    agent, alone = ScriptedAgent(asks("Which?")), {"contacts": {"alice": ALICE}}
    async with gateway(database, agent, **WITH_CAROL) as g:
        await g.types("3003", f"/start {await code_for(g, 'carol')}")
        unused = await code_for(g, "carol")
        run = await g.run(ask=("carol",))
    async with gateway(database, agent, **alone) as g:
        await g.types("3003", "hello", event_id="gone")
        await g.types("4004", f"/start {unused}", event_id="linking")
        assert (await g.settled(run.id)).status is RunStatus.WAITING
        assert "This chat is now linked to Carol." not in g.memory.titles("4004")
    async with gateway(database, agent, **WITH_CAROL) as g:  # back again, and to be linked anew
        await g.types("3003", "hello", event_id="back")
        assert (await g.settled(run.id)).status is RunStatus.WAITING


async def test_who_was_added_over_the_api_stays_though_no_file_names_them(database: Database) -> None:
    agent = ScriptedAgent(asks("Which?"))
    async with gateway(database, agent) as g:
        await g.app.context.store.write(lambda tx: contacts.put(tx, CAROL, source="api"))
        await g.types("3003", f"/start {await code_for(g, 'carol')}")
    async with gateway(database, agent) as g:
        run = await g.run(ask=("carol",))
        await g.types("3003", "hello", event_id="later")
        assert (await g.settled(run.id)).status is RunStatus.COMPLETED


async def test_law_7_an_old_link_leads_nowhere_once_its_account_is_nobody_s_any_more(
    database: Database,
) -> None:
    wipe = AskRequest((Question("q1", "Wipe?", QuestionKind.CONFIRM),), ask=("carol",))
    async with gateway(database, form_auth="code", **WITH_CAROL) as g:
        await g.types("3003", f"/start {await code_for(g, 'carol')}")
        await g.app.asker.ask(wipe)
        await g.app.idle()
        link = next(shown.message.form_url for shown in g.memory.shown if shown.message.form_url)
        link = link.rpartition("/")[2]
        assert (await g.app.forms.view(link)).can_send_code
        await g.app.forms.send_code(link)
        await g.app.idle()
        found = re.search(r"\d{6}", g.memory.titles("3003")[-1])
        assert found is not None
        await g.app.context.store.write(lambda tx: tx.run(contacts.REMOVE_ALL, contact_id="carol"))
        with pytest.raises(NotFound):
            await g.app.forms.view(link)
        with pytest.raises(NotFound):
            await g.app.forms.send_code(link)
        with pytest.raises(NotFound):
            await g.app.forms.submit(link, {"q1": True}, code=found[0])
        (record,) = (await g.app.reader.interactions()).items
        assert record.status is InteractionStatus.PENDING
