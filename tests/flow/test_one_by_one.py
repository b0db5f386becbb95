"""Several questions in a chat, one after the other: a tap answers what stands above it, the last decides."""

import asyncio
import json
import re
from pathlib import Path
from typing import ClassVar

import pytest
from pydantic import SecretStr
from sqlalchemy import select, text

from answerback.ask import AskRequest
from answerback.cli.site import site
from answerback.errors import Undeliverable
from answerback.model import Action, Contact, InteractionStatus, Outcome, Question, QuestionKind
from answerback.provider import Message
from answerback.settings import Route
from answerback.store.query import Query
from answerback.tables import DeliveryRow, ReplyRow
from answerback.testing import MemoryProvider, ScriptedAgent, asks
from tests.flow.test_inbox import KEYS, OURS
from tests.flow.test_run_ends import PUBLIC, proof_in
from tests.support.databases import Database
from tests.support.described import through
from tests.support.gateway import ALICE, BEN, Gateway, gateway

pytestmark = pytest.mark.either_database

REFUND = Question("q1", "", QuestionKind.REVIEW, action=Action("refund", {"amount": 100}))
WIPE = Question("q2", "", QuestionKind.REVIEW, action=Action("wipe", {"disk": "a"}))
WHY = Question("q3", "And why?", QuestionKind.TEXT)
WHY_FIRST = Question("q1", "Why?")
THREE = (REFUND, WIPE, WHY)
DELIVERIES = Query(select(DeliveryRow.__table__))  # type: ignore[attr-defined]
SPOIL = Query(text("UPDATE delivery SET content = :junk WHERE interaction_id = :key AND token_hash <> ''"))
REPLIES = Query(select(ReplyRow.__table__))  # type: ignore[attr-defined]
REMINDED = {"default": Route("default", ask=("alice",), providers=("memory",), reminders=(600.0, 1200.0))}
APPROVED, REJECTED = {"decision": "approve"}, {"decision": "reject"}


class Chat(MemoryProvider):
    one_by_one: ClassVar[bool] = True


def chatting(database: Database, *agents: ScriptedAgent, **more: object):
    return gateway(database, *agents, **{"providers": {"memory": Chat()}, **more})


async def ask(g: Gateway, *questions: Question, **more: object) -> str:
    asked = await g.app.asker.ask(AskRequest(questions, **more))
    await g.app.idle()
    return asked.interaction.id


def newest(g: Gateway, who: str = "1001") -> Message:
    """The newest question on somebody's phone."""
    return next(
        shown.message
        for shown in reversed(g.memory.shown)
        if shown.message.to.place == who and shown.message.kind in ("question", "reminder")
    )


def checked(page: str) -> list[tuple[str, str]]:
    """The buttons that are pressed already on a page."""
    return re.findall(r'name="(q\d)" value="(\w+)" checked', page)


async def values(g: Gateway, id: str) -> object:
    record = await g.app.reader.interaction(id)
    return record.answer.values if record.answer is not None else None


async def test_each_is_asked_in_its_turn_and_the_last_answer_gives_all_of_them(database: Database) -> None:
    async with chatting(database) as g:
        id = await ask(g, *THREE, title="Billing")
        first = newest(g)
        assert (first.heading, first.title) == ("🟥 Billing · wants to run · 1 of 3", "refund")
        assert [button.label for button in first.buttons] == ["Approve", "Reject"]
        await g.taps("1001", "Approve")
        second = newest(g)
        assert (second.heading, second.title) == ("🟥 Billing · wants to run · 2 of 3", "wipe")
        await g.taps("1001", "Reject")
        assert (newest(g).heading, newest(g).title) == ("🟦 Billing · 3 of 3", "And why?")
        assert (await g.app.reader.interaction(id)).status is InteractionStatus.PENDING
        await g.types("1001", "the disk is in use")
        record = await g.app.reader.interaction(id)
        assert (record.status, record.answered_by) == (InteractionStatus.COMPLETED, "alice")
        assert await values(g, id) == {"q1": APPROVED, "q2": REJECTED, "q3": "the disk is in use"}


async def test_each_copy_says_what_was_answered(database: Database) -> None:
    async with chatting(database) as g:
        await ask(g, *THREE)
        await g.taps("1001", "Approve")
        await g.taps("1001", "Reject")
        told = [shown.message for shown in g.memory.shown if shown.edited]
        assert [message.title.split(" · ")[0] for message in told] == [
            "☑️ You approved this",
            "☑️ You rejected this",
        ]
        assert [message.body for message in told] == ["refund · 1 of 3", "wipe · 2 of 3"]
        assert not any(message.buttons for message in told)
        await g.types("1001", "because")
        last = g.memory.shown[2].message
        assert last.title.endswith("Going on.")
        assert last.body == "refund → Approve\nwipe → Reject\nAnd why? → because"


