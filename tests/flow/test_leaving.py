"""An account is not somebody's any more: what asked them there takes no answer, and goes on elsewhere."""

import pytest

from answerback.errors import NotFound, TryLater
from answerback.model import Address, Contact, InteractionStatus
from answerback.notices import NoticeRequest
from answerback.store import audit
from answerback.testing import ManualClock, MemoryProvider
from answerback.web.people import People
from tests.support.accounts import HOUR, asked, decides_nothing, link_of, route
from tests.support.databases import Database
from tests.support.gateway import ALICE, BEN, Gateway, gateway
from tests.support.stand_ins import Stand

CAROL = Contact("carol", "Carol")


def at(provider: str, id: str) -> Address:
    return Address(provider, id, id)


async def events(g: Gateway, id: str) -> list[tuple[str, str]]:
    found = await g.app.context.store.read(lambda tx: audit.of(tx, id))
    return [(each["event"], each["actor"]) for each in found]


async def links(g: Gateway, chat: str, contact: str = "carol") -> None:
    code = (await g.app.linker.create(contact, "memory")).code
    await g.types(chat, f"/start {code}")


# The configuration


async def test_law_7_the_link_of_who_left_the_configuration_answers_nothing(database: Database) -> None:
    clock, phone = ManualClock(), MemoryProvider()
    settings = {"providers": {"memory": phone}, "clock": clock}
    async with gateway(database, **settings, routes=route("alice", "ben")) as g:
        id = await asked(g)
        hers, his = link_of(phone, "1001"), link_of(phone, "2002")
    async with gateway(database, **settings, contacts={"ben": BEN}, routes=route("ben")) as g:
        await g.app.idle()
        await decides_nothing(g, hers, id)
        await g.later(HOUR)
        assert phone.titles("1001") == ["Which city?"]  # and no reminder
        assert len(phone.titles("2002")) == 2
        assert ("not reached", "alice") in await events(g, id)
        await g.app.forms.submit(his, {"q1": "Vienna"}, text="Vienna")
        assert (await g.app.reader.interaction(id)).answered_by == "ben"
        await g.app.idle()
        assert len(phone.titles("1001")) == 1  # nor who answered


async def test_law_7_an_account_that_is_another_s_now_answers_in_nobody_s_name(database: Database) -> None:
    clock, phone = ManualClock(), MemoryProvider()
    settings = {"providers": {"memory": phone}, "clock": clock, "routes": route("alice")}
    async with gateway(database, **settings) as g:
        id = await asked(g)
        link = link_of(phone, "1001")
    people = {
        "alice": Contact("alice", "Alice"),
        "ben": Contact("ben", "Ben", addresses=(at("memory", "1001"),)),
    }
    async with gateway(database, **settings, contacts=people) as g:
        await decides_nothing(g, link, id)
        assert ("not reached", "alice") in await events(g, id)
        await g.later(HOUR)
        assert phone.titles("1001") == ["Which city?"]  # and Ben is not reminded of what Alice was asked


async def test_whoever_has_another_address_in_the_file_is_asked_there_once(database: Database) -> None:
    phone, other = MemoryProvider(), MemoryProvider("other")
    settings = {"providers": {"memory": phone, "other": other}, "routes": route("alice")}
    async with gateway(database, **settings) as g:
        id = await asked(g)
        link = link_of(phone, "1001")
    moved = {"alice": Contact("alice", "Alice", addresses=(at("other", "a"), at("memory", "7007")))}
    for _ in range(2):
        async with gateway(database, **settings, contacts=moved) as g:
            await g.app.idle()
            await decides_nothing(g, link, id)
            assert (phone.titles("7007"), other.titles("a")) == (["Which city?"], [])
    async with gateway(database, **settings, contacts=moved) as g:
        await g.types("7007", "Vienna")
        assert (await g.app.reader.interaction(id)).answered_by == "alice"


async def test_what_is_out_at_another_address_of_theirs_is_enough(database: Database) -> None:
    phone, other = MemoryProvider(), MemoryProvider("other")
    settings = {"providers": {"memory": phone, "other": other}, "routes": route("ben", at_once=True)}
    async with gateway(database, **settings) as g:
        id = await asked(g)
    left = {"ben": Contact("ben", "Ben", addresses=(at("other", "b"),))}
    async with gateway(database, **settings, contacts=left) as g:
        await g.app.idle()
        assert (phone.titles("2002"), other.titles("b")) == (["Which city?"], ["Which city?"])
        assert "not reached" not in dict(await events(g, id))


async def test_when_nobody_is_left_the_stand_in_of_the_route_is_asked(database: Database) -> None:
    phone, stand = MemoryProvider(), Stand("stand", "Vienna")
    settings = {
        "providers": {"memory": phone, "stand": stand},
        "routes": route("alice", stand_ins=("stand",)),
    }
    async with gateway(database, **settings) as g:
        id = await asked(g)
        assert (await g.app.reader.interaction(id)).status is InteractionStatus.PENDING
    async with gateway(database, **settings, contacts={"ben": BEN}) as g:
        await g.app.idle()
        assert (await g.app.reader.interaction(id)).answer.values == {"q1": "Vienna"}


