"""Two people, or one of them twice, do something on two gateways at the same moment."""

import asyncio
import re
from dataclasses import replace
from pathlib import Path
from typing import Any

import psycopg
import pytest
from sqlalchemy import text

from answerback.ask import Asked, AskRequest
from answerback.errors import AlreadyAnswered, Conflict, NotAllowed, NotFound
from answerback.linking import Link
from answerback.model import Address, Contact, Json, MessageKind, Question, QuestionKind, RunStatus
from answerback.notices import NoticeRequest
from answerback.provider import Message, Sent
from answerback.run import RunRequest
from answerback.settings import Plugin, Route
from answerback.store import contacts, deliveries, leases, notices, replies
from answerback.store.query import Query
from answerback.succession import next_address
from answerback.testing import MemoryProvider, ScriptedAgent, asks
from answerback.web.people import People
from tests.support.gateway import ALICE, Gateway
from tests.support.two import Opened, Two, at_once, caught, opening

pytestmark = pytest.mark.needs_extra("postgres")
WIPE = Question("q1", "Wipe?", QuestionKind.CONFIRM)
MANY = Query(text("UPDATE delivery SET code_tries = 9 WHERE id = :id"))
LETTER = Query(text("SELECT id FROM reply WHERE error <> ''"))
RUNS = Query(text("SELECT status FROM run"))
CAROLS = Query(text("SELECT external_id FROM address WHERE contact_id = 'carol'"))


@pytest.fixture
def two(postgres_url: str, tmp_path: Path) -> Opened:
    return opening(postgres_url, tmp_path)


async def test_law_2_a_question_that_is_just_being_answered_is_not_taken_back_with_its_run(
    two: Opened,
) -> None:
    async with two(ScriptedAgent(asks("Which?"))) as both:
        run = await both.one.run()
        (id,) = run.interactions
        _, refused = await at_once(
            both, "interaction", id, both.one.types("1001", "tea"), both.two.app.asker.cancel(id)
        )
        assert isinstance(refused, AlreadyAnswered)
        run = await both.one.settled(run.id)
        assert (run.status, run.result) == (RunStatus.COMPLETED, ["tea"])
        assert await both.waited_in_a_ring() == 0


@pytest.mark.parametrize("ending", ["cancel", "replace"])
async def test_an_answer_and_the_end_of_its_run_do_not_wait_for_each_other(two: Opened, ending: str) -> None:
    async with two(ScriptedAgent(asks("Which?"))) as both:
        run = await both.one.run()
        runner, (id,) = both.two.app.runner, run.interactions
        again = RunRequest("scripted", "x", thread_id=run.thread_id, replace=True)
        ends = runner.cancel(run.id) if ending == "cancel" else runner.start(again)
        await at_once(both, "interaction", id, both.one.types("1001", "tea"), ends)
        record = await both.record(id)
        assert record.answer is not None and record.answered_via == "memory"  # who came first
        assert await both.waited_in_a_ring() == 0


async def form_of(both: Two) -> tuple[str, str]:
    """Alice's form for something that takes a code, and the delivery it stands in."""
    asked = await both.one.app.asker.ask(AskRequest((WIPE,)))
    await both.one.app.idle()
    link = both.one.memory.shown[0].message.form_url.rpartition("/")[2]
    return link, (await both.message(asked.interaction.id))["id"]


async def test_law_7_two_guesses_at_once_are_two_tries(two: Opened) -> None:
    async with two(form_auth="code") as both:
        link, id = await form_of(both)
        await both.one.app.forms.send_code(link)
        await both.one.app.idle()
        code = re.findall(r"\d{6}", both.one.memory.titles("1001")[-1])[0]
        await both.one.app.context.store.write(lambda tx: tx.run(MANY, id=id))
        guesses = (
            both.one.app.forms.submit(link, {"q1": True}, code="000000x"),
            both.two.app.forms.submit(link, {"q1": True}, code=code),
        )
        first, second = await at_once(both, "delivery", id, *guesses)
        assert isinstance(first, NotAllowed) and isinstance(second, NotAllowed)
        assert "not the code" in str(first) and "Too many" in str(second)


