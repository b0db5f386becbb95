"""A question shown once more to whoever asks for it: by its code alone, from a list, or by "?"."""

from dataclasses import replace

import pytest

from answerback.ask import AskRequest
from answerback.model import Choice, InteractionStatus, Question, QuestionKind
from answerback.provider import Message
from answerback.settings import Route
from tests.flow.test_one_by_one import APPROVED, REJECTED, THREE, Chat, newest, values
from tests.support.databases import Database
from tests.support.gateway import ALICE, Gateway, gateway

pytestmark = pytest.mark.either_database
WIPE = Question("q1", "Wipe it?", QuestionKind.CONFIRM)
CITY = Question("q1", "Which city?")
COMPLETED, PENDING = InteractionStatus.COMPLETED, InteractionStatus.PENDING


async def ask(g: Gateway, *questions: Question, **more: object) -> tuple[str, str]:
    """A question's id, and its code as people write it."""
    asked = await g.app.asker.ask(AskRequest(questions, **more))
    await g.app.idle()
    return asked.interaction.id, f"#{asked.interaction.code}"


def messages(g: Gateway) -> list[Message]:
    return [shown.message for shown in g.memory.shown]


async def status(g: Gateway, id: str) -> InteractionStatus:
    return (await g.app.reader.interaction(id)).status


@pytest.mark.parametrize("written", ["{code}", "[{code}]", "{code}?", "  {code} …", "?", "？", "??"])
async def test_it_comes_again_with_its_buttons_and_both_copies_tell_the_outcome(
    database: Database, written: str
) -> None:
    async with gateway(database) as g:
        id, code = await ask(g, WIPE, context="The disk is full.")
        await g.types("1001", written.format(code=code))
        first, again = messages(g)
        assert (again.title, again.body, again.footer) == (first.title, first.body, first.footer)
        assert again.heading.startswith("⏳ Still waiting.")
        await g.taps("1001", "Yes")
        assert await values(g, id) == {"q1": True}
        assert [message.title.startswith("✅ You chose “Yes”") for message in messages(g)] == [True, True]


async def test_from_the_list_of_what_is_open_a_tap_shows_it(database: Database) -> None:
    async with gateway(database) as g:
        id, _ = await ask(g, WIPE)
        await ask(g, CITY)
        await g.types("1001", "pending")
        await g.taps("1001", "Wipe it?")
        assert newest(g).title == "Wipe it?"
        await g.taps("1001", "No")
        assert await values(g, id) == {"q1": False}


async def test_a_code_names_the_one_that_is_shown(database: Database) -> None:
    async with gateway(database) as g:
        _, code = await ask(g, CITY)
        await ask(g, WIPE)
        await g.types("1001", code)
        assert newest(g).title == "Which city?"


async def test_a_mark_without_a_question_that_it_is_for_is_asked_about(database: Database) -> None:
    async with gateway(database) as g:
        first, _ = await ask(g, CITY)
        second, _ = await ask(g, WIPE)
        await g.types("1001", "?")
        assert messages(g)[-1].title == "Two questions are open. Which one is “?” for?"
        await g.taps("1001", "Which city?")
        assert newest(g).title == "Which city?"
        assert [await status(g, each) for each in (first, second)] == [PENDING, PENDING]


async def test_what_says_more_is_an_answer(database: Database) -> None:
    async with gateway(database) as g:
        id, code = await ask(g, CITY)
        await g.types("1001", f"{code} Vienna?")
        assert await values(g, id) == {"q1": "Vienna?"}


async def test_a_choice_that_is_called_so_is_chosen(database: Database) -> None:
    signs = (Choice("a", "?"), Choice("b", "!"))
    async with gateway(database) as g:
        id, code = await ask(g, Question("q1", "Which sign?", QuestionKind.CHOICE, signs))
        await g.types("1001", f"{code} ?")
        assert await values(g, id) == {"q1": "a"}