async def test_everybody_else_reads_what_was_answered_to_each(database: Database) -> None:
    async with chatting(database) as g:
        id = await ask(g, REFUND, WIPE, ask=("alice", "ben"))
        said = {"q1": {"decision": "reject", "message": 'not "this" one'}, "q2": APPROVED}
        await g.app.receiver.respond(id, said, by="alice", via="api")
        await g.app.idle()
        told = next(shown.message for shown in g.memory.shown if shown.message.to.place == "2002")
        assert "Alice answered" in told.title
        assert told.body == 'refund → Reject: “not "this" one”\nwipe → Approve'


async def test_of_many_questions_the_first_are_listed(database: Database) -> None:
    async with chatting(database) as g:
        many = [Question(f"q{place}", f"Number {place}?", QuestionKind.CONFIRM) for place in range(12)]
        id = await ask(g, *many)
        await g.app.receiver.respond(id, {q.id: True for q in many}, by="alice", via="api")
        await g.app.idle()
        lines = g.memory.shown[0].message.body.split("\n")
        assert (len(lines), lines[9:]) == (11, ["Number 9? → Yes", "…"])


async def test_law_1_a_tap_answers_the_question_above_it_and_no_other(database: Database) -> None:
    """Law 1: buttons of an earlier question are of no use for a later one, whoever kept them."""
    async with chatting(database) as g:
        id = await ask(g, REFUND, WIPE)
        old = g.memory.tapped("1001", "Reject")
        again = g.memory.tapped("1001", "Approve")
        await g.taps("1001", "Approve")
        await g.receive(old)
        await g.receive(again)
        assert g.memory.toasts[-1] == (Outcome.NOTED, "You answered this one. The next question is below.")
        assert await values(g, id) is None
        assert len([shown for shown in g.memory.shown if shown.message.title == "wipe"]) == 1
        await g.taps("1001", "Reject")
        assert await values(g, id) == {"q1": APPROVED, "q2": REJECTED}


async def test_who_answers_at_night_is_asked_the_next_one_at_once(database: Database) -> None:
    night = Contact("alice", "Alice", quiet_hours="00:00-23:59", addresses=ALICE.addresses)
    async with chatting(database, contacts={"alice": night, "ben": BEN}) as g:
        await ask(g, REFUND, WIPE)
        assert g.memory.shown == []
        await g.later(86_400)
        await g.taps("1001", "Approve")
        assert newest(g).title == "wipe"


async def test_law_4_the_same_event_again_asks_nothing_twice(database: Database) -> None:
    async with chatting(database) as g:
        id = await ask(g, REFUND, WIPE)
        tap = g.memory.tapped("1001", "Approve")
        for _ in range(3):
            await g.receive(tap)
        assert [shown.message.title for shown in g.memory.shown].count("wipe") == 1
        await g.taps("1001", "Approve")
        assert await values(g, id) == {"q1": APPROVED, "q2": APPROVED}


async def test_law_2_of_two_taps_at_once_one_counts(database: Database) -> None:
    """Law 2, for a part of an answer."""
    async with chatting(database) as g:
        for _ in range(5):
            id = await ask(g, REFUND, WIPE)
            taps = [g.memory.tapped("1001", label) for label in ("Approve", "Reject", "Approve", "Reject")]
            before = len(g.memory.shown)
            await asyncio.gather(*(g.app.receiver.webhook("memory", tap) for tap in taps))
            await g.app.idle()
            assert len(g.memory.shown) == before + 1
            await g.taps("1001", "Approve")
            given = await values(g, id)
            assert isinstance(given, dict) and given["q1"] in (APPROVED, REJECTED) and given["q2"] == APPROVED


async def test_a_forged_place_in_a_button_answers_nothing(database: Database) -> None:
    async with chatting(database) as g:
        id = await ask(g, *THREE)
        token = newest(g).token
        for data in (f"{token}:1.approve", f"{token}:2.approve", f"{token}:9.y", f"{token}:x"):
            await g.receive(g.memory._event(sender="1001", data=data, references=["m1"]))
        assert await values(g, id) is None
        await g.taps("1001", "Approve")
        assert newest(g).title == "wipe"


