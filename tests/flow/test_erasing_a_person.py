"""All that is kept of one person is erased; what was decided, what others said, and the audit stay whole."""

import asyncio
import json
from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path

import httpx
import pytest
from pydantic import SecretStr
from sqlalchemy import text

from answerback.ask import AskRequest
from answerback.cli.people import said_of
from answerback.cli.site import site
from answerback.erasure import Erased, Erasure
from answerback.errors import AgentUnavailable, Conflict, NotFound
from answerback.faults import Faults
from answerback.model import Address, Answer, Contact, Interaction, InteractionStatus, RunStatus
from answerback.notices import NoticeRequest
from answerback.provider import Event, Inbound, Receipt
from answerback.settings import ApiKey, Route
from answerback.store import contacts, deliveries, interactions
from answerback.store.codec import answer_out, dumps
from answerback.store.query import Query
from answerback.testing import MemoryProvider, ScriptedAgent, asks
from answerback.uploads import Upload
from answerback.web.removals import erased_out
from tests.flow.test_erasing import DAY, chain_of, everything
from tests.support.databases import Database
from tests.support.described import through
from tests.support.gateway import Gateway, gateway
from tests.support.two import opening

PHONE = "+43 660 700"
CAROL = Contact("carol", "Carol Quokka", addresses=(Address("memory", PHONE, PHONE),))
RAWS = Query(text("SELECT raw FROM reply ORDER BY id"))
HERS = (PHONE, "Quokka", "numbat", "her-mail")
BOTH = {"default": Route("default", ask=("carol", "ben"), providers=("memory", "other"))}
SAYS = Query(text("UPDATE delivery SET content = :content WHERE interaction_id = :id"))
BEN = Contact("ben", "Ben", addresses=(Address("memory", "2002", "2002"),))
HIS = {"default": Route("default", ask=("ben",), providers=("memory",))}
ALONE = {"default": Route("default", ask=("carol",), providers=("memory",))}


class Phones(MemoryProvider):
    """Its message ids hold the number of the chat, as Telegram's do; it has receipts."""

    def parse(self, inbound: Inbound) -> Sequence[Event]:
        fields = json.loads(inbound.body)
        if "message_id" in fields:
            return [Receipt(fields["event_id"], fields["message_id"], fields["status"])]
        return super().parse(inbound)

    async def send(self, message):
        sent = await super().send(message)
        id = f"{message.to.place}/{len(self.shown)}"
        self.shown[-1] = replace(self.shown[-1], id=id)
        return replace(sent, message_ids=(id,))


def receipt(event: str, message: str, status: str, to: str = PHONE) -> Inbound:
    return Inbound(
        json.dumps({"event_id": event, "message_id": message, "status": status, "to": to}).encode()
    )


async def arrives(g: Gateway) -> None:
    await g.app.context.store.write(lambda tx: contacts.put(tx, CAROL, "api"))


async def hers(g: Gateway) -> set[tuple[str, str, str]]:
    """Which words of hers stand where, in whatever table and column."""
    return {
        (table, column, word)
        for table, found in (await everything(g)).items()
        for row in found
        for column, value in row.items()
        for word in HERS
        if word in (value.decode() if isinstance(value, bytes) else str(value))
    }


async def asked(g: Gateway) -> str:
    found = await g.app.asker.ask(AskRequest((asks("Where is the wombat?"),), context="bilby"))
    await g.app.idle()
    return found.interaction.id


async def raws(g: Gateway) -> list[bytes]:
    """What is kept of what came in."""
    return [row["raw"] for row in await g.app.context.store.read(lambda tx: tx.all(RAWS))]


async def erased(g: Gateway, id: str = "carol") -> Erased:
    """Removed first, where that has not been done."""
    if await g.app.context.store.read(lambda tx: contacts.is_there(tx, id)):
        await g.app.remover.contact(id)
        await g.app.idle()
    return await g.app.erasure.contact(id, "ops")


