"""A contact, or an address, is removed: what asked them there answers nothing, and goes on elsewhere."""

import httpx
import pytest
from pydantic import SecretStr

from answerback.cli.site import site
from answerback.errors import Conflict, NotAllowed, NotFound, TryLater
from answerback.inbox import Viewer
from answerback.model import Address, Contact, InteractionStatus
from answerback.notices import NoticeRequest
from answerback.settings import ApiKey
from answerback.store import audit, contacts
from answerback.testing import ManualClock, MemoryProvider
from tests.support.accounts import HOUR, asked, decides_nothing, link_of, route
from tests.support.databases import Database
from tests.support.described import through
from tests.support.gateway import ALICE, BEN, Gateway, gateway
from tests.support.stand_ins import Stand

SCOPES = ("ask", "read", "answer", "admin")
MEMORY, OTHER = Address("memory", "3003", "3003"), Address("other", "c", "c")


async def carol(g: Gateway, *addresses: Address) -> None:
    """Somebody called Carol is added as the API adds people."""
    await g.app.context.store.write(
        lambda tx: contacts.put(tx, Contact("carol", "Carol", addresses=addresses or (MEMORY,)), "api")
    )


async def accounts(g: Gateway) -> list[str]:
    """Carol's."""
    found = {each.id: each for each in await g.app.reader.contacts()}
    return [address.external_id for address in found["carol"].addresses]


async def status(g: Gateway, id: str) -> InteractionStatus:
    return (await g.app.reader.interaction(id)).status


async def events(g: Gateway, id: str) -> list[tuple[str, str]]:
    found = await g.app.context.store.read(lambda tx: audit.of(tx, id))
    return [(each["event"], each["actor"]) for each in found]


async def test_law_7_the_link_the_buttons_and_the_words_of_who_was_removed_answer_nothing(
    database: Database,
) -> None:
    async with gateway(database, routes=route("carol", "ben")) as g:
        await carol(g)
        id = await asked(g, "carol", "ben")
        hers = link_of(g.memory, "3003")
        removed = await g.app.remover.contact("carol")
        await g.app.idle()
        assert (removed.name, removed.accounts, removed.unasked) == ("Carol", (("memory", "3003"),), ())
        await decides_nothing(g, hers, id)
        await g.types("3003", "Graz", references=[g.memory.shown[0].id])
        assert await status(g, id) is InteractionStatus.PENDING
        await g.later(HOUR)
        assert g.memory.titles("3003").count("Which city?") == 1  # and no reminder
        assert ("not reached", "carol") in await events(g, id)
        await g.types("2002", "Vienna")
        assert (await g.app.reader.interaction(id)).answered_by == "ben"


async def test_a_question_for_nobody_else_stays_open_and_it_is_said_which(
    database: Database, caplog: pytest.LogCaptureFixture
) -> None:
    async with gateway(database) as g:
        await carol(g, MEMORY, OTHER)
        id = await asked(g, "carol")
        removed = await g.app.remover.contact("carol")
        await g.app.idle()
        assert (await status(g, id), removed.unasked) == (InteractionStatus.PENDING, (("", id),))
        assert removed.elsewhere == ()
        assert "nobody was reached" in caplog.text
        await g.app.receiver.respond(id, "Vienna", by="ops", via="api")
        assert (await g.app.reader.interaction(id)).answered_by == "ops"


async def test_whoever_was_asked_everywhere_at_once_is_not_reached_once(database: Database) -> None:
    other, stand = MemoryProvider("other"), Stand("stand", "Vienna")
    providers = {"other": other, "stand": stand}
    at_once = route("alice", at_once=True, stand_ins=("stand",))
    async with gateway(database, providers=providers, routes=at_once) as g:
        await carol(g, MEMORY, OTHER)
        id = await asked(g, "carol")
        assert (g.memory.titles("3003"), other.titles("c")) == (["Which city?"], ["Which city?"])
        removed = await g.app.remover.contact("carol")
        await g.app.idle()
        assert (removed.elsewhere, removed.unasked) == ((("", id),), ())
        assert (await g.app.reader.interaction(id)).answered_via == "stand"


