"""Who was removed and is a contact again answers nothing that was taken back, and hears nothing of it."""

import asyncio
import json
from pathlib import Path

import pytest

from answerback.ask import AskRequest
from answerback.errors import NotAllowed, NotFound, TryLater
from answerback.model import Contact, InteractionStatus, Outcome, Question
from answerback.notices import NoticeRequest
from answerback.provider import Inbound
from answerback.store import contacts
from answerback.testing import ManualClock, MemoryProvider, ScriptedAgent, asks
from tests.flow.test_removing import MEMORY, OTHER, carol, status
from tests.support.accounts import HOUR, asked, link_of, route
from tests.support.databases import Database
from tests.support.gateway import Gateway, gateway
from tests.support.two import Opened, at_once, opening

NO_MORE = "You are not asked this any more, so nothing was decided."
BOTH = route("carol", "ben")


class Chat(MemoryProvider):
    """Several questions stand there one by one."""

    one_by_one = True


async def confirmation(g: Gateway, *who: str, text: str = "Sure?") -> str:
    """A question of yes or no; its id."""
    found = await g.app.asker.ask(AskRequest((asks(text, confirm=True),), ask=who))
    await g.app.idle()
    return found.interaction.id


async def leaves_and_is_back(g: Gateway) -> None:
    await g.app.remover.contact("carol")
    await g.app.idle()
    await carol(g)


def without_its_message(tap: Inbound) -> Inbound:
    """The same tap, from a service that does not say under which message."""
    return Inbound(json.dumps(json.loads(tap.body) | {"references": []}).encode())


async def hangs(phone: MemoryProvider) -> asyncio.Event:
    """From now on messages are on their way until the event is set."""
    phone.hang = asyncio.Event()
    return phone.hang


@pytest.mark.parametrize("way", ["tap", "reply", "code", "reply to a sentence about it"])
async def test_law_7_what_was_taken_back_is_not_answered_by_what_stands_on_their_phone(
    database: Database, way: str
) -> None:
    async with gateway(database, routes=BOTH) as g:
        await carol(g)
        id = await confirmation(g, "carol", "ben")
        tap, asked_by = g.memory.tapped("3003", "Yes"), g.memory.shown[0].id
        await g.types("3003", "hm")
        unclear, code = g.memory.shown[-1].id, (await g.app.reader.interaction(id)).code
        await leaves_and_is_back(g)
        said = {
            "tap": tap,
            "reply": g.memory.typed("3003", "yes", references=[asked_by]),
            "code": g.memory.typed("3003", f"#{code} yes"),
            "reply to a sentence about it": g.memory.typed("3003", "yes", references=[unclear]),
        }
        await g.receive(said[way])
        assert await status(g, id) is InteractionStatus.PENDING
        if way == "tap":
            assert g.memory.toasts[-1] == (Outcome.NOT_ALLOWED, NO_MORE)
        elif way != "code":
            assert g.memory.titles("3003")[-1] == NO_MORE
        await g.types("2002", "yes")
        assert (await g.app.reader.interaction(id)).answered_by == "ben"


async def test_law_1_an_old_button_is_no_answer_to_the_only_question_that_is_open_now(
    database: Database,
) -> None:
    async with gateway(database, routes=BOTH) as g:
        await carol(g)
        await confirmation(g, "carol", "ben")
        tap = g.memory.tapped("3003", "Yes")
        await leaves_and_is_back(g)
        new = await confirmation(g, "carol", text="Wipe?")
        await g.receive(without_its_message(tap))
        assert await status(g, new) is InteractionStatus.PENDING
        await g.taps("3003", "Yes")  # the button of "Is it this question?" says which one
        await g.types("3003", "yes")
        assert (await g.app.reader.interaction(new)).answered_by == "carol"