async def record(g: Gateway, id: str) -> Interaction:
    return await g.app.reader.interaction(id)


async def test_nothing_of_hers_is_left_in_any_table(database: Database) -> None:
    agent = ScriptedAgent(asks("Where is the wombat?"))
    async with gateway(database, agent, providers={"memory": Phones()}, routes=ALONE) as g:
        await arrives(g)
        run = await g.run(input="bilby")
        await g.types(PHONE, "what numbat?", references=["nothing"], event_id="her-mail-1")
        await g.settled(run.id)
        await g.types(PHONE, "one more numbat", event_id="her-mail-2")
        await g.receive(receipt("r1", f"{PHONE}/1", "read"))
        await g.app.notices.send(NoticeRequest("The numbat is hers.", ask=("carol",)))
        await g.app.idle()
        await g.app.remover.contact("carol")
        await g.types(PHONE, "a stranger's numbat", event_id="her-mail-3")
        assert {word for _, _, word in await hers(g)} == {*HERS}
        done = await erased(g)
        assert (done.done, done.erased["questions"], done.erased["events"], done.erased["runs"]) == (
            True,
            1,
            4,
            1,
        )
        assert await hers(g) == set()
        (id,) = run.interactions
        left = await record(g, id)
        assert (left.status, left.answered_by, left.questions) == (InteractionStatus.COMPLETED, "carol", ())
        assert (await g.app.runner.get(run.id)).status is RunStatus.COMPLETED
        assert (agent.threads, (await chain_of(g, id))[-1]) == ((), "erased")


async def test_of_a_question_to_several_only_her_answer_goes(database: Database) -> None:
    async with gateway(database, providers={"memory": Phones()}, routes=BOTH) as g:
        await arrives(g)
        mine, bens = await asked(g), await asked(g)
        await g.types(PHONE, "the numbat", references=[f"{PHONE}/1"])
        await g.types("2002", "dingo", references=["2002/4"])
        late, open_ = Answer({"q1": "a late numbat"}, "a late numbat", "carol"), await record(g, bens)
        await g.app.context.store.write(
            lambda tx: interactions.keep(tx, open_, late, answer_out(late), won=False)
        )
        assert [row["contact_id"] for row in (await everything(g))["answer"]].count("carol") == 2
        await erased(g)
        assert await hers(g) == set()
        left = await record(g, mine)
        assert (left.answered_by, left.answered_via, left.context) == ("carol", "memory", "bilby")
        assert left.questions and left.erased_at is not None
        assert left.answer is not None and (left.answer.values, left.answer.text) == ({}, "")
        other = await record(g, bens)
        assert (other.answered_by, other.erased_at) == ("ben", None)
        assert other.answer is not None and other.answer.text == "dingo"
        assert [row["contact_id"] for row in (await everything(g))["answer"]] == ["ben"]
        assert (await chain_of(g, mine))[-1] == "erased"
        await g.app.historian.of(mine)
        await g.types("2002", "pending")


async def test_what_was_asked_of_several_goes_later_with_the_rest(
    database: Database,
) -> None:
    async with gateway(database, providers={"memory": Phones()}, routes=BOTH, retention=30 * DAY) as g:
        await arrives(g)
        id = await asked(g)
        await g.types(PHONE, "the numbat", references=[f"{PHONE}/1"])
        await erased(g)
        await g.later(31 * DAY)
        await g.app.eraser.sweep()
        assert (await record(g, id)).questions == ()


async def test_law_4_what_she_sent_comes_again_and_is_known_by_its_hash(database: Database) -> None:
    async with gateway(database, providers={"memory": Phones()}, routes=BOTH) as g:
        await arrives(g)
        await asked(g)
        event = g.memory.typed(PHONE, "the numbat", event_id="her-mail-1")
        await g.receive(event)
        await erased(g)
        await arrives(g)  # her account counts again
        again = await asked(g)
        before = len((await everything(g))["reply"])
        await g.receive(event)
        assert (await record(g, again)).status is InteractionStatus.PENDING
        assert len((await everything(g))["reply"]) == before
        copy = g.memory.typed(PHONE, "the numbat", event_id="her-mail-1", trusted=False)
        await g.receive(copy)
        assert len((await everything(g))["reply"]) == before


