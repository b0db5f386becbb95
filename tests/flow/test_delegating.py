"""Who was asked hands the question to somebody else, whom the route names, and gives up their say with it."""

import pytest
from pydantic import SecretStr

from answerback.ask import AskRequest
from answerback.cli.site import site
from answerback.model import Address, Contact, Interaction, InteractionStatus, RunStatus
from answerback.settings import ApiKey, Route
from answerback.store import deliveries
from answerback.succession import next_address
from answerback.testing import ScriptedAgent, asks
from tests.support.databases import Database
from tests.support.described import through
from tests.support.gateway import ALICE, BEN, Gateway, gateway

CARL = Contact("carl", "Carl", addresses=(Address("memory", "3003", "3003"),))
NOWHERE = Contact("dora", "Dora")
PEOPLE = {"alice": ALICE, "ben": BEN, "carl": CARL, "dora": NOWHERE}
KEYS = (ApiKey("alice-key", SecretStr("alice"), contact="alice"), ApiKey("ops", SecretStr("ops")))


def route(*delegates: str, **more: object) -> dict[str, Route]:
    """Alice is asked; she may hand on to these."""
    values = {"ask": ("alice",), "providers": ("memory",), "delegates": delegates, **more}
    return {"default": Route("default", **values)}


async def ask(g: Gateway, text: str = "Delete it?", **more: object) -> str:
    asked = await g.app.asker.ask(AskRequest((asks(text, confirm=True),), title="Ops", **more))
    await g.app.idle()
    return asked.interaction.id


async def record(g: Gateway, id: str) -> Interaction:
    return await g.app.reader.interaction(id)


def phone(g: Gateway, who: str) -> list[str]:
    return g.memory.titles(who)


async def test_the_other_one_is_asked_and_decides(database: Database) -> None:
    agent = ScriptedAgent(asks("Delete it?", confirm=True))
    async with gateway(database, agent, contacts=PEOPLE, routes=route("ben")) as g:
        run = await g.run()
        await g.types("1001", "delegate to Ben")
        assert phone(g, "1001")[-1] == "Passed on to Ben."
        (asked,) = (shown.message for shown in g.memory.shown if shown.message.to.place == "2002")
        assert asked.title == "Delete it?"
        assert "Passed on to you by Alice." in asked.body
        await g.taps("2002", "Yes")
        ended = await g.settled(run.id)
        assert (ended.status, ended.result) == (RunStatus.COMPLETED, [True])
        assert (await record(g, ended.interactions[0])).answered_by == "ben"


async def test_where_messages_can_be_edited_the_copy_says_to_whom(database: Database) -> None:
    async with gateway(database, contacts=PEOPLE, routes=route("ben")) as g:
        await ask(g)
        before = g.memory.shown[-1]
        await g.types("1001", "/delegate ben")
        edited = [shown.message for shown in g.memory.shown if shown.id == before.id]
        assert edited[-1].title == "↪️ Passed on to Ben."
        assert "Delete it?" in edited[-1].body and not edited[-1].buttons


class TestLaw7WhoGaveItUpHasNoSay:
    async def test_not_by_a_button_a_reply_or_a_code(self, database: Database) -> None:
        async with gateway(database, contacts=PEOPLE, routes=route("ben")) as g:
            id = await ask(g)
            shown = g.memory.shown[-1]
            tap = g.memory.tapped("1001", "Yes")
            code = (await record(g, id)).code
            await g.types("1001", "/delegate ben")
            await g.receive(tap)
            for said in ("yes", f"#{code} yes"):
                await g.types("1001", said, references=[shown.id])
                assert phone(g, "1001")[-1] == "You passed this on. It is for Ben now."
            await g.types("1001", f"#{code} yes")
            await g.types("1001", "yes")
            for said in ("why", "snooze 1h", "/delegate carl"):
                await g.types("1001", said, references=[shown.id])
                assert phone(g, "1001")[-1] == "You passed this on. It is for Ben now."
            assert (await record(g, id)).status is InteractionStatus.PENDING

    async def test_not_by_a_link_a_key_or_the_inbox(self, database: Database) -> None:
        more = {"contacts": PEOPLE, "api_keys": KEYS, "form_auth": "link"}
        async with gateway(database, routes=route("ben"), **more) as g:
            id = await ask(g)
            link = g.memory.shown[-1].message.form_url
            await g.types("1001", "/delegate ben")
            headers = {"Authorization": "Bearer alice"}
            async with through(site(g.app), "http://127.0.0.1:8700") as http:
                assert (await http.get(link)).status_code == 404
                answered = await http.post(
                    f"/v1/interactions/{id}/respond", headers=headers, json={"response": True}
                )
                assert answered.status_code == 403 and "not for Alice" in answered.text
            assert (await record(g, id)).status is InteractionStatus.PENDING

    async def test_reminders_come_to_whoever_has_it_now(self, database: Database) -> None:
        async with gateway(database, contacts=PEOPLE, routes=route("ben", reminders=(600.0,))) as g:
            await ask(g)
            await g.types("1001", "/delegate ben")
            await g.later(601)
            kinds = [(shown.message.to.place, shown.message.kind) for shown in g.memory.shown]
            assert [place for place, kind in kinds if kind == "reminder"] == ["2002"]


