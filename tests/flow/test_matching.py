"""Which question a reply is for: by token, by reference, by code, or the only one; never a guess."""

import asyncio
import itertools
import re
from typing import ClassVar

import pytest
from sqlalchemy import text

from answerback.ask import AskRequest
from answerback.match import ALPHABET, DIGITS
from answerback.model import Address, Contact, InteractionStatus, Question, QuestionKind, RunStatus
from answerback.provider import TryLater
from answerback.settings import Route
from answerback.snoozed import AGAIN
from answerback.store.query import Query
from answerback.testing import ManualClock, MemoryProvider, ScriptedAgent, asks
from tests.support.databases import Database
from tests.support.gateway import gateway


async def test_a_plain_text_answers_when_only_one_question_is_open(database: Database) -> None:
    agent = ScriptedAgent(asks("Which city?"))
    async with gateway(database, agent) as g:
        run = await g.run()
        await g.types("1001", "  Vienna, the old part \n")
        assert (await g.settled(run.id)).result == ["  Vienna, the old part \n"]


async def test_with_two_open_a_plain_text_is_asked_about_and_the_tap_gives_it_to_the_one_picked(
    database: Database,
) -> None:
    agent = ScriptedAgent([asks("Delete A?", confirm=True), asks("Delete B?", confirm=True)])
    async with gateway(database, agent) as g:
        run = await g.run()
        await g.types("1001", "yes")
        assert agent.journal == []
        assert g.memory.titles("1001")[-1] == "Two questions are open. Which one is “yes” for?"
        await g.taps("1001", "Delete B?")
        await g.settled(run.id)
        assert [(text, answer.values) for _, text, answer in agent.journal] == [("Delete B?", {"q1": True})]


async def test_law_1_a_question_that_was_asked_many_times_hides_no_other(database: Database) -> None:
    """Each reminder is a message of its own, and all of them can be answered."""
    often = Route(
        "default", ask=("alice",), providers=("memory",), reminders=tuple(60.0 * n for n in range(1, 15))
    )
    async with gateway(database, routes={"default": often}) as g:
        first = await g.app.asker.ask(AskRequest((Question("q1", "Delete A?", QuestionKind.CONFIRM),)))
        for _ in range(14):
            await g.later(60)
        assert len(g.memory.titles("1001")) == 15
        second = await g.app.asker.ask(AskRequest((Question("q1", "Delete B?", QuestionKind.CONFIRM),)))
        await g.app.idle()
        await g.types("1001", "yes")
        assert g.memory.titles("1001")[-1] == "Two questions are open. Which one is “yes” for?"
        for asked in (first, second):
            record = await g.app.reader.interaction(asked.interaction.id)
            assert record.status is InteractionStatus.PENDING


class _WithGroups(MemoryProvider):
    """Everybody's own chat has the number of their account."""

    @classmethod
    def alone(cls, external_id: str, place: str) -> str:
        return external_id


async def test_law_1_what_is_open_in_a_group_hides_nothing_of_what_is_open_in_private(
    database: Database,
) -> None:
    """Of somebody who is asked in a group, what is sensitive is asked in their own chat."""
    in_group = Contact("alice", "Alice", addresses=(Address("memory", "1001", "group", contact="alice"),))
    question = Question("q1", "Go on?", QuestionKind.CONFIRM)
    memory = _WithGroups()
    async with gateway(database, contacts={"alice": in_group}, providers={"memory": memory}) as g:
        for number in range(13):
            await g.app.asker.ask(AskRequest((question,), sensitive=number in (3, 12)))
        await g.app.idle()
        await g.types("1001", "yes")
        assert g.memory.titles("1001")[-1] == "Two questions are open. Which one is “yes” for?"


async def test_nobody_is_asked_which_one_of_none(database: Database) -> None:
    agent = ScriptedAgent([asks("Delete A?", confirm=True), asks("Delete B?", confirm=True)])
    async with gateway(database, agent) as g:
        run = await g.run()
        g.memory.failures.append(TryLater(5))
        await g.types("1001", "yes")
        await g.taps("1001", "No")
        await g.taps("1001", "No")
        await g.settled(run.id)
        await g.later(10)
        assert g.memory.titles("1001")[-1] == "Nothing is waiting for you."


async def test_a_reply_to_the_message_answers_that_question(database: Database) -> None:
    agent = ScriptedAgent([asks("A?"), asks("B?")])
    async with gateway(database, agent) as g:
        run = await g.run()
        b = next(shown for shown in g.memory.shown if shown.message.title == "B?")
        await g.types("1001", "for b", references=[b.id])
        await g.settled(run.id)
        assert [(text, answer.text) for _, text, answer in agent.journal] == [("B?", "for b")]