async def test_who_is_back_answers_what_they_are_asked_anew_and_sees_nothing_of_the_old(
    database: Database,
) -> None:
    async with gateway(database, routes=BOTH) as g:
        await carol(g)
        await asked(g, "carol", "ben")
        first, link = g.memory.shown[0].id, link_of(g.memory, "3003")
        await g.app.remover.contact("carol")
        await g.types("2002", "Vienna")
        await carol(g)
        with pytest.raises(NotFound):
            await g.app.forms.view(link)
        await g.types("3003", "Graz", references=[first])
        assert "Vienna" not in "".join(g.memory.titles("3003"))
        new = await asked(g, "carol")
        await g.types("3003", "Linz")
        assert (await g.app.reader.interaction(new)).answered_by == "carol"


async def test_what_was_to_be_sent_as_they_left_is_not_sent_when_they_are_back(database: Database) -> None:
    async with gateway(database, routes=BOTH) as g:
        await carol(g)
        sends, g.app.context.signals.deliver = g.app.context.signals.deliver, lambda rows: None
        await asked(g, "carol", "ben")
        await leaves_and_is_back(g)
        g.app.context.signals.deliver = sends
        await g.later(120)
        assert (g.memory.titles("3003"), len(g.memory.titles("2002"))) == ([], 1)


@pytest.mark.parametrize("next_owner", ["nobody", "dora"])
async def test_law_11_how_a_run_ends_is_not_told_at_an_account_that_was_taken_from_its_person(
    database: Database, next_owner: str
) -> None:
    async with gateway(database, ScriptedAgent(asks("Which?")), routes=BOTH) as g:
        await carol(g)
        run = await g.run()
        await g.app.remover.contact("carol")
        if next_owner == "dora":
            dora = Contact("dora", "Dora", addresses=(MEMORY,))
            await g.app.context.store.write(lambda tx: contacts.put(tx, dora, "api"))
        await g.types("2002", "Vienna")
        assert (await g.settled(run.id)).result == ["Vienna"]
        assert g.memory.titles("3003") == ["Which?"]
        assert "Vienna" in g.memory.titles("2002")[-1]


async def test_law_11_what_was_to_be_told_again_is_told_nobody_who_was_removed_meanwhile(
    database: Database,
) -> None:
    async with gateway(database, ScriptedAgent(asks("Which?")), routes=route("carol")) as g:
        await carol(g)
        run = await g.run()
        g.memory.failures += [TryLater(30)]
        await g.types("3003", "Vienna")
        await g.settled(run.id)
        before = g.memory.titles("3003")
        await g.app.remover.contact("carol")
        await g.later(120)
        assert g.memory.titles("3003") == before


async def test_law_11_a_copy_that_was_on_its_way_is_not_told_how_its_question_ended(
    database: Database,
) -> None:
    async with gateway(database, routes=BOTH) as g:
        await carol(g)
        taken = await hangs(g.memory)
        found = await g.app.asker.ask(AskRequest((asks("Which?"),), ask=("carol", "ben")))
        await g.app.remover.contact("carol")
        await g.app.receiver.respond(found.interaction.id, "Vienna", by="ops", via="api")
        g.memory.hang = None
        taken.set()
        await g.app.idle()
        assert g.memory.titles("3003") == ["Which?"]
        assert "Vienna" in "".join(g.memory.titles("2002"))


async def test_a_notice_that_was_on_its_way_and_did_not_arrive_goes_to_the_next_address(
    database: Database,
) -> None:
    phone, other, clock = MemoryProvider(), MemoryProvider("other"), ManualClock()
    async with gateway(database, providers={"memory": phone, "other": other}, clock=clock) as g:
        await carol(g, MEMORY, OTHER)
        taken = await hangs(phone)
        phone.failures += [TryLater(30)]
        await g.app.notices.send(NoticeRequest("The release is live.", ask=("carol",)))
        await g.app.remover.address("carol", "memory")
        phone.hang = None
        taken.set()
        await g.later(120)
        await g.later(120)
        assert (phone.shown, other.titles("c")) == ([], ["The release is live."])