class TestToWhom:
    @pytest.mark.parametrize(
        ("delegates", "text", "said"),
        [
            ((), "/delegate ben", "This question cannot be passed on."),
            (("ben",), "/delegate carl", "You can pass this on to: Ben."),
            (("ben", "carl"), "/delegate", "You can pass this on to: Ben, Carl."),
            (("alice", "ben"), "/delegate alice", "You can pass this on to: Ben."),
            (("dora",), "/delegate dora", "Dora cannot be reached here."),
        ],
    )
    async def test_only_to_those_whom_the_route_names_and_who_can_be_reached(
        self, database: Database, delegates: tuple[str, ...], text: str, said: str
    ) -> None:
        async with gateway(database, contacts=PEOPLE, routes=route(*delegates)) as g:
            id = await ask(g)
            await g.types("1001", text)
            assert phone(g, "1001")[-1] == said
            assert phone(g, "2002") == phone(g, "3003") == []
            await g.taps("1001", "Yes")
            assert (await record(g, id)).answered_by == "alice"

    async def test_without_a_stroke_what_names_none_of_them_is_an_answer(self, database: Database) -> None:
        agent = ScriptedAgent(asks("What shall I do with it?"))
        async with gateway(database, agent, contacts=PEOPLE, routes=route("ben")) as g:
            run = await g.run()
            await g.types("1001", "delegate to Carl")
            assert (await g.settled(run.id)).result == ["delegate to Carl"]

    async def test_somebody_else_hands_nothing_on(self, database: Database) -> None:
        async with gateway(database, contacts=PEOPLE, routes=route("ben")) as g:
            id = await ask(g)
            shown = g.memory.shown[-1].id
            for who in ("3003", "9999"):
                await g.types(who, "/delegate ben", references=[shown])
            assert phone(g, "2002") == []
            assert (await record(g, id)).route["ask"] == ["alice"]

    async def test_it_can_go_on_and_come_back(self, database: Database) -> None:
        async with gateway(database, contacts=PEOPLE, routes=route("alice", "ben", "carl")) as g:
            id = await ask(g)
            await g.types("1001", "/delegate ben")
            await g.types("2002", "/delegate carl")
            await g.types("3003", "/delegate alice")
            await g.taps("1001", "No")
            found = await record(g, id)
            assert (found.answered_by, found.route["delegated"]) == ("alice", ["ben", "carl"])

    async def test_who_is_asked_already_is_not_asked_twice(self, database: Database) -> None:
        async with gateway(database, contacts=PEOPLE, routes=route("ben", ask=("alice", "ben"))) as g:
            await ask(g)
            await g.types("1001", "/delegate ben")
            assert phone(g, "2002") == ["Delete it?"]
            await g.taps("2002", "Yes")
            assert phone(g, "1001")[-1] == "Passed on to Ben."


class TestWhichOne:
    async def test_of_several_it_is_asked_which_and_the_tap_hands_that_one_on(
        self, database: Database
    ) -> None:
        async with gateway(database, contacts=PEOPLE, routes=route("ben")) as g:
            first, second = await ask(g, "First?"), await ask(g, "Second?")
            await g.types("1001", "delegate ben")
            await g.taps("1001", "Second?")
            assert phone(g, "2002") == ["Second?"]
            found = [(await record(g, id)).route["ask"] for id in (first, second)]
            assert found == [["alice"], ["ben"]]

    async def test_law_4_the_same_message_twice_hands_it_on_once(self, database: Database) -> None:
        async with gateway(database, contacts=PEOPLE, routes=route("ben")) as g:
            await ask(g)
            event = g.memory.typed("1001", "/delegate ben")
            await g.receive(event)
            await g.receive(event)
            assert phone(g, "2002") == ["Delete it?"]


async def test_its_history_tells_who_handed_it_on(database: Database) -> None:
    async with gateway(database, contacts=PEOPLE, routes=route("ben")) as g:
        id = await ask(g)
        await g.types("1001", "/delegate ben")
        events = (await g.app.historian.of(id)).events
        assert ("delegated", "alice") in {(event.event, event.actor) for event in events}


async def test_who_handed_it_on_is_not_asked_elsewhere_when_their_copy_fails_after_all(
    database: Database,
) -> None:
    alice = Contact("alice", "Alice", addresses=(*ALICE.addresses, Address("other", "a", "a")))
    known = {"contacts": {**PEOPLE, "alice": alice}, "routes": route("ben", providers=("memory", "other"))}
    async with gateway(database, **known) as g:
        id = await ask(g)
        store, outbox = g.app.context.store, g.app.context.outbox
        rows = await store.read(lambda tx: tx.all(deliveries.OF, interaction_id=id))
        (hers,) = (row for row in rows if row["contact_id"] == "alice")
        await g.types("1001", "delegate to Ben")
        assert await store.write(lambda tx: next_address(outbox, tx, hers)) == []