async def test_the_short_code_in_the_text_says_which_question(database: Database) -> None:
    agent = ScriptedAgent([asks("A?"), asks("B?")])
    async with gateway(database, agent) as g:
        run = await g.run()
        b = next(shown.message for shown in g.memory.shown if shown.message.title == "B?")
        await g.types("1001", f"for b #{b.code}")
        await g.settled(run.id)
        assert [(text, answer.values["q1"]) for _, text, answer in agent.journal] == [("B?", "for b")]
        assert agent.journal[0][2].text == f"for b #{b.code}"


@pytest.mark.parametrize(("more", "answered"), [(9, True), (10, False), (3000, False)])
async def test_a_list_of_codes_names_no_question_and_is_not_looked_up(
    database: Database, more: int, answered: bool
) -> None:
    agent = ScriptedAgent([asks("A?"), asks("B?")])
    async with gateway(database, agent) as g:
        run = await g.run()
        b = next(shown.message for shown in g.memory.shown if shown.message.title == "B?")
        others = map("".join, itertools.product("Z", DIGITS, ALPHABET, ALPHABET))
        unlike = itertools.islice((f"#{code}" for code in others if code != b.code), more)
        await g.types("1001", " ".join([f"for b #{b.code}", *unlike]))
        await g.settled(run.id)
        assert [text for _, text, _ in agent.journal] == (["B?"] if answered else [])
        if not answered:
            assert g.memory.titles("1001")[-1].startswith("Two questions are open.")


async def test_a_reply_to_a_closed_question_says_so_and_answers_no_other(database: Database) -> None:
    agent = ScriptedAgent(asks("First?"), asks("Second?"))
    async with gateway(database, agent) as g:
        run = await g.run()
        first = g.memory.shown[0].id
        await g.types("1001", "one")
        await g.types("1001", "two", references=[first])
        assert (await g.settled(run.id)).status is RunStatus.WAITING
        assert [answer.text for _, _, answer in agent.journal] == ["one"]
        assert g.memory.titles("1001")[-1].startswith("You answered this at")


@pytest.mark.parametrize(
    ("written", "said"),
    [
        ("Hi,\n\npending\n\nBest,\nAlice", "One question is open."),
        ("help\n\nSent from my iPhone", "Answer a question by tapping or writing."),
        ("Hello,\n/pending\n\n-- \nAlice", "One question is open."),
        ("?\n\nAlice", "Which city?"),
        ("Hallo,\n\nskip\n\nViele Grüße\nAlice", "Skipped. The question stays open."),
    ],
)
async def test_a_command_in_a_mail_may_have_a_greeting_and_ones_own_name(
    database: Database, written: str, said: str
) -> None:
    async with gateway(database) as g:
        asked = await g.app.asker.ask(AskRequest((Question("q1", "Which city?"),)))
        await g.app.idle()
        await g.types("1001", written, quoted=True)
        assert len(g.memory.titles("1001")) == 2
        assert g.memory.titles("1001")[-1].startswith(said)
        record = await g.app.reader.interaction(asked.interaction.id)
        assert record.status is InteractionStatus.PENDING


async def test_in_a_chat_what_stands_around_a_command_makes_it_an_answer(database: Database) -> None:
    agent = ScriptedAgent(asks("Which words?"))
    async with gateway(database, agent) as g:
        run = await g.run()
        await g.types("1001", "Hi,\npending\nBest,\nAlice")
        assert (await g.settled(run.id)).result == ["Hi,\npending\nBest,\nAlice"]


async def test_help_and_pending_are_commands(database: Database) -> None:
    agent = ScriptedAgent(asks("Which?"))
    async with gateway(database, agent) as g:
        await g.types("1001", "pending")
        assert g.memory.titles("1001") == ["Nothing is waiting for you."]
        await g.run()
        await g.types("1001", "/help")
        await g.types("1001", "pending")
        assert g.memory.titles("1001")[-2].startswith("Answer a question by tapping or writing.")
        assert g.memory.titles("1001")[-1] == "One question is open."
    assert agent.journal == []


async def test_cancel_stops_the_run_that_asks(database: Database) -> None:
    agent = ScriptedAgent(asks("Which?"))
    async with gateway(database, agent) as g:
        run = await g.run()
        await g.types("1001", "cancel")
        assert (await g.settled(run.id)).status is RunStatus.CANCELLED
    assert agent.journal == []