async def test_who_asks_for_a_code_twice_at_once_is_sent_one(two: Opened) -> None:
    async with two(form_auth="code") as both:
        link, id = await form_of(both)
        sends = both.one.app.forms.send_code(link), both.two.app.forms.send_code(link)
        first, second = await at_once(both, "delivery", id, *sends)
        assert first is None and isinstance(second, Conflict)
        assert len(both.one.memory.titles("1001")) == 2


async def test_law_4_an_event_that_two_operators_replay_at_once_is_considered_once(two: Opened) -> None:
    agents = {"scripted": Plugin("scripted", "langgraph", may_start=("alice",))}
    async with two(ScriptedAgent(asks("Which?")), agents=agents) as both:
        store = both.one.app.context.store
        raw = both.one.memory.typed("1001", "run scripted").body
        await store.write(lambda tx: replies.add(tx, "memory", "e1", raw, outcome="failed", error="Bug"))
        (letter,) = await store.read(lambda tx: tx.all(LETTER))
        id = letter["id"]
        replays = both.one.app.letters.replay(id, "ops"), both.two.app.letters.replay(id, "dev")
        first, second = await at_once(both, "reply", id, *replays)
        assert isinstance(first, str) and isinstance(second, Conflict)
        assert len(await store.read(lambda tx: tx.all(RUNS))) == 1


async def test_law_7_of_two_chats_that_two_codes_link_at_once_the_second_is_confirmed_by_the_first(
    two: Opened,
) -> None:
    async with two(contacts={"alice": ALICE, "carol": Contact("carol", "Carol")}) as both:
        codes = [(await both.one.app.linker.create("carol", "memory")).code for _ in range(2)]
        links = (
            both.one.types("3003", f"/start {codes[0]}"),
            both.two.types("6666", f"/start {codes[1]}"),
        )
        await at_once(both, "contact", "carol", *links)
        found = await both.one.app.context.store.read(lambda tx: tx.all(CAROLS))
        assert found == [{"external_id": "3003"}]
        assert sorted(both.one.memory.titles("3003")) == [
            "Another chat wants to answer as you, Carol. Is that you?",
            "This chat is now linked to Carol.",
        ]


async def test_law_1_a_run_is_not_begun_on_a_thread_that_another_has_just_begun_to_wait_on(
    two: Opened,
) -> None:
    async with two(ScriptedAgent(asks("Which?"))) as both:
        store = both.one.app.context.store
        lease = await store.write(lambda tx: leases.take(tx, "scripted", "t", "somebody"))
        assert lease is not None
        async with await psycopg.AsyncConnection.connect(both.url) as somebody:
            await somebody.execute("SELECT 1 FROM thread_lease WHERE thread_id = 't' FOR UPDATE")
            late = asyncio.ensure_future(
                caught(both.two.app.runner.start(RunRequest("scripted", thread_id="t")))
            )
            await both.waiting(1, somebody)
            await somebody.execute(
                "INSERT INTO run (id, agent, thread_id, status, created_at, updated_at, intent, attempts)"
                " VALUES ('r', 'scripted', 't', 'waiting', 1, 1, 'start', 1)"
            )
            await somebody.execute("UPDATE thread_lease SET owner = '', until = 0 WHERE thread_id = 't'")
        refused = await late
        assert isinstance(refused, Conflict) and "(run r)" in str(refused)