async def test_what_could_not_be_sent_yet_is_sent_to_nobody_who_has_left(database: Database) -> None:
    clock, phone, other = ManualClock(), MemoryProvider(), MemoryProvider("other")
    settings = {"providers": {"memory": phone, "other": other}, "clock": clock, "routes": route("ben")}
    phone.failures += [TryLater(30), TryLater(30)]
    async with gateway(database, **settings) as g:
        await asked(g)
        await g.app.notices.send(NoticeRequest("The release is live."))
        await g.app.idle()
    moved = {"ben": Contact("ben", "Ben", addresses=(at("other", "b"),))}
    async with gateway(database, **settings, contacts=moved) as g:
        await g.later(120)
        assert phone.shown == []
        assert sorted(other.titles("b")) == ["The release is live.", "Which city?"]


async def test_what_was_being_sent_as_its_gateway_ended_is_not_sent_again(database: Database) -> None:
    clock, phone = ManualClock(), MemoryProvider()
    settings = {"providers": {"memory": phone}, "clock": clock}
    async with gateway(database, **settings) as g:
        g.app.context.signals.deliver = lambda rows: None  # it is gone before it can
        await asked(g)
    async with gateway(database, **settings, contacts={"ben": BEN}) as g:
        await g.later(120)
        assert phone.shown == []


# A link that replaces an account


async def test_law_7_an_account_that_was_replaced_answers_nothing_and_the_new_one_is_asked(
    database: Database,
) -> None:
    clock = ManualClock()
    people = {"contacts": {"alice": ALICE, "carol": CAROL}, "routes": route("carol")}
    async with gateway(database, clock=clock, **people) as g:
        await links(g, "3003")
        id = await asked(g)
        link = link_of(g.memory, "3003")
        await links(g, "6666")
        await g.taps("3003", "Yes")
        assert sorted(g.memory.titles("6666")) == ["This chat is now linked to Carol.", "Which city?"]
        await decides_nothing(g, link, id)
        seen = len(g.memory.titles("3003"))
        await g.later(HOUR)
        assert len(g.memory.titles("3003")) == seen
        assert g.memory.titles("6666")[2:] == ["Which city?"]
        await g.types("6666", "Vienna")
        assert (await g.app.reader.interaction(id)).answered_by == "carol"


async def test_an_account_that_was_replaced_and_is_linked_again_is_asked_again(database: Database) -> None:
    people = {"contacts": {"alice": ALICE, "carol": CAROL}, "routes": route("carol")}
    async with gateway(database, **people) as g:
        await links(g, "3003")
        id = await asked(g)
        for old, new in (("3003", "6666"), ("6666", "3003")):
            await links(g, new)
            await g.taps(old, "Yes")
        assert g.memory.titles("3003").count("Which city?") == 2
        assert "not reached" not in dict(await events(g, id))
        await g.types("3003", "Vienna")
        assert (await g.app.reader.interaction(id)).answered_by == "carol"


async def test_law_7_an_account_that_somebody_else_links_answers_no_more_for_who_had_it(
    database: Database,
) -> None:
    people = {"contacts": {"alice": ALICE, "carol": CAROL, "dave": Contact("dave", "Dave")}}
    async with gateway(database, **people, routes=route("carol")) as g:
        await links(g, "3003")
        id = await asked(g)
        link = link_of(g.memory, "3003")
        await links(g, "3003", "dave")
        await decides_nothing(g, link, id)
        assert ("not reached", "carol") in await events(g, id)


# The API


def added(g: Gateway, *addresses: Address) -> Contact:
    return Contact(
        "carol",
        "Carol",
        addresses=tuple(Address(a.provider, a.external_id, a.place, "carol") for a in addresses),
    )


async def test_law_7_an_address_that_the_api_replaces_answers_nothing_any_more(database: Database) -> None:
    other = MemoryProvider("other")
    async with gateway(database, providers={"other": other}, routes=route("carol")) as g:
        providers = {"memory": g.memory, "other": other}
        people = People(g.app.context, g.app.reader, g.app.linker, providers, dict, dict, lambda _: None)
        await people.add(added(g, at("memory", "3003")))
        id = await asked(g)
        link = link_of(g.memory, "3003")
        await people.add(added(g, at("other", "c")))  # one more; the first one is as it was
        await g.app.idle()
        assert other.titles("c") == []
        changed = await people.add(added(g, at("memory", "4004")))
        await g.app.idle()
        assert {(a.provider, a.external_id) for a in changed.addresses} == {
            ("memory", "4004"),
            ("other", "c"),
        }
        assert g.memory.titles("4004") == ["Which city?"]
        await decides_nothing(g, link, id)
        await g.types("3003", "Graz")
        assert (await g.app.reader.interaction(id)).status is InteractionStatus.PENDING
        await g.types("4004", "Vienna")
        assert (await g.app.reader.interaction(id)).answered_by == "carol"


async def test_how_it_ended_is_not_shown_by_the_link_of_who_has_left(database: Database) -> None:
    phone = MemoryProvider()
    settings = {"providers": {"memory": phone}, "routes": route("alice", "ben")}
    async with gateway(database, **settings) as g:
        await asked(g)
        link = link_of(phone, "1001")
        await g.types("2002", "Vienna")
        assert (await g.app.forms.view(link)).interaction.answered_by == "ben"
    async with gateway(database, **settings, contacts={"ben": BEN}) as g:
        with pytest.raises(NotFound):
            await g.app.forms.view(link)
