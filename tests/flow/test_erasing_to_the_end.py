"""What an erasure may not leave behind, nor be stopped by: threads with more runs, who comes back, damage."""

from dataclasses import replace

import pytest
from sqlalchemy import text

from answerback.ask import AskRequest
from answerback.errors import AgentUnavailable, Conflict
from answerback.model import Answer, Contact, Json
from answerback.notices import NoticeRequest
from answerback.store import contacts, interactions
from answerback.store.codec import answer_out, dumps
from answerback.store.query import Query
from answerback.testing import ScriptedAgent, asks
from tests.flow.test_erasing_a_person import (
    ALONE,
    BEN,
    BOTH,
    CAROL,
    HIS,
    PHONE,
    SAYS,
    Dies,
    Phones,
    arrives,
    asked,
    erased,
    hers,
    raws,
    record,
)
from tests.support.databases import Database
from tests.support.gateway import Gateway, gateway


class Again(ScriptedAgent):
    """A second run on a thread begins from the first question."""

    async def start(self, thread: str, input: Json, run: str = ""):
        if thread in self._threads:
            self._threads[thread].step = 0
        return await super().start(thread, input, run)


class TestAThreadWithTwoRuns:
    async def answered_twice(self, g: Gateway) -> list[str]:
        """The ids of both runs' questions."""
        await arrives(g)
        first = await g.run(input="bilby")
        await g.types(PHONE, "the numbat")
        second = await g.run(input="bilby", thread_id=first.thread_id)
        await g.types(PHONE, "the other numbat")
        return [*first.interactions, *second.interactions]

    async def test_its_agent_forgets_it_with_the_person(self, database: Database) -> None:
        agent = Again(asks("Where is the wombat?"))
        async with gateway(database, agent, providers={"memory": Phones()}, routes=ALONE) as g:
            await self.answered_twice(g)
            assert agent.threads
            assert (await erased(g)).done
            assert agent.threads == ()

    async def test_its_agent_forgets_it_with_the_last_of_its_questions(self, database: Database) -> None:
        agent = Again(asks("Where is the wombat?"))
        async with gateway(database, agent, providers={"memory": Phones()}, routes=ALONE) as g:
            first, second = await self.answered_twice(g)
            await g.app.eraser.now(first, "ops")
            assert agent.threads
            await g.app.eraser.now(second, "ops")
            assert agent.threads == ()


class TestWhoComesBackMeanwhile:
    async def again(self, g: Gateway) -> None:
        """Asked once more, answers and is removed."""
        g.clock.advance(60)
        await arrives(g)
        id = await asked(g)
        await g.types(PHONE, "a second numbat")
        assert (await record(g, id)).answered_by == "carol"
        await g.app.remover.contact("carol")
        await g.app.idle()
        g.clock.advance(60)

    async def test_is_erased_by_being_erased_again(self, database: Database) -> None:
        dies, phones = Dies("erase.after-batch", 2), {"memory": Phones()}
        async with gateway(database, providers=phones, routes=ALONE, faults=dies) as g:
            await arrives(g)
            await asked(g)
            await g.types(PHONE, "the numbat")
            with pytest.raises(RuntimeError, match="killed here"):
                await erased(g)
            await self.again(g)
            for _ in range(2):  # the first goes on with what was begun before
                assert (await g.app.erasure.contact("carol", "ops")).done
            assert await hers(g) == set()

    async def test_while_an_agent_is_away_is_erased_from_the_beginning(self, database: Database) -> None:
        away = ScriptedAgent(asks("Where is the wombat?"), name="away")
        async with gateway(database, away, providers={"memory": Phones()}, routes=ALONE) as g:
            await arrives(g)
            await g.run("away")
            await g.types(PHONE, "the numbat")
            away.failures = [AgentUnavailable("its server is away")]
            assert (await erased(g)).waits == ("away",)
            await self.again(g)
            found = await g.app.erasure.contact("carol", "ops")
            assert found.done
            assert await hers(g) == set()
            assert away.threads == ()

    async def test_and_stays_is_told_how_far_the_erasure_is(self, database: Database) -> None:
        away = ScriptedAgent(asks("Where is the wombat?"), name="away")
        async with gateway(database, away, providers={"memory": Phones()}, routes=ALONE) as g:
            await arrives(g)
            await g.run("away")
            await g.types(PHONE, "the numbat")
            away.failures = [AgentUnavailable("its server is away")] * 2
            assert (await erased(g)).waits == ("away",)
            g.clock.advance(60)
            await arrives(g)
            assert (await g.app.erasure.contact("carol", "ops")).waits == ("away",)
            person = await g.app.context.store.read(lambda tx: contacts.person(tx, "carol"))
            assert person is not None