async def test_an_address_that_is_removed_hands_over_to_the_next_one(database: Database) -> None:
    clock, phone, other = ManualClock(), MemoryProvider(), MemoryProvider("other")
    async with gateway(database, providers={"memory": phone, "other": other}, clock=clock) as g:
        await carol(g, MEMORY, OTHER)
        id = await asked(g, "carol")
        hers = link_of(phone, "3003")
        removed = await g.app.remover.address("carol", "memory")
        await g.app.idle()
        assert (removed.accounts, removed.elsewhere) == ((("memory", "3003"),), (("", id),))
        await decides_nothing(g, hers, id)
        await g.types("3003", "Graz")
        assert await status(g, id) is InteractionStatus.PENDING
        assert other.titles("c") == ["Which city?"]
        await g.receive(other.typed("c", "Vienna"), "other")
        assert (await g.app.reader.interaction(id)).answered_by == "carol"
        with pytest.raises(NotFound, match="has no address on memory"):
            await g.app.remover.address("carol", "memory")


async def test_what_could_not_be_sent_yet_is_sent_to_the_next_address_or_to_nobody(
    database: Database,
) -> None:
    clock, phone, other = ManualClock(), MemoryProvider(), MemoryProvider("other")
    phone.failures += [TryLater(30), TryLater(30)]
    async with gateway(database, providers={"memory": phone, "other": other}, clock=clock) as g:
        await carol(g, MEMORY, OTHER)
        await asked(g, "carol")
        await g.app.notices.send(NoticeRequest("The release is live.", ask=("carol",)))
        await g.app.idle()
        await g.app.remover.address("carol", "memory")
        await g.later(120)
        assert (phone.shown, sorted(other.titles("c"))) == ([], ["The release is live.", "Which city?"])
        other.failures += [TryLater(30)]
        await asked(g, "carol")
        await g.app.remover.contact("carol")
        await g.later(120)
        assert len(other.shown) == 2


async def test_who_was_removed_is_asked_no_more_and_what_they_answered_has_their_name(
    database: Database,
) -> None:
    async with gateway(database) as g:
        await carol(g)
        id = await asked(g, "carol")
        mine = link_of(g.memory, "3003")
        await g.types("3003", "Vienna")
        await g.app.remover.contact("carol")
        with pytest.raises(NotFound, match=r"There is no contact 'carol'\. Known: alice, ben\."):
            await asked(g, "carol")
        with pytest.raises(NotFound):
            await g.app.linker.create("carol", "memory")
        with pytest.raises(NotFound):
            await g.app.remover.contact("carol")
        assert [each.id for each in await g.app.reader.contacts()] == ["alice", "ben"]
        viewer = Viewer("ops", await g.app.inbox.now())
        assert (await g.app.inbox.view(viewer, id)).answerer == "Carol"
        with pytest.raises(NotFound):  # not even how it ended is shown by it
            await g.app.forms.view(mine)
        await carol(g)
        await asked(g, "carol")
        assert g.memory.titles("3003")[1:] == ["Which city?"]


async def test_law_7_a_code_of_who_was_removed_links_nobody(database: Database) -> None:
    async with gateway(database) as g:
        await carol(g)
        code = (await g.app.linker.create("carol", "memory")).code
        await g.types("4004", f"/start {code}")  # the present account is to confirm it
        other = (await g.app.linker.create("carol", "memory")).code
        await g.app.remover.address("carol", "memory")
        await g.types("4004", f"/start {other}")
        assert await accounts(g) == []
        last = (await g.app.linker.create("carol", "memory")).code
        await g.app.remover.contact("carol")
        await g.types("4004", f"/start {last}")
        await carol(g)
        await g.taps("3003", "Yes")
        assert await accounts(g) == ["3003"]


async def test_who_was_removed_is_no_viewer_of_the_inbox_any_more(database: Database) -> None:
    async with gateway(database) as g:
        await carol(g)
        id = await asked(g, "carol")
        now = await g.app.inbox.now()
        viewers = Viewer("phone", now, contact="carol"), Viewer("carol", now)
        for viewer in viewers:
            assert (await g.app.inbox.view(viewer, id)).interaction.id == id
        await g.app.remover.contact("carol")
        for viewer in viewers:
            with pytest.raises(NotAllowed):
                await g.app.inbox.view(viewer, id)