async def test_law_7_a_key_of_somebody_who_was_removed_answers_nothing(database: Database) -> None:
    async with gateway(database, routes=BOTH) as g:
        await carol(g)
        id = await asked(g, "carol", "ben")
        await g.app.remover.contact("carol")
        with pytest.raises(NotAllowed, match=r"Carol is no contact any more\."):
            await g.app.receiver.respond(id, "Graz", by="carol", via="api")
        assert await status(g, id) is InteractionStatus.PENDING


async def test_nothing_is_handed_on_to_who_was_removed(database: Database) -> None:
    async with gateway(database, routes=route("alice", delegates=("ben", "carol"))) as g:
        await carol(g)
        await asked(g, "alice")
        await g.app.remover.contact("carol")
        await g.types("1001", "/delegate carol")
        assert g.memory.titles("1001")[-1] == "You can pass this on to: Ben."


async def test_who_was_snoozed_and_muted_as_they_left_is_asked_at_once_when_they_are_back(
    database: Database,
) -> None:
    async with gateway(database, routes=BOTH) as g:
        await carol(g)
        await asked(g, "carol", "ben")
        await g.types("3003", "/snooze 2h")
        await g.types("3003", "/mute 4h")
        await leaves_and_is_back(g)
        before = len(g.memory.titles("3003"))
        await g.app.notices.send(NoticeRequest("The release is live.", ask=("carol",)))
        await g.app.idle()
        await g.later(3 * HOUR)
        assert g.memory.titles("3003")[before:] == ["The release is live."]


async def test_the_next_one_of_several_is_not_asked_of_who_left_after_the_first(database: Database) -> None:
    phone = Chat()
    async with gateway(database, providers={"memory": phone}, routes=BOTH) as g:
        await carol(g)
        questions = (Question("q1", "Which?"), Question("q2", "Why?"))
        found = await g.app.asker.ask(AskRequest(questions, ask=("carol", "ben")))
        await g.app.idle()
        one = next(shown.id for shown in phone.shown if shown.message.to.place == "3003")
        await g.types("3003", "Vienna", references=[one])
        assert phone.titles("3003")[-1] == "Why?"
        two = next(shown.id for shown in phone.shown if shown.message.title == "Why?")
        await leaves_and_is_back(g)
        for id in (one, two):
            await g.types("3003", "Because", references=[id])
            assert phone.titles("3003")[-1] == NO_MORE
        assert await status(g, found.interaction.id) is InteractionStatus.PENDING


@pytest.mark.needs_extra("postgres")
class TestTwoGateways:
    @pytest.fixture
    def two(self, postgres_url: str, tmp_path: Path) -> Opened:
        return opening(postgres_url, tmp_path)

    async def test_a_contact_that_is_removed_twice_at_once_is_removed_once(self, two: Opened) -> None:
        async with two(routes=BOTH) as both:
            await carol(both.one)
            removals = both.one.app.remover.contact("carol"), both.two.app.remover.contact("carol")
            first, second = await at_once(both, "contact", "carol", *removals)
            assert getattr(first, "accounts", None) == (("memory", "3003"),)
            assert isinstance(second, NotFound)

    async def test_who_is_removed_while_the_other_gateway_asks_them_is_not_asked_afterwards(
        self, two: Opened
    ) -> None:
        async with two(routes=BOTH) as both:
            await carol(both.one)
            work = both.one.app.remover.contact("carol"), asked(both.two, "carol", "ben")
            await at_once(both, "contact", "carol", *work)
            assert both.one.memory.titles("3003") == []
            assert both.one.memory.titles("2002") == ["Which city?"]

    async def test_what_is_just_being_asked_is_taken_back_with_them(self, two: Opened) -> None:
        async with two(routes=BOTH) as both:
            await carol(both.one)
            work = asked(both.two, "carol", "ben"), both.one.app.remover.contact("carol")
            id, _ = await at_once(both, "contact", "carol", *work)
            assert isinstance(id, str)
            await carol(both.one)
            await both.one.types("3003", "Graz")
            await both.one.types("3003", "Graz", references=["m1"])
            assert (await both.record(id)).status is InteractionStatus.PENDING