async def test_it_comes_at_once_to_somebody_who_is_muted_or_ought_to_sleep(database: Database) -> None:
    awake = {"alice": replace(ALICE, quiet_hours="12:30-13:30")}  # it is noon
    async with gateway(database, contacts=awake) as g:
        _, code = await ask(g, CITY)
        await g.later(3600)
        await g.types("1001", code)
        assert [message.title for message in messages(g)] == ["Which city?"] * 2


async def test_the_next_reminder_still_comes(database: Database) -> None:
    reminded = Route("default", ask=("alice",), providers=("memory",), reminders=(600.0,))
    async with gateway(database, routes={"default": reminded}) as g:
        _, code = await ask(g, CITY)
        await g.later(590)
        await g.types("1001", code)
        await g.later(10)
        assert [message.title for message in messages(g)] == ["Which city?"] * 3


async def test_what_one_of_two_wanted_to_see_is_no_reminder_to_the_other(database: Database) -> None:
    """The reminder fell due while nothing looked, and the answer to `?` comes before the look."""
    both = Route("default", ask=("alice", "ben"), providers=("memory",), reminders=(600.0,))
    async with gateway(database, routes={"default": both}) as g:
        _, code = await ask(g, CITY)
        g.clock.advance(700)
        await g.types("1001", code)
        await g.sweep()
        assert [g.memory.titles(who) for who in ("1001", "2002")] == [
            ["Which city?"] * 3,
            ["Which city?"] * 2,
        ]


async def test_of_several_one_by_one_it_is_the_one_that_is_next_and_nothing_is_answered_anew(
    database: Database,
) -> None:
    async with gateway(database, providers={"memory": Chat()}) as g:
        id, code = await ask(g, *THREE)
        await g.taps("1001", "Approve")
        await g.types("1001", code)
        assert (newest(g).title, newest(g).heading.endswith("2 of 3")) == ("wipe", True)
        await g.taps("1001", "Reject")
        assert newest(g).title == "And why?"
        await g.types("1001", "the disk is in use")
        assert await values(g, id) == {"q1": APPROVED, "q2": REJECTED, "q3": "the disk is in use"}


async def test_of_several_one_by_one_a_text_with_the_code_answers_the_one_that_is_next(
    database: Database,
) -> None:
    async with gateway(database, providers={"memory": Chat()}) as g:
        id, code = await ask(g, *THREE)
        for written in ("approve", "reject", "the disk is in use"):
            await g.types("1001", f"{code} {written}")
        assert await values(g, id) == {"q1": APPROVED, "q2": REJECTED, "q3": "the disk is in use"}


async def test_of_several_on_the_form_all_of_them_are_shown_with_its_link(database: Database) -> None:
    async with gateway(database, public_url="https://ask.example.org") as g:
        _, code = await ask(g, CITY, replace(WIPE, id="q2"))
        await g.types("1001", code)
        first, again = messages(g)
        assert (again.title, again.body) == (first.title, first.body)
        assert again.form_url.startswith("https://ask.example.org/f/")


async def test_a_sensitive_one_says_no_more_than_before(database: Database) -> None:
    async with gateway(database, public_url="https://ask.example.org") as g:
        _, code = await ask(g, CITY, sensitive=True)
        await g.types("1001", code)
        first, again = messages(g)
        assert (again.title, again.body) == (first.title, first.body)
        assert "city" not in repr(again)


async def test_of_one_that_is_closed_they_hear_how_it_ended(database: Database) -> None:
    async with gateway(database) as g:
        _, code = await ask(g, CITY)
        await g.types("1001", "Vienna")
        await g.types("1001", code)
        assert messages(g)[-1].title.startswith("You answered this at ")


async def test_law_7_a_code_shows_nothing_to_whom_it_was_not_asked(database: Database) -> None:
    async with gateway(database) as g:
        _, code = await ask(g, CITY)
        await g.types("2002", code)
        assert g.memory.titles("2002") == ["Nothing is waiting for you."]
        assert g.memory.titles("1001") == ["Which city?"]