async def test_a_receipt_that_comes_late_keeps_nothing_of_her(database: Database) -> None:
    async with gateway(database, providers={"memory": Phones()}, routes=BOTH) as g:
        await arrives(g)
        await asked(g)
        await g.types("2002", "dingo")
        await erased(g)
        await g.receive(receipt("r9", f"{PHONE}/1", "read"))
        assert await hers(g) == set()
        await g.receive(receipt("r10", "2002/2", "read"))
        assert any(b"2002/2" in raw for raw in await raws(g))


async def test_her_files_go_and_those_of_others_stay(database: Database) -> None:
    async with gateway(database, providers={"memory": Phones()}, routes=BOTH) as g:
        await arrives(g)
        for phone, name in ((PHONE, b"numbat"), ("2002", b"dingo")):
            await asked(g)
            link = next(each for each in reversed(g.memory.given) if each.to.place == phone).form_url
            file = Upload("a.txt", "text/plain", name)
            await g.app.forms.submit(link.rpartition("/")[2], {"q1": "see the file"}, files=(file,))
            await g.app.idle()
        assert await raws(g) == [b"numbat", b"dingo"]
        await erased(g)
        assert await raws(g) == [b"", b"dingo"]


async def test_a_message_to_somebody_else_that_names_her_goes(database: Database) -> None:
    routes = {"default": replace(BOTH["default"], ask=("carol",), delegates=("ben",))}
    async with gateway(database, providers={"memory": Phones()}, routes=routes) as g:
        await arrives(g)
        id = await asked(g)
        await g.types(PHONE, "delegate to ben")
        await g.types("2002", "dingo")
        assert ("delivery", "content", "Quokka") in await hers(g)
        await erased(g)
        assert (await hers(g), (await record(g, id)).answered_by) == (set(), "ben")


@pytest.mark.parametrize(
    ("said", "ended", "stays"),
    [("Carol Quokka", True, False), ("Carol Quokkas", True, True), ("Carol Quokka", False, True)],
)
async def test_a_message_to_somebody_else_stays_unless_it_names_her_and_nothing_waits_for_it(
    database: Database, said: str, ended: bool, stays: bool
) -> None:
    async with gateway(database, contacts={"ben": BEN}, routes=HIS) as g:
        await arrives(g)
        id = await asked(g)
        await g.app.context.store.write(lambda tx: tx.run(SAYS, id=id, content=dumps({"said": said})))
        if ended:
            await g.app.asker.cancel(id)
            await g.app.idle()
        await erased(g)
        rows = await g.app.context.store.read(lambda tx: tx.all(deliveries.OF, interaction_id=id))
        assert (said in rows[0]["content"]) is stays


async def test_who_is_a_contact_or_stands_in_the_file_is_not_erased(database: Database) -> None:
    async with gateway(database) as g:
        await arrives(g)
        with pytest.raises(Conflict, match="contacts remove carol"):
            await g.app.erasure.contact("carol", "ops")
        with pytest.raises(Conflict, match="stands in the configuration"):
            await g.app.erasure.contact("alice", "ops")
        with pytest.raises(NotFound):
            await g.app.erasure.contact("nobody", "ops")
    async with gateway(database, contacts={}, routes={}) as g:
        assert (await g.app.erasure.contact("alice", "ops")).done