async def test_what_somebody_else_sent_from_an_account_that_was_theirs_in_between_stays(
    database: Database,
) -> None:
    async with gateway(database, providers={"memory": Phones()}, routes=BOTH) as g:
        await arrives(g)
        await asked(g)
        await g.types(PHONE, "the numbat")
        await g.app.remover.contact("carol")
        g.clock.advance(60)
        dave = Contact("dave", "Dave", addresses=CAROL.addresses)
        await g.app.context.store.write(lambda tx: contacts.put(tx, dave, "api"))
        await g.app.asker.ask(AskRequest((asks("Where?"),), ask=("dave",)))
        await g.app.idle()
        g.clock.advance(60)
        await g.types(PHONE, "a dingo of Dave's")
        await g.app.remover.contact("dave")
        g.clock.advance(60)
        await arrives(g)
        await asked(g)
        await g.types(PHONE, "the last numbat")
        g.clock.advance(60)
        await erased(g)
        left = await raws(g)
        assert any(b"Dave" in raw for raw in left)
        assert not any(b"numbat" in raw for raw in left)


async def test_a_run_goes_with_who_answered_it_over_the_api_and_was_never_sent_its_question(
    database: Database,
) -> None:
    agent = ScriptedAgent(asks("Where is the wombat?"))
    async with gateway(database, agent, providers={"memory": Phones()}, routes=ALONE) as g:
        nowhere = replace(CAROL, addresses=())
        await g.app.context.store.write(lambda tx: contacts.put(tx, nowhere, "api"))
        run = await g.run(input="bilby")
        (id,) = run.interactions
        await g.app.receiver.respond(id, "the numbat", by="carol", via="api")
        await g.app.idle()
        await erased(g)
        assert await hers(g) == set()
        assert agent.threads == ()


@pytest.mark.parametrize("before", ["\n", "\t", "\u0001"])
async def test_a_name_behind_a_sign_that_json_writes_with_a_letter_is_a_word(
    database: Database, before: str
) -> None:
    async with gateway(database, contacts={"ben": BEN}, routes=HIS) as g:
        await arrives(g)
        id = await asked(g)
        content = dumps({"said": f"by{before}Carol Quokka"})
        await g.app.context.store.write(lambda tx: tx.run(SAYS, id=id, content=content))
        await g.app.asker.cancel(id)
        await g.app.idle()
        await erased(g)
        assert await hers(g) == set()


DAMAGED = (
    "UPDATE answer SET content = '{broken'",
    "UPDATE delivery SET message_ids = '[broken'",
    "UPDATE delivery SET message_ids = '5'",
    "UPDATE notice SET route = '{broken'",
    "UPDATE notice SET route = '[]'",
    "UPDATE interaction SET answer = '{broken'",
    "UPDATE interaction SET questions = '{broken'",
    "UPDATE run SET result = '{broken'",
)


@pytest.mark.parametrize("damage", DAMAGED)
async def test_law_10_a_damaged_row_does_not_stop_an_erasure(database: Database, damage: str) -> None:
    agent = ScriptedAgent(asks("Where is the wombat?"))
    async with gateway(database, agent, providers={"memory": Phones()}, routes=BOTH) as g:
        g.tampers = True
        await arrives(g)
        await g.run()
        await g.types(PHONE, "the numbat")
        id = await asked(g)
        await g.types(PHONE, "the numbat")
        late, closed = Answer({"q1": "a late numbat"}, "a late numbat", "carol"), await record(g, id)
        write = g.app.context.store.write
        await write(lambda tx: interactions.keep(tx, closed, late, answer_out(late), won=False))
        await g.app.notices.send(NoticeRequest("The wombat is found.", ask=("ben",)))
        await g.app.idle()
        await write(lambda tx: tx.run(Query(text(damage))))
        assert (await erased(g)).done


async def test_law_4_a_key_whose_answer_was_erased_is_still_refused_for_another_question(
    database: Database,
) -> None:
    async with gateway(database, providers={"memory": Phones()}, routes=BOTH) as g:
        await arrives(g)
        same = AskRequest((asks("Where is the wombat?"),), idempotency_key="k1")
        first = await g.app.asker.ask(same)
        await g.app.idle()
        await g.types(PHONE, "the numbat")
        await erased(g)
        assert (await record(g, first.interaction.id)).erased_at is not None
        with pytest.raises(Conflict, match="what is asked"):
            await g.app.asker.ask(replace(same, questions=(asks("May I delete it?", confirm=True),)))
        assert (await g.app.asker.ask(same)).interaction.id == first.interaction.id