async def test_what_stands_in_the_configuration_is_taken_out_there(database: Database) -> None:
    people = {"alice": ALICE, "ben": BEN, "dora": Contact("dora", "Dora")}
    async with gateway(database, contacts=people) as g:
        for removes in (g.app.remover.contact("alice"), g.app.remover.address("alice", "memory")):
            with pytest.raises(Conflict, match="out of the file"):
                await removes
        code = (await g.app.linker.create("dora", "memory")).code
        await g.types("5005", f"/start {code}")
        await g.app.remover.address("dora", "memory")  # she linked that herself
        id = await asked(g, "alice")
        await g.types("1001", "Vienna")
        assert await status(g, id) is InteractionStatus.COMPLETED
        dora = next(each for each in await g.app.reader.contacts() if each.id == "dora")
        assert dora.addresses == ()
    async with gateway(database, contacts={"alice": ALICE, "ben": BEN}) as g:
        await g.app.remover.contact("dora")  # she is not in the file any more
        assert [each.id for each in await g.app.reader.contacts()] == ["alice", "ben"]
    async with gateway(database, contacts=people) as g:
        assert "dora" in [each.id for each in await g.app.reader.contacts()]


def keyed(*keys: ApiKey) -> dict[str, object]:
    return {"api_keys": keys}


def web(g: Gateway, key: str) -> httpx.AsyncClient:
    headers = {"authorization": f"Bearer {key}"}
    return through(site(g.app), "http://t", headers=headers)


async def test_only_an_administrator_may_remove_people(database: Database) -> None:
    keys = [ApiKey(scope, SecretStr(f"key-of-{scope}"), scopes=frozenset({scope})) for scope in SCOPES]
    async with gateway(database, **keyed(*keys)) as g:
        await carol(g, MEMORY, OTHER)
        paths = "carol/addresses/other", "carol", "carol", "alice", "alice/addresses/memory"
        codes: dict[str, list[int]] = {}
        for scope in SCOPES:
            async with web(g, f"key-of-{scope}") as client:
                answers = [await client.delete(f"/v1/contacts/{path}") for path in paths]
            codes[scope] = [answer.status_code for answer in answers]
            assert {answer.headers["content-type"] for answer in answers[2:]} == {"application/problem+json"}
        refused = dict.fromkeys(("ask", "read", "answer"), [403] * 5)
        assert codes == {**refused, "admin": [200, 200, 404, 409, 409]}


@pytest.mark.parametrize("path", ["a%00b", "alice/addresses/%00", "nobody", "nobody/addresses/memory"])
async def test_what_can_be_nobody_is_not_found(database: Database, path: str) -> None:
    async with gateway(database, **keyed(ApiKey("all", SecretStr("all")))) as g, web(g, "all") as client:
        assert (await client.delete(f"/v1/contacts/{path}")).status_code == 404


async def test_a_key_that_names_agents_hears_of_no_other_agent_s_questions(database: Database) -> None:
    keys = ApiKey("one", SecretStr("one"), agents=frozenset({"one"})), ApiKey("all", SecretStr("all"))
    async with gateway(database, **keyed(*keys)) as g:
        await carol(g)
        mine, _ = await asked(g, "carol", agent="one"), await asked(g, "carol", agent="two")
        async with web(g, "one") as client:
            said = (await client.delete("/v1/contacts/carol")).json()
        assert said == {
            "id": "carol",
            "name": "Carol",
            "addresses": [{"provider": "memory", "id": "3003"}],
            "asked_elsewhere": [],
            "unasked": [mine],
        }


async def test_law_7_a_key_that_names_agents_erases_no_other_agent_s_question(database: Database) -> None:
    keys = ApiKey("one", SecretStr("one"), agents=frozenset({"one"})), ApiKey("all", SecretStr("all"))
    async with gateway(database, **keyed(*keys)) as g:
        id = await asked(g, agent="two")
        await g.types("1001", "Vienna")
        for key, code in (("one", 404), ("all", 200)):
            async with web(g, key) as client:
                assert (await client.post(f"/v1/interactions/{id}/erase")).status_code == code


async def test_what_was_removed_before_the_process_died_is_removed_afterwards(database: Database) -> None:
    phone, clock = MemoryProvider(), ManualClock()
    settings = {"providers": {"memory": phone}, "clock": clock}
    async with gateway(database, **settings) as g:
        await carol(g, MEMORY, OTHER)
        id = await asked(g, "carol")
        link = link_of(phone, "3003")
        g.app.context.signals.deliver = lambda rows: None  # it is gone before anything is sent
        await g.app.remover.address("carol", "memory")
    other = MemoryProvider("other")
    async with gateway(database, providers={"memory": phone, "other": other}, clock=clock) as g:
        await decides_nothing(g, link, id)
        await g.later(120)
        assert other.titles("c") == ["Which city?"]