@pytest.mark.parametrize("other", ["Which?", "When?"])
async def test_an_idempotency_key_that_is_used_twice_at_once_asks_once(two: Opened, other: str) -> None:
    async with two() as both:
        key = {"idempotency_key": "k"}
        async with await psycopg.AsyncConnection.connect(both.url) as holding:
            await holding.execute("LOCK TABLE interaction IN SHARE MODE")
            work = [
                asyncio.ensure_future(caught(here.app.asker.ask(AskRequest((Question("q", words),), **key))))
                for here, words in ((both.one, "Which?"), (both.two, other))
            ]
            await both.waiting(2, holding)
        results: list[Any] = [await each for each in work]
        await both.one.app.idle()
        await both.two.app.idle()
        assert len(both.one.memory.titles("1001")) == 1
        if other == "Which?":
            assert len({each.interaction.id for each in results}) == 1
        else:
            assert sorted(type(each).__name__ for each in results) == ["Asked", "Conflict"]


@pytest.mark.parametrize("other", ["Done.", "Not done."])
async def test_a_notice_whose_key_is_used_twice_at_once_is_sent_once(two: Opened, other: str) -> None:
    async with two() as both:
        async with await psycopg.AsyncConnection.connect(both.url) as holding:
            await holding.execute("LOCK TABLE notice IN SHARE MODE")
            work = [
                asyncio.ensure_future(
                    caught(here.app.notices.send(NoticeRequest(words, idempotency_key="k")))
                )
                for here, words in ((both.one, "Done."), (both.two, other))
            ]
            await both.waiting(2, holding)
        results: list[Json] = [await each for each in work]
        await both.one.app.idle()
        await both.two.app.idle()
        assert len(both.one.memory.titles("1001")) == 1
        assert sum(isinstance(each, Conflict) for each in results) == (other != "Done.")


@pytest.mark.parametrize("second", ["retry", "reask", "cancel"])
async def test_of_two_who_deal_with_a_failed_run_at_once_one_is_refused_or_has_the_last_word(
    two: Opened, second: str
) -> None:
    async with two(ScriptedAgent(asks("Which?"))) as both:
        run = await both.one.run()
        await both.one.types("1001", "fail")
        what = getattr(both.two.app.runner, second)
        first, then = await at_once(both, "run", run.id, both.one.app.runner.retry(run.id), what(run.id))
        assert not isinstance(first, Exception)
        run = await both.one.settled(run.id)
        if second == "cancel":
            assert run.status is RunStatus.CANCELLED
        else:
            assert isinstance(then, Conflict) and run.status is RunStatus.WAITING
            assert len(run.interactions) == 2


async def test_law_7_of_two_chats_that_one_confirms_at_once_on_two_gateways_one_is_linked(
    two: Opened,
) -> None:
    async with two(contacts={"alice": ALICE, "carol": Contact("carol", "Carol")}) as both:
        for chat in ("3003", "6666", "7777"):
            code = (await both.one.app.linker.create("carol", "memory")).code
            await both.one.types(chat, f"/start {code}")
        await both.one.types("3003", "help")  # so that neither tap has to note that they are there
        offers = [shown.message for shown in both.one.memory.shown if "Is that you?" in shown.message.title]
        assert len(offers) == 2
        taps = [
            both.one.memory.typed("3003", "", data=button.data)
            for offer in offers
            for button in offer.buttons
            if button.label == "Yes"
        ]
        await at_once(both, "contact", "carol", both.one.receive(taps[0]), both.two.receive(taps[1]))
        found = await both.one.app.context.store.read(lambda tx: tx.all(CAROLS))
        assert found == [{"external_id": "6666"}]
        assert both.one.memory.titles("7777") == []
        assert both.one.memory.titles("3003")[-1].startswith("This link does not work any more.")


async def test_law_7_who_is_asked_while_they_link_another_chat_is_asked_there(two: Opened) -> None:
    asking = AskRequest((Question("q1", "Which?"),), ask=("carol",))
    async with two(contacts={"alice": ALICE, "carol": Contact("carol", "Carol")}) as both:
        for chat in ("3003", "6666"):
            code = (await both.one.app.linker.create("carol", "memory")).code
            await both.one.types(chat, f"/start {code}")
        await both.one.types("3003", "help")  # so that the tap has not to note that they are there
        offer = next(each.message for each in both.one.memory.shown if "Is that you?" in each.message.title)
        yes = next(button.data for button in offer.buttons if button.label == "Yes")
        tap = both.one.memory.typed("3003", "", data=yes)
        await at_once(both, "contact", "carol", both.one.receive(tap), both.two.app.asker.ask(asking))
        assert "Which?" in both.one.memory.titles("6666")
        assert "Which?" not in both.one.memory.titles("3003")