async def test_where_she_still_plays_a_part_is_said_and_nothing_is_erased(database: Database) -> None:
    agent = ScriptedAgent(asks("Where is the wombat?"), asks("And the dingo?"))
    async with gateway(database, agent, providers={"memory": Phones()}, routes=BOTH) as g:
        await arrives(g)
        run = await g.run()
        await g.types(PHONE, "the numbat")
        with pytest.raises(Conflict) as refused:
            await erased(g)
        again = (await g.app.runner.get(run.id)).interactions
        for id in again:
            assert f"#{(await record(g, id)).code} {id}" in str(refused.value)
        assert "(still open)" in str(refused.value) and "(its run goes on or failed)" in str(refused.value)
        assert "numbat" in {word for _, _, word in await hers(g)}
        await g.types("2002", "dingo")
        assert (await erased(g)).done


async def test_again_it_says_what_was_erased_and_her_id_can_be_given_again(database: Database) -> None:
    async with gateway(database, providers={"memory": Phones()}, routes=BOTH) as g:
        await arrives(g)
        await asked(g)
        await g.types(PHONE, "the numbat")
        first = await erased(g)
        assert await g.app.erasure.contact("carol", "ops") == first
        await arrives(g)
        id = await asked(g)
        await g.types(PHONE, "another numbat")
        assert (await record(g, id)).answered_by == "carol"
        assert (await erased(g)).erased["questions"] == 1
        assert await hers(g) == set()


async def test_what_somebody_else_said_from_her_account_since_stays(database: Database) -> None:
    async with gateway(database, providers={"memory": Phones()}, routes=BOTH) as g:
        await arrives(g)
        await asked(g)
        await g.types(PHONE, "the numbat")
        await g.app.remover.contact("carol")
        g.clock.advance(60)
        dave = Contact("dave", "Dave", addresses=CAROL.addresses)
        await g.app.context.store.write(lambda tx: contacts.put(tx, dave, "api"))
        asked_ = await g.app.asker.ask(AskRequest((asks("Where?"),), ask=("dave",)))
        await g.app.idle()
        g.clock.advance(60)
        await g.types(PHONE, "a dingo of Dave's")
        assert (await record(g, asked_.interaction.id)).answered_by == "dave"
        await erased(g)
        assert [b"Dave" in raw for raw in await raws(g) if raw] == [True]
        assert any(row["external_id"] == PHONE for row in (await everything(g))["delivery"])


class Dies(Faults):
    """As if the process were killed at the nth passing of a point."""

    def __init__(self, point: str, nth: int) -> None:
        self.point, self.left = point, nth

    def reach(self, point: str) -> None:
        super().reach(point)
        if point == self.point:
            self.left -= 1
            if self.left == 0:
                raise RuntimeError("killed here")


@pytest.mark.parametrize("nth", range(1, 8))
async def test_what_was_cut_short_is_gone_on_with_by_the_next_life(database: Database, nth: int) -> None:
    agent = ScriptedAgent(asks("Where is the wombat?"))
    phones = {"memory": Phones()}
    async with gateway(
        database, agent, providers=phones, routes=ALONE, faults=Dies("erase.after-batch", nth)
    ) as g:
        await arrives(g)
        await g.run()
        await g.types(PHONE, "the numbat")
        with pytest.raises(RuntimeError, match="killed here"):
            await erased(g)
        clock = g.clock
    async with gateway(database, agent, providers=phones, clock=clock, routes=ALONE) as g:
        await g.app.erasure.resume()
        assert await hers(g) == set()
        found = await g.app.erasure.contact("carol", "ops")
        assert (found.done, found.erased["questions"], found.erased["runs"]) == (True, 1, 1)