async def test_cancel_stops_the_run_that_is_picked_and_answers_nothing(database: Database) -> None:
    agent = ScriptedAgent(asks("First?"))
    async with gateway(database, agent) as g:
        one, other = await g.run(), await g.run()
        await g.types("1001", "cancel")
        assert g.memory.titles("1001")[-1] == "Two questions are open. Which one is “cancel” for?"
        label = g.memory.shown[-1].message.buttons[0].label
        assert re.fullmatch(r"#\w{4} First\?", label)
        await g.taps("1001", label)
        ends = {(await g.settled(run.id)).status for run in (one, other)}
        assert ends == {RunStatus.CANCELLED, RunStatus.WAITING}
        await g.types("1001", "mine")
    assert [answer.text for _, _, answer in agent.journal] == ["mine"]


class Untapped(MemoryProvider):
    """Where buttons may be missing."""

    tappable: ClassVar[bool] = False


async def test_where_nothing_can_be_tapped_a_question_is_picked_by_its_code(database: Database) -> None:
    agent, memory = ScriptedAgent(asks("Which city?")), Untapped()
    async with gateway(database, agent, providers={"memory": memory}) as g:
        runs = [await g.run(), await g.run()]
        await g.types("1001", "Vienna")
        _, other = (record.code for record in (await g.app.reader.interactions()).items)
        listed = memory.shown[-1].message
        assert f"#{other} Which city?" in listed.body and "“#" in listed.body
        assert [button.label for button in listed.buttons][1] == f"#{other}"
        await g.types("1001", f"#{other} Vienna")
        ends = {run.id: (await g.settled(run.id)).status for run in runs}
        assert sorted(ends.values()) == [RunStatus.COMPLETED, RunStatus.WAITING]
    assert [answer.text for _, _, answer in agent.journal] == [f"#{other} Vienna"]


async def test_a_number_below_the_list_picks_a_question_as_a_tap_does(database: Database) -> None:
    agent = ScriptedAgent(asks("Which city?"))
    async with gateway(database, agent) as g:
        runs = [await g.run(), await g.run()]
        await g.types("1001", "Vienna")
        await g.types("1001", "3", references=[g.memory.shown[-1].id])  # there are two
        assert agent.journal == []
        await g.types("1001", "Graz")
        await g.types("1001", " 2\n", references=[g.memory.shown[-1].id])
        ends = [(await g.settled(run.id)).result for run in runs]
        assert sorted(ends, key=str) == [None, ["Graz"]]
        asked = (await g.app.reader.interactions("completed")).items
        assert [record.id for record in asked] == [(await g.app.reader.interactions()).items[1].id]


async def test_law_1_a_number_below_a_list_of_which_one_is_answered_picks_nothing(database: Database) -> None:
    agent = ScriptedAgent(asks("Which city?"))
    async with gateway(database, agent) as g:
        for _ in range(3):
            await g.run()
        await g.types("1001", "Vienna")
        listed, first = g.memory.shown[-1].id, g.memory.shown[0].id
        await g.types("1001", "Linz", references=[first])
        await g.types("1001", "2", references=[listed])
        assert [answer.text for _, _, answer in agent.journal] == ["Linz"]
        assert g.memory.titles("1001")[-1] == "Two questions are open. Which one is “2” for?"


async def test_a_command_may_stand_beside_a_code(database: Database) -> None:
    agent = ScriptedAgent(asks("Which city?"))
    async with gateway(database, agent) as g:
        one, other = await g.run(), await g.run()
        first, second = (record.code for record in (await g.app.reader.interactions()).items)
        await g.types("1001", f"#{second} snooze 2h")
        assert g.memory.titles("1001")[-1] == "I will ask again at 14:00."
        await g.types("1001", f"stop #{first}")
        assert [(await g.settled(run.id)).status for run in (one, other)] == [
            RunStatus.CANCELLED,
            RunStatus.WAITING,
        ]
    assert agent.journal == []


async def test_a_word_that_is_a_choice_answers_the_question_that_is_picked(database: Database) -> None:
    agent = ScriptedAgent(asks("Go or stop?", "Go", "Stop"), name="lights")
    other = ScriptedAgent(asks("What does the sign say?"), name="signs")
    async with gateway(database, agent, other) as g:
        await g.run("lights")
        await g.run("signs")
        await g.types("1001", "stop")
        await g.taps("1001", "What does the sign say?")
    assert [answer.text for _, _, answer in other.journal] == ["stop"]
    assert agent.journal == []