def people(here: Gateway) -> People:
    """What adds contacts over HTTP."""
    return People(
        here.app.context,
        here.app.reader,
        here.app.linker,
        {"memory": here.memory},
        dict,
        dict,
        lambda _: None,
    )


async def test_law_7_an_account_that_two_people_are_given_at_once_is_of_one_of_them(two: Opened) -> None:
    async with two() as both:
        async with await psycopg.AsyncConnection.connect(both.url) as holding:
            await holding.execute("LOCK TABLE address IN SHARE MODE")
            work = []
            for number, (here, who) in enumerate(((both.one, "carol"), (both.two, "dave")), start=1):
                contact = Contact(who, who.title(), addresses=(Address("memory", "4004", "4004", who),))
                work.append(asyncio.ensure_future(caught(people(here).add(contact))))
                await both.waiting(number, holding)
        found = [await each for each in work]
        (given,) = (each for each in found if isinstance(each, Contact))
        (refused,) = (each for each in found if isinstance(each, Conflict))
        assert f"belongs to {given.id!r} already" in str(refused)
        owner = await both.one.app.context.store.read(lambda tx: contacts.address_of(tx, "memory", "4004"))
        assert owner.contact == given.id


async def test_when_two_messages_of_a_notice_fail_at_once_the_next_address_is_told_once(two: Opened) -> None:
    addresses = tuple(Address(name, "a", "a") for name in ("memory", "second", "third"))
    phones = {name: MemoryProvider(name) for name in ("second", "third")}
    route = Route("default", ask=("alice",), providers=("memory", "second", "third"))
    more = {"contacts": {"alice": Contact("alice", "Alice", addresses=addresses)}}
    async with two(phones=phones, routes={"default": route}, **more) as both:
        notice, _ = await both.one.app.notices.send(NoticeRequest("Done."))
        await both.one.app.idle()
        here, there = both.one.app.context, both.two.app.context
        (first,) = await here.store.read(lambda tx: notices.deliveries_of(tx, notice.id))
        (second,) = await here.store.write(lambda tx: next_address(here.outbox, tx, first))
        work = (
            here.store.write(lambda tx: next_address(here.outbox, tx, first)),
            there.store.write(lambda tx: next_address(there.outbox, tx, second)),
        )
        became = await at_once(both, "notice", notice.id, *work)
        assert [len(rows) for rows in became] == [1, 0]


CAROL = Contact("carol", "Carol", addresses=(Address("memory", "3003", "3003"),))


@pytest.mark.parametrize("removed_first", [True, False])
async def test_law_7_who_is_asked_as_they_are_removed_is_not_asked_there(
    two: Opened, removed_first: bool
) -> None:
    async with two() as both:
        await both.one.app.context.store.write(lambda tx: contacts.put(tx, CAROL, "api"))
        removes = both.one.app.remover.contact("carol")
        asks_her = both.two.app.asker.ask(AskRequest((WIPE,), ask=("carol",)))
        work = (removes, asks_her) if removed_first else (asks_her, removes)
        found = await at_once(both, "contact", "carol", *work)
        asked = found[removed_first]
        assert isinstance(asked, Asked)
        rows = await both.one.app.context.store.read(
            lambda tx: tx.all(deliveries.OF, interaction_id=asked.interaction.id)
        )
        assert [row["open"] for row in rows if row["contact_id"]] == ([] if removed_first else [0])
        assert (await both.one.app.reader.interaction(asked.interaction.id)).status == "pending"