async def test_an_agent_that_is_away_is_waited_for_and_all_else_is_erased(database: Database) -> None:
    away, here = ScriptedAgent(asks("Where is the wombat?")), ScriptedAgent(asks("And the dingo?"))
    away.name, here.name = "away", "here"
    async with gateway(database, away, here, providers={"memory": Phones()}, routes=ALONE) as g:
        await arrives(g)
        runs = [await g.run(agent) for agent in ("away", "here")]
        await g.types(PHONE, "the numbat", references=[f"{PHONE}/1"])
        await g.types(PHONE, "the numbat", references=[f"{PHONE}/2"])
        await g.app.remover.contact("carol")
        away.failures = [AgentUnavailable("its server is away")]
        found = await g.app.erasure.contact("carol", "ops")
        assert (found.done, found.step, found.waits) == (False, "runs", ("away",))
        assert said_of(erased_out(found).model_dump()).startswith(
            "These agents cannot forget their part now: away. All else that is kept of carol is erased."
        )
        assert (here.threads, len(away.threads)) == ((), 1)
        assert {table for table, _, _ in await hers(g)} <= {"run"}
        assert (await chain_of(g, "contact:carol")) == []
        await g.app.erasure.resume()
        done = await g.app.erasure.of("carol")
        assert done is not None and (done.done, done.waits, done.erased["runs"]) == (True, (), 2)
        assert (away.threads, await hers(g), await chain_of(g, "contact:carol")) == ((), set(), ["erased"])
        for run in runs:
            assert (await g.app.runner.get(run.id)).status is RunStatus.COMPLETED


async def test_law_10_it_goes_on_in_stretches_and_says_how_far_it_is(database: Database) -> None:
    async with gateway(database, providers={"memory": Phones()}, routes=BOTH) as g:
        await arrives(g)
        for _ in range(5):
            await asked(g)
            await g.types(PHONE, "the numbat")
        await g.app.remover.contact("carol")
        erasure = Erasure(g.app.context, g.app.providers, g.app.eraser, rows=2)
        first = await erasure.contact("carol", "ops", wait=0.0)
        assert (first.done, first.step) == (False, "accounts")
        done = await erasure.contact("carol", "ops")
        assert (done.done, done.erased["questions"], done.erased["events"]) == (True, 5, 5)
        assert await hers(g) == set()


async def test_law_7_only_an_admin_s_key_that_names_no_agent_erases(database: Database) -> None:
    admin, ones = SecretStr("k" * 40), SecretStr("o" * 40)
    keys = (
        ApiKey("ops", admin, scopes=frozenset({"admin"})),
        ApiKey("one", ones, scopes=frozenset({"admin"}), agents=frozenset({"scripted"})),
    )
    async with gateway(database, providers={"memory": Phones()}, routes=BOTH, api_keys=keys) as g:
        await arrives(g)
        await asked(g)
        await g.types(PHONE, "the numbat")
        async with through(site(g.app), "http://here") as client:

            async def delete(key: SecretStr) -> httpx.Response:
                bearer = {"Authorization": f"Bearer {key.get_secret_value()}"}
                return await client.delete("/v1/contacts/carol/data", headers=bearer)

            assert (await delete(ones)).status_code == 403
            assert (await delete(admin)).status_code == 409
            await g.app.remover.contact("carol")
            assert (await delete(ones)).status_code == 403
            found = await delete(admin)
            assert (found.status_code, found.json()["done"], found.json()["erased"]["questions"]) == (
                200,
                True,
                1,
            )
            assert (await delete(admin)).json() == found.json()
            assert await hers(g) == set()


async def test_two_gateways_share_the_work(postgres_url: str, tmp_path: Path) -> None:
    async with opening(postgres_url, tmp_path)(phones={"memory": Phones()}, routes=BOTH) as both:
        await arrives(both.one)
        for _ in range(7):
            await asked(both.one)
            await both.one.types(PHONE, "the numbat")
        await both.one.app.remover.contact("carol")
        await both.one.app.idle()
        work = [
            Erasure(g.app.context, g.app.providers, g.app.eraser, pause=0, rows=2).contact("carol", "ops")
            for g in (both.one, both.two)
        ]
        found = await asyncio.gather(*work)
        assert found[0] == found[1] and (found[0].erased["questions"], found[0].erased["events"]) == (7, 7)
        assert await hers(both.one) == set()
