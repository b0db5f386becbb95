"""What somebody can say about a question without answering it: why, skip, snooze."""

from itertools import product

import pytest

from answerback.ask import AskRequest
from answerback.model import Contact, InteractionStatus, OnExpire, RunStatus
from answerback.settings import Route
from answerback.testing import ScriptedAgent, asks
from tests.support.databases import Database
from tests.support.gateway import ALICE, Gateway, gateway

pytestmark = pytest.mark.either_database

MINUTE, HOUR = 60.0, 3600.0
EACH = {"default": Route("default", ask=("alice", "ben"), providers=("memory",), reminders=(1800.0,))}


async def ask(g: Gateway, text: str = "Which?", **more: object) -> str:
    asked = await g.app.asker.ask(AskRequest((asks(text),), title="Research · terms", **more))
    await g.app.idle()
    return asked.interaction.id


def phone(g: Gateway, who: str = "1001") -> list[str]:
    return g.memory.titles(who)


def reminders(g: Gateway, who: str = "1001") -> int:
    """How often somebody was reminded."""
    return sum(shown.message.kind == "reminder" for shown in g.memory.shown if shown.message.to.place == who)


async def is_pending(g: Gateway, id: str) -> bool:
    return (await g.app.reader.interaction(id)).status is InteractionStatus.PENDING


class TestWhy:
    async def test_it_gives_the_whole_reason_with_the_buttons_below(self, database: Database) -> None:
        reason = "I found 0 documents with “costing”. " * 12
        async with gateway(database) as g:
            question = asks("Search for it?", confirm=True)
            asked = await g.app.asker.ask(AskRequest((question,), context=reason, title="Research · terms"))
            await g.app.idle()
            await g.types("1001", "why")
            said = g.memory.shown[-1].message
            assert said.title == f"Research says: {reason.strip()}"
            assert [button.label for button in said.buttons] == ["Yes", "No"]
            await g.taps("1001", "Yes")
            assert not await is_pending(g, asked.interaction.id)

    async def test_an_agent_that_gave_no_reason_is_said_to_have_given_none(self, database: Database) -> None:
        async with gateway(database) as g:
            id = await ask(g)
            await g.types("1001", "/why")
            assert phone(g)[-1] == "Research did not say why."
            assert await is_pending(g, id)

    async def test_of_a_sensitive_question_the_chat_hears_nothing(self, database: Database) -> None:
        async with gateway(database) as g:
            await ask(g, context="The diagnosis is in.", sensitive=True)
            await g.types("1001", "why")
            assert "diagnosis" not in repr(g.memory.shown)
            assert phone(g)[-1].startswith("The reason stands on the form: http")


class TestSkip:
    async def test_it_decides_nothing_and_shows_what_else_is_open(self, database: Database) -> None:
        async with gateway(database) as g:
            one = await ask(g, "First?")
            await g.types("1001", "skip")
            assert phone(g)[-1] == "Skipped. The question stays open."
            other = await ask(g, "Second?")
            await g.types("1001", "skip", references=[g.memory.shown[0].id])
            assert phone(g)[-1] == "Skipped. The question stays open. Also open:"
            assert g.memory.shown[-1].message.subject == phone(g)[-1]
            assert [button.label for button in g.memory.shown[-1].message.buttons] == ["Second?"]
            assert await is_pending(g, one) and await is_pending(g, other)

    async def test_with_several_open_it_is_asked_which_one(self, database: Database) -> None:
        async with gateway(database) as g:
            ids = [await ask(g, "First?"), await ask(g, "Second?")]
            await g.types("1001", "skip")
            assert "Which one is “skip” for?" in phone(g)[-1]
            await g.taps("1001", "Second?")
            assert phone(g)[-1] == "Skipped. The question stays open."
            assert [await is_pending(g, id) for id in ids] == [True, True]