async def test_what_is_not_clear_is_asked_again_with_the_buttons_of_this_question(database: Database) -> None:
    async with chatting(database) as g:
        id = await ask(g, asks("Delete it?", confirm=True), Question("q2", "Sure?", QuestionKind.CONFIRM))
        await g.types("1001", "yes")
        await g.types("1001", "yes but not prod")
        again = g.memory.shown[-1].message
        assert "Sure?" in again.title or "yes but not prod" in again.title
        assert [button.label for button in again.buttons] == ["Yes", "No"]
        await g.taps("1001", "No")
        given = await values(g, id)
        assert isinstance(given, dict) and [*given.values()] == [True, False]


async def test_law_1_a_reply_to_what_says_so_is_for_this_question(database: Database) -> None:
    async with chatting(database) as g:
        id = await ask(g, asks("Delete it?", confirm=True), Question("q2", "How many?", QuestionKind.NUMBER))
        await g.types("1001", "yes")
        await g.types("1001", "a few")
        await g.types("1001", "some", references=[g.memory.shown[-1].id])
        assert "“some” is not a number I can read" in g.memory.titles("1001")[-1]
        first, second = [shown.id for shown in g.memory.shown[-2:]]
        await g.types("1001", "3", references=[second])
        given = await values(g, id)
        assert isinstance(given, dict) and [*given.values()] == [True, 3]
        await g.types("1001", "4", references=[first])
        assert "Nothing changed" in g.memory.titles("1001")[-1]


async def test_a_reply_to_a_message_that_was_answered_is_told_so(database: Database) -> None:
    async with chatting(database) as g:
        id = await ask(g, REFUND, WHY)
        old = g.memory.shown[0].id
        await g.taps("1001", "Approve")
        await g.types("1001", "reject", references=[old])
        assert g.memory.shown[-1].message.title == "You answered this one. The next question is below."
        await g.types("1001", "no reason")
        assert await values(g, id) == {"q1": APPROVED, "q3": "no reason"}


async def test_two_people_go_their_own_ways_and_whoever_is_done_first_decides(database: Database) -> None:
    async with chatting(database) as g:
        id = await ask(g, REFUND, WIPE, ask=("alice", "ben"))
        await g.taps("1001", "Approve")
        await g.taps("2002", "Reject")
        await g.taps("2002", "Reject")
        assert await values(g, id) == {"q1": REJECTED, "q2": REJECTED}
        assert (await g.app.reader.interaction(id)).answered_by == "ben"
        open_ = [shown for shown in g.memory.shown if shown.message.buttons]
        assert open_ == [], "nobody has a button left"
        assert any("Ben answered" in title for title in g.memory.titles("1001"))


async def test_the_form_still_takes_all_of_it_at_once(database: Database) -> None:
    async with chatting(database, public_url="https://ask.example.org", form_auth="link") as g:
        id = await ask(g, REFUND, WHY)
        await g.taps("1001", "Approve")
        link = newest(g).form_url.rpartition("/")[2]
        await g.app.forms.submit(link, {"q1": REJECTED, "q3": "on the form"})
        await g.app.idle()
        await g.types("1001", "too late", references=[g.memory.shown[1].id])
        assert await values(g, id) == {"q1": REJECTED, "q3": "on the form"}


async def test_the_form_has_what_its_own_person_answered_and_takes_it_only_when_it_is_sent(
    database: Database,
) -> None:
    route = {"default": Route("default", ask=("alice", "ben"), providers=("memory",), at_once=True)}
    async with chatting(database, public_url=PUBLIC, form_auth="link", routes=route, api_keys=KEYS) as g:
        id = await ask(g, *THREE)
        first = newest(g).form_url
        await g.taps("1001", "Approve")
        await g.taps("1001", "Reject")
        async with through(site(g.app), PUBLIC) as http:
            for link in (newest(g).form_url, first):
                assert checked(page := (await http.get(link)).text) == [("q0", "approve"), ("q1", "reject")]
                assert "What you have answered already is filled in." in page
            assert checked((await http.get(newest(g, "2002").form_url)).text) == []
            for key, seen in (("ben-key", []), ("alice-key", [("q0", "approve"), ("q1", "reject")])):
                await http.post("/inbox/sign-in", data={"key": key}, headers=OURS)
                assert checked((await http.get("/inbox")).text) == seen
                await http.post("/inbox/sign-out", headers=OURS)
            assert await values(g, id) is None
            fields = {"proof": proof_in((await http.get(first)).text), "q0": "approve", "q1": "approve"}
            await http.post(first, data=fields | {"q2": "why not"}, headers=OURS)
        assert await values(g, id) == {"q1": APPROVED, "q2": APPROVED, "q3": "why not"}