@pytest.mark.parametrize("removed_first", [True, False])
async def test_law_7_who_is_asked_as_an_address_is_removed_is_asked_at_the_next_one(
    two: Opened, removed_first: bool
) -> None:
    other = MemoryProvider("other")
    async with two(phones={"other": other}) as both:
        more = replace(CAROL, addresses=(*CAROL.addresses, Address("other", "c", "c")))
        await both.one.app.context.store.write(lambda tx: contacts.put(tx, more, "api"))
        removes = both.one.app.remover.address("carol", "memory")
        asks_her = both.two.app.asker.ask(AskRequest((WIPE,), ask=("carol",)))
        work = (removes, asks_her) if removed_first else (asks_her, removes)
        asked = (await at_once(both, "contact", "carol", *work))[removed_first]
        assert isinstance(asked, Asked)
        rows = await both.one.app.context.store.read(
            lambda tx: tx.all(deliveries.OF, interaction_id=asked.interaction.id)
        )
        assert [row["provider"] for row in rows if row["contact_id"] and row["open"]] == ["other"]
        assert other.titles("c") == ["Wipe?"]


@pytest.mark.parametrize("removed_first", [True, False])
async def test_law_7_a_code_that_is_made_as_its_person_is_removed_links_nobody(
    two: Opened, removed_first: bool
) -> None:
    async with two() as both:
        await both.one.app.context.store.write(lambda tx: contacts.put(tx, CAROL, "api"))
        removes = both.one.app.remover.contact("carol")
        makes = both.two.app.linker.create("carol", "memory")
        work = (removes, makes) if removed_first else (makes, removes)
        made = (await at_once(both, "contact", "carol", *work))[removed_first]
        assert isinstance(made, NotFound if removed_first else Link)
        if isinstance(made, Link):
            await both.one.types("4004", f"/start {made.code}")
        assert await both.one.app.context.store.read(lambda tx: tx.all(CAROLS)) == []


async def test_law_7_an_account_that_is_linked_as_its_person_is_removed_is_nobody_s(two: Opened) -> None:
    async with two(contacts={"alice": ALICE}) as both:
        await both.one.app.context.store.write(lambda tx: contacts.put(tx, CAROL, "api"))
        await both.one.app.remover.address("carol", "memory")
        code = (await both.one.app.linker.create("carol", "memory")).code
        await at_once(
            both,
            "contact",
            "carol",
            both.one.app.remover.contact("carol"),
            both.two.types("4004", f"/start {code}"),
        )
        assert await both.one.app.context.store.read(lambda tx: tx.all(CAROLS)) == []


class NeverHeard(MemoryProvider):
    """A question is on the phone, and nobody is told that it is."""

    async def send(self, message: Message) -> Sent:
        sent = await super().send(message)
        if message.kind is MessageKind.QUESTION and len(self.shown) == 1:
            raise TimeoutError
        return sent


async def test_two_taps_on_a_copy_that_nobody_knew_of_make_it_known_once(two: Opened) -> None:
    phone = NeverHeard()
    async with two(ScriptedAgent(asks("Which?", "Yes", "No")), phones={"memory": phone}) as both:
        (id,) = (await both.one.run()).interactions
        await both.one.later(61)  # it is sent again
        yes = phone.shown[0].message.buttons[0].data
        taps = [phone.typed("1001", "", data=yes, references=["m1"]) for _ in range(2)]
        await both.at_once(
            id,
            both.one.app.receiver.webhook("memory", taps[0]),
            both.two.app.receiver.webhook("memory", taps[1]),
        )
        assert await both.waited_in_a_ring() == 0
        found = await both.one.app.context.store.read(lambda tx: tx.all(deliveries.OF, interaction_id=id))
        copies = [row for row in found if row["kind"] == "question" and row["place"] == "1001"]
        assert sorted(row["message_ids"] for row in copies) == ['["m1"]', '["m2"]']
        assert [shown.edited for shown in phone.shown[:2]] == [True, True]