class TestSnooze:
    async def test_it_is_asked_again_then_and_the_answer_counts(self, database: Database) -> None:
        agent = ScriptedAgent(asks("Which?"))
        async with gateway(database, agent) as g:
            run = await g.run()
            await g.types("1001", "snooze 2h")
            assert phone(g)[-1] == "I will ask again at 14:00."
            await g.later(1.9 * HOUR)
            assert reminders(g) == 0
            await g.later(0.2 * HOUR)
            assert reminders(g) == 1
            await g.later(10 * HOUR)
            assert reminders(g) == 1
            await g.types("1001", "the blue one")
            assert (await g.settled(run.id)).result == ["the blue one"]

    async def test_a_time_is_read_as_people_write_it(self, database: Database) -> None:
        async with gateway(database) as g:
            id = await ask(g)
            for said, time in {
                "snooze": "13:00",
                "snooze 30": "12:30",
                "snooze 90 min": "13:30",
                "/snooze 1h": "13:00",
                "snooze until 18:15": "18:15",
                "snooze 1 day": "Tue 2 Dec, 09:00",
                "snooze until tomorrow 8:00": "Tue 2 Dec, 08:00",
                "snooze tomorrow": "Tue 2 Dec, 09:00",
                "/snooze Friday 10:00": "Fri 5 Dec, 10:00",
                "snooze for 2 hours": "14:00",
            }.items():
                await g.types("1001", said)
                assert phone(g)[-1] == f"I will ask again at {time}."
            assert await is_pending(g, id)

    async def test_it_is_meant_in_the_persons_own_time_zone(self, database: Database) -> None:
        tokyo = Contact("alice", "Alice", timezone="Asia/Tokyo", addresses=ALICE.addresses)
        async with gateway(database, contacts={"alice": tokyo}) as g:
            await ask(g)
            await g.types("1001", "snooze until 23:00")  # it is 21:00 there
            assert phone(g)[-1] == "I will ask again at 23:00."
            await g.later(2 * HOUR + 1)
            assert reminders(g) == 1

    async def test_words_that_are_no_time_are_an_answer(self, database: Database) -> None:
        async with gateway(database) as g:
            id = await ask(g)
            await g.types("1001", "snooze the alarm in the kitchen")
            record = await g.app.reader.interaction(id)
            assert record.answer is not None and record.answer.text == "snooze the alarm in the kitchen"

    async def test_in_the_last_minute_before_a_deadline_nobody_is_asked_again(
        self, database: Database
    ) -> None:
        async with gateway(database) as g:
            await ask(g, expires_in=HOUR + 30.0)
            await g.types("1001", "snooze")
            assert phone(g)[-1] == "This closes at 13:00, so I cannot wait that long."

    async def test_what_is_no_time_to_come_is_told(self, database: Database) -> None:
        async with gateway(database) as g:
            id = await ask(g)
            for time in ("whenever", "11:00"):
                await g.types("1001", f"snooze until {time}")
                assert time in phone(g)[-1] and "I will ask" not in phone(g)[-1]
            assert await is_pending(g, id)

    async def test_law_6_a_deadline_is_not_put_off(self, database: Database) -> None:
        async with gateway(database) as g:
            id = await ask(g, expires_in=HOUR, on_expire=OnExpire.NO_RESPONSE)
            await g.types("1001", "snooze 2h")
            assert phone(g)[-1] == "This closes at 13:00, so I cannot wait that long."
            await g.types("1001", "snooze 30")
            await g.later(HOUR + 1)
            assert (await g.app.reader.interaction(id)).status is InteractionStatus.EXPIRED
            await g.later(10 * HOUR)
            assert reminders(g) == 0

    async def test_a_question_that_stays_open_can_be_put_off_beyond_its_deadline(
        self, database: Database
    ) -> None:
        async with gateway(database, routes=EACH) as g:
            id = await ask(g, expires_in=HOUR, on_expire=OnExpire.LEAVE)
            await g.types("1001", "snooze 3h")
            await g.later(2 * HOUR)
            assert (await g.app.reader.interaction(id)).overdue_at is not None
            assert (reminders(g, "1001"), reminders(g, "2002")) == (0, 0)
            await g.types("2002", "snooze 2h")  # it is overdue already
            await g.later(HOUR + 1)
            assert (reminders(g, "1001"), reminders(g, "2002")) == (1, 0)
            await g.later(HOUR + 1)
            assert (reminders(g, "1001"), reminders(g, "2002")) == (1, 1)
            events = [event.event for event in (await g.app.historian.of(id)).events]
            assert events.count("overdue") == 1
            await g.types("1001", "at last")
            assert not await is_pending(g, id)

    async def test_meanwhile_reminders_go_to_the_others_only(self, database: Database) -> None:
        async with gateway(database, routes=EACH) as g:
            await ask(g)
            await g.types("1001", "snooze 2h")
            await g.later(31 * MINUTE)
            assert (reminders(g, "1001"), reminders(g, "2002")) == (0, 1)
            await g.later(90 * MINUTE)
            assert (reminders(g, "1001"), reminders(g, "2002")) == (1, 1)

    async def test_two_people_put_it_off_each_for_themselves(self, database: Database) -> None:
        async with gateway(database, routes=EACH) as g:
            await ask(g)
            await g.types("1001", "snooze 3h")
            await g.types("2002", "snooze 1h")
            await g.types("1001", "snooze 2h")  # the last word counts
            seen = []
            for _ in range(4):
                await g.later(HOUR + 1)
                seen.append((reminders(g, "1001"), reminders(g, "2002")))
            assert seen == [(0, 1), (1, 1), (1, 1), (1, 1)]

    async def test_once_it_is_answered_nobody_is_asked_again(self, database: Database) -> None:
        async with gateway(database, routes=EACH) as g:
            await ask(g)
            await g.types("1001", "snooze 20")
            await g.types("2002", "this one")
            await g.later(10 * HOUR)
            assert (reminders(g, "1001"), reminders(g, "2002")) == (0, 0)

    async def test_what_fell_due_while_the_gateway_was_down_comes_once(self, database: Database) -> None:
        async with gateway(database, routes=EACH) as g:
            await ask(g)
            await g.types("1001", "snooze 20")
            clock, memory = g.clock, g.memory
        clock.advance(10 * HOUR)
        async with gateway(database, routes=EACH, clock=clock, providers={"memory": memory}) as g:
            await g.sweep()
            assert (reminders(g, "1001"), reminders(g, "2002")) == (1, 1)
            await g.later(10 * HOUR)
            assert (reminders(g, "1001"), reminders(g, "2002")) == (1, 1)

    @pytest.mark.parametrize("written", ["30", "30m", "30 M", "30 min", "30 minutes"])
    async def test_minutes_may_be_short(self, database: Database, written: str) -> None:
        async with gateway(database) as g:
            await ask(g)
            await g.types("1001", f"snooze {written}")
            await g.later(31 * MINUTE)
            assert reminders(g) == 1