async def test_of_what_is_sensitive_or_damaged_the_form_has_nothing(database: Database) -> None:
    async with chatting(database, public_url=PUBLIC) as g:
        for sensitive, given in ((True, '{"q1": "x"}'), (False, "5"), (False, '{"q1": 5}')):
            id = await ask(g, WHY_FIRST, Question("q2", "More?"), sensitive=sensitive)
            junk = f'{{"step": 1, "given": {given}}}'
            await g.app.context.store.write(lambda tx, id=id, junk=junk: tx.run(SPOIL, key=id, junk=junk))
            async with through(site(g.app), PUBLIC) as http:
                page = await http.get(newest(g).form_url)
            assert page.status_code == 200 and "is filled in" not in page.text


async def test_a_reminder_repeats_the_question_whose_turn_it_is(database: Database) -> None:
    async with chatting(database, routes=REMINDED) as g:
        id = await ask(g, REFUND, WIPE)
        await g.taps("1001", "Approve")
        await g.later(601)
        assert (newest(g).kind, newest(g).title) == ("reminder", "wipe")
        stale = [
            button
            for shown in g.memory.shown
            for button in shown.message.buttons
            if shown.message.title == "wipe"
        ]
        assert len(stale) == 4
        await g.taps("1001", "Reject")  # under the reminder
        assert await values(g, id) == {"q1": APPROVED, "q2": REJECTED}
        assert not any(shown.message.buttons for shown in g.memory.shown)


async def test_a_reminder_s_buttons_and_its_question_s_count_once_together(database: Database) -> None:
    async with chatting(database, routes=REMINDED) as g:
        id = await ask(g, REFUND, WIPE)
        first = g.memory.tapped("1001", "Approve")
        await g.later(601)
        reminded = g.memory.tapped("1001", "Reject")
        await g.receive(first)
        await g.receive(reminded)
        assert [shown.message.title for shown in g.memory.shown].count("wipe") == 1
        await g.taps("1001", "Approve")
        assert await values(g, id) == {"q1": APPROVED, "q2": APPROVED}


async def test_law_6_silence_half_way_is_no_answer(database: Database) -> None:
    """Law 6: what was given for some of the questions approves nothing."""
    async with chatting(database) as g:
        id = await ask(g, REFUND, WIPE, expires_in=60.0)
        await g.taps("1001", "Approve")
        await g.later(61)
        record = await g.app.reader.interaction(id)
        assert record.status is InteractionStatus.EXPIRED
        assert record.answer is not None and record.answer.values == {}


async def test_another_process_goes_on_where_the_first_one_died(database: Database) -> None:
    phone = Chat()
    async with chatting(database, providers={"memory": phone}) as g:
        id = await ask(g, *THREE)
        await g.taps("1001", "Reject")
    async with chatting(database, providers={"memory": phone}) as g:
        await g.taps("1001", "Approve")
        await g.types("1001", "because")
        assert await values(g, id) == {"q1": REJECTED, "q2": APPROVED, "q3": "because"}


@pytest.mark.needs_extra("postgres")
async def test_law_2_of_two_taps_in_two_processes_one_counts(postgres_url: str, tmp_path: Path) -> None:
    phone, database = Chat(), Database(postgres_url, tmp_path)
    both = {"providers": {"memory": phone}, "secret": SecretStr("the same for both")}
    async with chatting(database, **both) as one, chatting(database, **both) as two:
        for _ in range(10):
            id = await ask(one, REFUND, WIPE)
            taps = [phone.tapped("1001", label) for label in ("Approve", "Reject")]
            before = len(phone.shown)
            await asyncio.gather(
                *(g.app.receiver.webhook("memory", tap) for g, tap in zip((one, two), taps, strict=True))
            )
            for g in (one, two):
                await g.app.idle()
            assert len(phone.shown) == before + 1
            await two.taps("1001", "Reject")
            given = await values(one, id)
            assert isinstance(given, dict) and given["q2"] == REJECTED
            told = next(
                s.message.title for s in phone.shown[before - 1 :] if s.message.body == "refund · 1 of 2"
            )
            assert told.startswith("☑️ You approved" if given["q1"] == APPROVED else "☑️ You rejected")


@pytest.mark.parametrize("junk", ["not JSON", "[]", "1", '{"step": 0}'])
async def test_law_10_a_damaged_message_keeps_no_deadline_from_being_acted_on(
    junk: str, database: Database
) -> None:
    routes = {"default": Route("default", ask=("alice",), providers=("memory",), reminders=(30.0,))}
    async with chatting(database, routes=routes) as g:
        id = await ask(g, REFUND, WIPE, expires_in=60.0)
        tap = g.memory.tapped("1001", "Approve")
        await g.app.context.store.write(lambda tx: tx.run(SPOIL, key=id, junk=junk))
        await g.receive(tap)
        assert "on the form" in g.memory.shown[-1].message.title
        await g.later(31)
        await g.later(31)
        assert (await g.app.reader.interaction(id)).status is InteractionStatus.EXPIRED