@pytest.mark.parametrize("before", [60_000_000, 400_000], ids=["while we were down", "in the same second"])
async def test_a_text_written_before_the_question_was_sent_answers_nothing_unasked(
    database: Database, before: int
) -> None:
    """A service tells in which second a text was written."""
    agent = ScriptedAgent(asks("Wipe?", confirm=True))
    async with gateway(database, agent) as g:
        written = g.clock.now - before
        run = await g.run()
        await g.types("1001", "yes", sent_at=written)
        assert (await g.settled(run.id)).status is RunStatus.WAITING
        assert g.memory.titles("1001")[-1] == "I am not sure what “yes” is for. Is it this question?"
        await g.taps("1001", "Wipe?")
        assert (await g.settled(run.id)).result == [True]


@pytest.mark.parametrize("later", [False, True], ids=["sent at once", "sent once it is due"])
async def test_law_1_a_text_that_was_written_while_a_question_was_on_its_way_answers_nothing_unasked(
    database: Database, later: bool
) -> None:
    async with gateway(database) as g:
        if later:
            g.memory.failures.append(TryLater(1))
        g.memory.hang = asyncio.Event()
        asked = await g.app.asker.ask(AskRequest((asks("Delete all of it?", confirm=True),)))
        if later:
            g.memory.hang.set()
            await g.app.idle()
            g.memory.hang = asyncio.Event()
            g.clock.advance(60)
            assert await g.app.deliverer.pump() == 1
        while g.memory.held_up <= later:  # noqa: ASYNC110 - it is a thread that reads what is to be sent
            await asyncio.sleep(0.001)
        g.clock.advance(3)
        written = g.clock()  # "yes" to something that they still see on their phone
        g.clock.advance(2)
        g.memory.hang.set()  # only now the service has it
        await g.app.idle()
        await g.types("1001", "yes", sent_at=written)
        record = await g.app.reader.interaction(asked.interaction.id)
        assert record.status is InteractionStatus.PENDING
        assert g.memory.titles("1001")[-1] == "I am not sure what “yes” is for. Is it this question?"
        await g.types("1001", "yes", sent_at=g.clock())
        record = await g.app.reader.interaction(asked.interaction.id)
        assert record.status is InteractionStatus.COMPLETED


@pytest.mark.parametrize("apart", [3600, -3600], ids=["service ahead", "service behind"])
async def test_law_1_what_was_written_first_is_told_by_the_clock_of_the_service(
    database: Database, apart: int
) -> None:
    """Ours may be wrong by hours: of a machine that was asleep, or that has just been started."""
    clock, agent = ManualClock(), ScriptedAgent(asks("Wipe?", confirm=True))

    def there() -> int:
        return clock() + apart * 1_000_000

    async with gateway(database, agent, providers={"memory": MemoryProvider(clock=there)}, clock=clock) as g:
        written = there()
        clock.advance(10)
        run = await g.run()
        clock.advance(10)
        await g.types("1001", "yes", sent_at=written)
        assert (await g.settled(run.id)).status is RunStatus.WAITING
        assert g.memory.titles("1001")[-1] == "I am not sure what “yes” is for. Is it this question?"
        await g.types("1001", "yes", sent_at=there())
        assert (await g.settled(run.id)).result == [True]


async def test_law_1_a_text_of_the_second_in_which_the_service_took_the_question_answers_nothing(
    database: Database,
) -> None:
    clock, agent = ManualClock(), ScriptedAgent(asks("Wipe?", confirm=True))
    providers = {"memory": MemoryProvider(clock=clock)}
    async with gateway(database, agent, providers=providers, clock=clock) as g:
        run = await g.run()
        await g.types("1001", "yes", sent_at=clock())
        assert (await g.settled(run.id)).status is RunStatus.WAITING
        await g.types("1001", "yes", sent_at=clock() + 1_000_000)
        assert (await g.settled(run.id)).result == [True]


async def test_law_1_a_text_that_is_later_than_now_answers_nothing_unasked(database: Database) -> None:
    """Where a service does not say when it took the question, that shows that its clock is another."""
    agent = ScriptedAgent(asks("Wipe?", confirm=True))
    async with gateway(database, agent) as g:
        written = g.clock() + 3_600_000_000  # by a clock that is an hour ahead of ours
        g.clock.advance(10)
        run = await g.run()
        g.clock.advance(10)
        await g.types("1001", "yes", sent_at=written)
        assert (await g.settled(run.id)).status is RunStatus.WAITING
        assert g.memory.titles("1001")[-1] == "I am not sure what “yes” is for. Is it this question?"