class TestWhoMaySayIt:
    async def test_law_7_nobody_else_hears_or_moves_anything(self, database: Database) -> None:
        async with gateway(database) as g:
            id = await ask(g, context="A secret reason.")
            asked = g.memory.shown[-1].id
            for who, said in product(("2002", "9999"), ("why", "skip", "snooze 1h")):
                await g.types(who, said, references=[asked])
                await g.types(who, said)
            heard = [*phone(g, "2002"), *phone(g, "9999")]
            assert not any("secret" in title or "ask again" in title for title in heard)
            await g.later(2 * HOUR)
            assert reminders(g) == 0 and await is_pending(g, id)

    async def test_about_what_is_closed_it_says_how_it_ended(self, database: Database) -> None:
        async with gateway(database) as g:
            await ask(g)
            asked = g.memory.shown[-1].id
            await g.types("1001", "the blue one")
            for number, said in enumerate(("why", "skip", "snooze 1h"), start=1):
                await g.types("1001", said, references=[asked])
                assert sum(title.startswith("You answered this at") for title in phone(g)) == number

    async def test_a_word_that_is_one_of_the_choices_is_an_answer(self, database: Database) -> None:
        agent = ScriptedAgent(asks("Go on?", "Go", "Skip"))
        async with gateway(database, agent) as g:
            run = await g.run()
            await g.types("1001", "skip")
            ended = await g.settled(run.id)
        assert (ended.status, ended.result) == (RunStatus.COMPLETED, ["skip"])

    async def test_a_word_with_a_question_mark_is_an_answer(self, database: Database) -> None:
        async with gateway(database) as g:
            id = await ask(g, "Say something.")
            await g.types("1001", "Why?")
            record = await g.app.reader.interaction(id)
            assert record.answer is not None and record.answer.text == "Why?"

    async def test_all_that_help_names_can_be_written(self, database: Database) -> None:
        agent = ScriptedAgent(asks("Which?"))
        async with gateway(database, agent) as g:
            await g.run()
            await g.types("1001", "help")
            listed = phone(g)[-1].partition("write: ")[2].rstrip(".").split(", ")
            assert listed == ["pending", "why", "skip", "snooze 1h", "mute 2h", "stop"]
            for word in listed:
                before = len(phone(g))
                await g.types("1001", word)
                assert len(phone(g)) > before or word == "stop"
        assert agent.journal == []