DAMAGED = {
    "a place between two": {"step": 0.5, "given": {}},
    "a place that is no number": {"step": True, "given": {"q1": APPROVED}},
    "a place behind all": {"step": 2, "given": {"q1": APPROVED, "q2": APPROVED}},
    "an answer is missing": {"step": 1, "given": {}},
    "an answer that is none": {"step": 1, "given": {"q1": 5}},
    "an answer to something else": {"step": 1, "given": {"q1": APPROVED, "x": 5}},
}


@pytest.mark.parametrize("name", DAMAGED)
async def test_law_10_where_the_place_of_a_step_is_damaged_all_is_asked_on_the_form(
    name: str, database: Database
) -> None:
    """Nobody can say what was answered before it, so no tap may give the agent the rest."""
    junk = json.dumps(DAMAGED[name])
    async with chatting(database) as g:
        id = await ask(g, REFUND, WIPE)
        await g.taps("1001", "Approve")
        tap = g.memory.tapped("1001", "Reject")
        await g.app.context.store.write(lambda tx: tx.run(SPOIL, key=id, junk=junk))
        await g.receive(tap)
        assert "on the form" in g.memory.shown[-1].message.title
        assert await values(g, id) is None
        token = newest(g).form_url.rpartition("/")[2]
        assert (await g.app.forms.view(token)).given == {}
        await g.app.forms.submit(token, {"q1": REJECTED, "q2": APPROVED})
        assert await values(g, id) == {"q1": REJECTED, "q2": APPROVED}


async def test_where_the_next_question_cannot_be_sent_the_next_address_is_asked(database: Database) -> None:
    other = MemoryProvider()
    routes = {"default": Route("default", ask=("ben",), providers=("memory", "other"))}
    async with chatting(database, providers={"memory": Chat(), "other": other}, routes=routes) as g:
        await ask(g, REFUND, WIPE)
        tap = g.memory.tapped("2002", "Approve")
        g.memory.failures.append(Undeliverable("the person blocked the bot"))
        await g.receive(tap)
        await g.sweep()
        assert [shown.message.title for shown in other.shown] == ["2 questions for you"]


@pytest.mark.parametrize(
    ("questions", "more"),
    [
        ((REFUND, Question("q2", "A note?", QuestionKind.TEXT, required=False)), {}),
        ((REFUND, WIPE), {"sensitive": True}),
    ],
    ids=["an answer may be left out", "sensitive"],
)
async def test_what_a_chat_cannot_ask_one_by_one_is_asked_on_the_form(
    database: Database, questions: tuple[Question, ...], more: dict[str, bool]
) -> None:
    async with chatting(database, public_url="https://ask.example.org") as g:
        id = await ask(g, *questions, **more)
        assert [button.url for button in newest(g).buttons] == [newest(g).form_url]
        await g.types("1001", "approve")
        assert await values(g, id) is None


async def test_what_was_given_on_the_way_is_erased_with_the_rest(database: Database) -> None:
    async with chatting(database) as g:
        id = await ask(g, WHY, Question("q2", "More?", QuestionKind.TEXT))
        await g.types("1001", "the quokka")
        await g.types("1001", "nothing")
        await g.app.eraser.now(id, "ops")
        left = await g.app.context.store.read(
            lambda tx: [*map(str, tx.all(DELIVERIES)), *map(str, tx.all(REPLIES))]
        )
        assert left and not any("quokka" in row for row in left)


async def test_the_history_tells_each_step(database: Database) -> None:
    async with chatting(database) as g:
        id = await ask(g, REFUND, WIPE)
        await g.taps("1001", "Approve")
        await g.taps("1001", "Approve")
        events = (await g.app.historian.of(id)).events
        assert [event.kind for event in events if event.event == "reply"] == ["noted", "accepted"]


async def test_law_1_a_list_calls_a_question_what_an_answer_to_it_would_reach(database: Database) -> None:
    async with chatting(database) as g:
        reviews = await ask(g, REFUND, WIPE)
        await ask(g, Question("q1", "Which city?"))
        await g.taps("1001", "Reject")
        await g.types("1001", "yes")  # to which of the two?
        listed = g.memory.shown[-1].message
        assert {button.label for button in listed.buttons} == {"wipe", "Which city?"}
        await g.taps("1001", "wipe")
        record = await g.app.reader.interaction(reviews)
        assert record.answer is not None
        assert record.answer.values == {"q1": REJECTED, "q2": APPROVED}