async def test_law_1_a_yes_that_was_sent_twice_does_not_answer_the_next_question_too(
    database: Database,
) -> None:
    """Somebody whose telephone hung presses again; meanwhile the agent has asked something else."""
    agent = ScriptedAgent(asks("Delete the copy?", confirm=True), asks("Delete the original?", confirm=True))
    async with gateway(database, agent) as g:
        run = await g.run()
        g.clock.advance(7.3)
        second = g.clock.now - g.clock.now % 1_000_000
        await g.types("1001", "yes", sent_at=second)
        g.clock.advance(0.2)
        await g.types("1001", "yes", sent_at=second)
        assert (await g.settled(run.id)).status is RunStatus.WAITING
        assert [text for _, text, _ in agent.journal] == ["Delete the copy?"]
        assert g.memory.titles("1001")[-1] == "I am not sure what “yes” is for. Is it this question?"


async def test_a_reply_to_a_message_that_asks_nothing_answers_no_question(database: Database) -> None:
    agent = ScriptedAgent(asks("First?"))
    async with gateway(database, agent) as g:
        await g.run()
        await g.types("1001", "one")
        report = g.memory.shown[-1].id
        run = await g.run()
        await g.types("1001", "yes, thanks", references=[report])
        assert (await g.settled(run.id)).status is RunStatus.WAITING
        assert "I am not sure what “yes, thanks” is for." in g.memory.titles("1001")[-1]


async def test_law_9_a_tap_below_i_need_a_clear_answer_brings_what_was_written_along(
    database: Database,
) -> None:
    agent = ScriptedAgent(asks("Wipe production?", confirm=True))
    async with gateway(database, agent) as g:
        run = await g.run()
        await g.types("1001", "yes but not  prod")
        assert g.memory.titles("1001")[-1].startswith("I need a clear yes or no")
        await g.taps("1001", "Yes")
        [(_, _, answer)] = agent.journal
        assert (answer.values, answer.text) == ({"q1": True}, "yes but not  prod")
        assert (await g.settled(run.id)).status is RunStatus.COMPLETED


async def test_a_tap_below_the_question_itself_is_what_it_says(database: Database) -> None:
    agent = ScriptedAgent(asks("Wipe production?", confirm=True))
    async with gateway(database, agent) as g:
        await g.run()
        tap = g.memory.tapped("1001", "No")
        await g.types("1001", "yes but not prod")
        await g.receive(tap)
        [(_, _, answer)] = agent.journal
        assert (answer.values, answer.text) == ({"q1": False}, "No")


async def test_what_was_written_for_a_sensitive_question_is_kept_with_no_message(database: Database) -> None:
    async with gateway(database) as g:
        await g.app.asker.ask(AskRequest((asks("Positive?", confirm=True),), sensitive=True))
        await g.app.idle()
        await g.types("1001", "maybe swordfish")
        rows = await g.app.context.store.read(lambda tx: tx.all(Query(text("SELECT content FROM delivery"))))
        assert rows and "swordfish" not in str(rows)


@pytest.mark.parametrize("said", ["yes", "snooze 1h"], ids=["an answer", "a command"])
async def test_who_picks_a_question_that_was_handed_on_meanwhile_is_asked_about_the_others_in_the_same_words(
    database: Database, said: str
) -> None:
    routes = {"default": Route("default", ("alice",), ("memory",), delegates=("ben",))}
    async with gateway(database, routes=routes) as g:
        for text in ("The first?", "The second?"):
            await g.app.asker.ask(AskRequest((asks(text, confirm=True),)))
        await g.app.idle()
        first = g.memory.shown[0]
        await g.types("1001", said)
        picks = g.memory.shown[-1]
        await g.types("1001", "delegate to Ben", references=[first.id])
        data = picks.message.buttons[0].data
        await g.receive(g.memory.typed("1001", "", data=data, references=[picks.id]))
        again = g.memory.titles("1001")[-1]
        assert again == f"I am not sure what “{said}” is for. Is it this question?"
        await g.taps("1001", "The second?")
        one, other = (await g.app.reader.interactions()).items
        assert one.status is InteractionStatus.PENDING
        assert (other.status is InteractionStatus.COMPLETED) == (said == "yes")
        assert (AGAIN in other.route) == (said != "yes")


async def test_a_tap_on_a_button_that_leads_nowhere_any_more_shows_what_is_open(database: Database) -> None:
    async with gateway(database) as g:
        await g.app.asker.ask(AskRequest((asks("Which?"),)))
        await g.app.idle()
        await g.receive(
            g.memory.typed("1001", "", data="of-a-question-that-was-handed-on:0", references=["m9"])
        )
        assert g.memory.titles("1001")[-1] == "One question is open."
