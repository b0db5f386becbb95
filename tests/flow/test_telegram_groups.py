"""Telegram groups: everybody reads a question there, and only the person who was asked decides."""

import json

import pytest
from sqlalchemy import select

from answerback.ask import AskRequest
from answerback.model import Question, QuestionKind, RunStatus
from answerback.settings import Route
from answerback.store import contacts, replies
from answerback.store.query import Query
from answerback.testing import ScriptedAgent, asks
from answerback.wording import is_private
from answerback_sandbox import ChatKind
from answerback_sandbox.telegram import hands
from tests.support.chatting import ANA, BEN, PUBLIC, chatting
from tests.support.databases import Database

pytestmark = [pytest.mark.needs_extra("telegram"), pytest.mark.either_database]
CHOICE = asks("Which term?", "coding", "costing")


async def test_a_question_in_a_group_says_whom_it_is_for_and_how_to_write_and_carries_no_link(
    database: Database,
) -> None:
    async with chatting(database, ScriptedAgent(CHOICE)) as chat:
        await chat.run()
        question = chat.last(chat.group.id)
        assert "For Ana. To answer in writing, reply to this message." in question.text
        assert [button.text for button in question.buttons] == ["coding", "costing"]
        assert PUBLIC not in question.text + "".join(button.url or "" for button in question.buttons)


async def test_in_a_group_only_the_person_asked_decides_and_another_hears_whose_question_it_is(
    database: Database,
) -> None:
    agent = ScriptedAgent(CHOICE)
    async with chatting(database, agent) as chat:
        run = await chat.run()
        asked = chat.last(chat.group.id).id
        chat.box.tap(BEN, asked, "costing", chat.group.id)
        await chat.heard()
        assert await chat.status(run) is RunStatus.WAITING
        assert chat.toasts(BEN) == ["This question is for Ana."]
        chat.box.tap(ANA, asked, "coding", chat.group.id)
        await chat.heard()
        assert (await chat.g.settled(run.id)).result == ["coding"]
        assert chat.said(chat.group.id)[0].startswith("✅ Ana chose “coding” on Telegram")
    assert [answer.by for _, _, answer in agent.journal] == ["ana"]


TWO = {"default": Route("default", ask=("ana", "ben"), providers=("telegram",))}


@pytest.mark.parametrize("by", ["a tap", "a reply"])
async def test_of_two_who_are_asked_in_the_group_each_may_use_the_others_copy(
    database: Database, by: str
) -> None:
    agent = ScriptedAgent(CHOICE)
    async with chatting(database, agent, routes=TWO) as chat:
        run = await chat.run()
        copies = {text.text.split(". ")[0][-3:]: text.id for text in chat.box.received(ANA, chat.group.id)}
        if by == "a tap":
            chat.box.tap(ANA, copies["Ben"], "coding", chat.group.id)
        else:
            chat.box.type(ANA, "coding", copies["Ben"], chat.group.id)
        await chat.heard()
        assert (await chat.g.settled(run.id)).result == ["coding"]
        assert all(text.startswith("✅ Ana chose “coding”") for text in chat.said(chat.group.id)[:2])
    assert [answer.by for _, _, answer in agent.journal] == ["ana"]


async def test_law_7_what_one_of_them_wrote_is_not_given_by_the_tap_of_another(database: Database) -> None:
    agent = ScriptedAgent(CHOICE)
    async with chatting(database, agent, routes=TWO) as chat:
        run, other = await chat.run(), await chat.run()
        chat.box.type(BEN, f"@{chat.box.world.username} costing", None, chat.group.id)
        await chat.heard()
        listed = chat.last(chat.group.id)
        assert "Which one is “costing” for?" in listed.text
        chat.box.tap(ANA, listed.id, listed.buttons[0].text, chat.group.id)
        await chat.heard()
        assert chat.toasts(ANA) == ["This question is for Ben."]
        assert [await chat.status(each) for each in (run, other)] == [RunStatus.WAITING] * 2
        assert agent.journal == []
        chat.box.tap(BEN, listed.id, listed.buttons[0].text, chat.group.id)
        await chat.heard()
    assert [(answer.by, answer.text) for _, _, answer in agent.journal] == [("ben", "costing")]


async def test_another_person_of_the_group_who_writes_hears_whose_question_it_is(database: Database) -> None:
    async with chatting(database, ScriptedAgent(CHOICE)) as chat:
        run = await chat.run()
        asked = chat.last(chat.group.id).id
        for _ in range(2):  # and only once
            chat.box.type(BEN, "costing", asked, chat.group.id)
            await chat.heard()
        assert await chat.status(run) is RunStatus.WAITING
        assert [text for text in chat.said(chat.group.id) if "is for" in text] == [
            "Ben:\nThis question is for Ana."
        ]


async def test_a_stranger_in_a_group_is_never_written_to(database: Database) -> None:
    async with chatting(database, ScriptedAgent(CHOICE), privacy=False) as chat:
        chat.box.add_person(6666, "Mallory")
        chat.group.members = (*chat.group.members, 6666)
        run = await chat.run()
        asked = chat.last(chat.group.id)
        chat.box.type(6666, "costing", asked.id, chat.group.id)
        chat.box.tap(6666, asked.id, "costing", chat.group.id)
        await chat.heard()
        assert await chat.status(run) is RunStatus.WAITING
        assert (len(chat.said(chat.group.id)), chat.said(person=6666)) == (1, [])
        assert chat.toasts(6666) == ["This question is for Ana."]


async def test_a_reply_to_the_question_is_an_answer_in_a_group_too(database: Database) -> None:
    async with chatting(database, ScriptedAgent(asks("Which?"))) as chat:
        run = await chat.run()
        chat.box.type(ANA, "this one", chat.last(chat.group.id).id, chat.group.id)
        await chat.heard()
        assert (await chat.g.settled(run.id)).result == ["this one"]


async def test_what_people_say_to_each_other_in_a_group_is_no_answer_and_no_command(
    database: Database,
) -> None:
    async with chatting(database, ScriptedAgent(asks("Which?")), privacy=False) as chat:
        run = await chat.run()
        own = chat.box.type(BEN, "shall we?", None, chat.group.id)
        for text, reply_to in (("yes, later", None), ("stop", None), ("help", None), ("sure", own.id)):
            chat.box.type(ANA, text, reply_to, chat.group.id)
        await chat.heard()
        assert await chat.status(run) is RunStatus.WAITING
        assert len(chat.said(chat.group.id)) == 1


async def test_what_people_say_to_each_other_in_a_group_is_not_kept(database: Database) -> None:
    async with chatting(database, ScriptedAgent(asks("Which?")), privacy=False) as chat:
        await chat.run()
        chat.box.type(ANA, "between you and me", None, chat.group.id)
        chat.box.type(ANA, "this one", chat.last(chat.group.id).id, chat.group.id)
        await chat.heard()
        kept = await chat.g.app.context.store.read(lambda tx: tx.all(Query(select(replies.R.c.raw))))
        raw = b"".join(bytes(row["raw"]) for row in kept)
        assert b"this one" in raw
        assert b"between you and me" not in raw


async def test_calling_the_bot_by_its_name_answers_and_the_name_is_kept_but_not_read(
    database: Database,
) -> None:
    agent = ScriptedAgent(asks("Sure?", confirm=True))
    async with chatting(database, agent) as chat:
        run = await chat.run()
        text = f"@{chat.box.world.username} yes"
        chat.box.type(ANA, text, None, chat.group.id)
        await chat.heard()
        assert (await chat.g.settled(run.id)).result == [True]
    assert [answer.text for _, _, answer in agent.journal] == [text]


async def test_a_command_for_another_bot_is_not_ours_and_one_with_our_name_is(database: Database) -> None:
    async with chatting(database, ScriptedAgent(asks("Which?")), privacy=False) as chat:
        run = await chat.run()
        chat.box.type(ANA, "/stop@another_bot", None, chat.group.id)
        await chat.heard()
        assert await chat.status(run) is RunStatus.WAITING
        chat.box.type(ANA, f"/stop@{chat.box.world.username}", None, chat.group.id)
        await chat.heard()
        assert await chat.status(run) is RunStatus.CANCELLED


@pytest.mark.parametrize("sensitive", [True, False])
async def test_what_others_must_not_see_or_cannot_be_answered_there_goes_to_the_persons_own_chat(
    database: Database, sensitive: bool
) -> None:
    questions = (Question("q1", "The salary?"), *([] if sensitive else [Question("q2", "And the day?")]))
    async with chatting(database) as chat:
        await chat.g.app.asker.ask(AskRequest(questions, sensitive=sensitive))
        await chat.g.app.idle()
        assert chat.said(chat.group.id) == []
        (button,) = chat.last().buttons
        assert button.url is not None and button.url.startswith(f"{PUBLIC}/f/")


async def test_a_link_or_a_code_that_is_asked_for_in_a_group_goes_to_the_persons_own_chat(
    database: Database,
) -> None:
    review = Question("q1", "Go?", QuestionKind.REVIEW, decisions=("approve", "reject", "edit"))
    async with chatting(database, form_auth="code") as chat:
        asked = await chat.g.app.asker.ask(AskRequest((review,)))
        await chat.g.app.idle()
        question = chat.last(chat.group.id)
        assert all(button.url is None for button in question.buttons)
        chat.box.tap(ANA, question.id, "Change…", chat.group.id)
        await chat.heard()
        assert len(chat.said(chat.group.id)) == 1
        (link,) = (button.url for button in chat.last().buttons if button.url is not None)
        token = link.removeprefix(f"{PUBLIC}/f/")
        assert token not in asked.form_url
        await chat.g.app.forms.send_code(token)
        await chat.g.app.idle()
        assert "Your code is" in chat.last().text
        assert len(chat.said(chat.group.id)) == 1


async def test_how_a_run_ended_is_opened_in_the_persons_own_chat_and_tried_again_by_them_alone(
    database: Database,
) -> None:
    async with chatting(database, ScriptedAgent(asks("Which?"))) as chat:
        run = await chat.run()
        chat.box.type(ANA, "fail", chat.last(chat.group.id).id, chat.group.id)
        await chat.heard()
        assert await chat.status(run) is RunStatus.FAILED
        ended = chat.last(chat.group.id)
        assert [(button.text, button.url) for button in ended.buttons] == [
            ("Open", None),
            ("Try again", None),
        ]
        assert PUBLIC not in "".join(chat.said(chat.group.id))
        for label in ("Open", "Try again"):
            chat.box.tap(BEN, ended.id, label, chat.group.id)
        await chat.heard()
        assert chat.toasts(BEN) == ["This is for Ana."] * 2
        assert await chat.status(run) is RunStatus.FAILED
        chat.box.tap(ANA, ended.id, "Open", chat.group.id)
        await chat.heard()
        said, _, link = chat.last().text.partition(": ")
        assert said == "More here"
        token = link.removeprefix(f"{PUBLIC}/f/")
        assert (await chat.g.app.endings.view(token)).status is RunStatus.FAILED
        assert PUBLIC not in "".join(chat.said(chat.group.id))
        chat.box.tap(ANA, ended.id, "Try again", chat.group.id)
        await chat.heard()
        assert chat.last(chat.group.id).text == "Ana:\nScripted tries it again."
        await chat.g.later(1)
        assert await chat.status(run) is RunStatus.WAITING


async def test_who_never_opened_a_private_chat_is_told_in_the_group_and_finds_the_question_there(
    database: Database,
) -> None:
    routes = {"default": Route("default", ask=("ana",), providers=("telegram",))}
    async with chatting(database, routes=routes) as chat:
        chat.box.world.chats[ANA].started = False
        asked = await chat.g.app.asker.ask(AskRequest((Question("q1", "One?"), Question("q2", "Two?"))))
        await chat.g.app.idle()
        (told,) = chat.said(chat.group.id)
        assert "Ana, I can show this only to you." in told
        assert await chat.unreachable() == {}  # the group still works
        chat.box.press_start(ANA)
        chat.box.type(ANA, "pending")
        await chat.heard()
        (listed,) = (message for message in chat.box.received(ANA) if message.buttons)
        chat.box.tap(ANA, listed.id, "One? (+1)")
        await chat.heard()
        assert "1 of 2\nOne?" in chat.last().text
        for written in ("one", "two"):
            chat.box.type(ANA, written)
            await chat.heard()
        record = await chat.g.app.reader.interaction(asked.interaction.id)
        assert record.answer is not None
        assert record.answer.values == {"q1": "one", "q2": "two"}


async def test_by_its_code_a_question_of_the_group_is_shown_in_private(
    database: Database,
) -> None:
    async with chatting(database, ScriptedAgent(CHOICE)) as chat:
        await chat.run()
        chat.box.press_start(ANA)
        await chat.heard()
        (record,) = (await chat.g.app.reader.interactions()).items
        before = len(chat.said(chat.group.id))
        chat.box.type(ANA, f"#{record.code}")
        await chat.heard()
        assert "Which term?" in chat.last().text
        assert len(chat.said(chat.group.id)) == before


async def test_in_the_group_a_code_answers_nothing_that_was_asked_in_private(database: Database) -> None:
    async with chatting(database, in_group=False, privacy=False) as chat:
        asked = await chat.g.app.asker.ask(AskRequest((Question("q1", "What is your weight?"),)))
        await chat.g.app.idle()
        for written in ("", " 66 kg"):
            chat.box.type(ANA, f"#{asked.interaction.code}{written}", None, chat.group.id)
            await chat.heard()
        assert len(chat.said()) == 1
        assert set(chat.said(chat.group.id)) == {"Ana:\nNothing is waiting for you."}


async def test_a_forwarded_text_decides_nothing_and_its_sender_hears_why(database: Database) -> None:
    async with chatting(database, ScriptedAgent(asks("Which?")), in_group=False) as chat:
        run = await chat.run()
        hands.forward(chat.box.world, ANA, "that one")
        await chat.heard()
        assert await chat.status(run) is RunStatus.WAITING
        assert "You forwarded what somebody else wrote" in chat.last().text
        chat.box.type(ANA, "this one")
        await chat.heard()
        assert (await chat.g.settled(run.id)).result == ["this one"]


async def test_an_edited_text_decides_nothing_and_its_sender_hears_why(database: Database) -> None:
    async with chatting(database, ScriptedAgent(asks("First?"), asks("Second?")), in_group=False) as chat:
        run = await chat.run()
        first = chat.box.type(ANA, "one")
        await chat.heard()
        hands.edit(chat.box.world, first, "changed")
        await chat.heard()
        assert await chat.status(run) is RunStatus.WAITING
        assert "Editing a message changes nothing here" in chat.last().text
        chat.box.type(ANA, "two")
        await chat.heard()
        assert (await chat.g.settled(run.id)).result == ["one", "two"]


async def test_who_writes_as_the_group_or_as_a_channel_decides_nothing_and_hears_why(
    database: Database,
) -> None:
    async with chatting(database, ScriptedAgent(asks("Which?"))) as chat:
        run = await chat.run()
        asked, world = chat.last(chat.group.id).id, chat.box.world
        for as_chat in (chat.group.id, -1_009_000_000_001):
            chat.g.clock.advance(61)
            hands.write_as(world, ANA, as_chat, "this one", chat_id=chat.group.id, reply_to=asked)
            await chat.heard()
        assert await chat.status(run) is RunStatus.WAITING
        assert sum("I cannot see who you are" in text for text in chat.said(chat.group.id)) == 2


async def test_what_a_channel_posts_is_nobodys_answer(database: Database) -> None:
    async with chatting(database, ScriptedAgent(asks("Which?")), in_group=False) as chat:
        run = await chat.run()
        hands.post(chat.box.world, "this one")
        await chat.heard()
        assert await chat.status(run) is RunStatus.WAITING
        assert len(chat.said()) == 1


@pytest.mark.parametrize("told", [True, False])
async def test_a_group_that_becomes_a_supergroup_takes_everything_with_it(
    database: Database, told: bool
) -> None:
    agent = ScriptedAgent(CHOICE, asks("Sure?", confirm=True))
    async with chatting(database, agent, kind=ChatKind.BASIC) as chat:
        run = await chat.run()
        asked = chat.last(chat.group.id)
        if not told:  # the next message finds out
            chat.box.world.updates.allowed = ("callback_query",)
        new = hands.upgrade(chat.box.world, chat.group.id)
        await chat.heard()
        chat.box.tap(ANA, asked.id, "coding", chat.group.id)  # the old message is still on her phone
        await chat.heard()
        await chat.g.later(1)
        assert "Ana chose “coding”" in "".join(chat.said(new.id))
        (second,) = (message for message in chat.box.received(ANA, new.id) if "Sure?" in message.text)
        chat.box.tap(ANA, second.id, "Yes", new.id)
        await chat.heard()
        assert (await chat.g.settled(run.id)).result == ["coding", True]
        in_file = chat.g.app.settings.contacts.values()  # it has the old number, also at the next start
        await chat.g.app.context.store.write(lambda tx: contacts.configure(tx, in_file))
        people = await chat.g.app.reader.contacts()
        places = {each.place for one in people for each in one.addresses if each.provider == "telegram"}
        assert places == {str(new.id)}


async def test_who_blocked_the_bot_is_asked_on_the_next_provider_at_once_until_they_write_again(
    database: Database,
) -> None:
    async with chatting(database, ScriptedAgent(asks("Which?")), in_group=False) as chat:
        chat.box.world.updates.allowed = ("message",)  # Telegram says nothing of it: sending finds out
        chat.box.block(ANA)
        await chat.run()
        assert chat.g.memory.titles("a") == ["Which?"]
        assert "blocked by the user" in (await chat.unreachable())["telegram"]
        await chat.run()  # and is not tried in vain again
        assert chat.g.memory.titles("a") == ["Which?", "Which?"]
        chat.box.unblock(ANA)
        chat.box.type(ANA, "hello")
        await chat.heard()
        assert await chat.unreachable() == {}
        await chat.run()
        assert "Which?" in chat.last().text


async def test_who_blocks_the_bot_with_a_question_open_is_asked_on_the_next_provider_at_once(
    database: Database,
) -> None:
    async with chatting(database, ScriptedAgent(asks("Which?")), in_group=False) as chat:
        run = await chat.run()
        chat.box.block(ANA)
        await chat.heard()
        assert chat.g.memory.titles("a") == ["Which?"]
        assert await chat.unreachable() == {"telegram": "The person blocked the bot."}
        chat.box.unblock(ANA)
        await chat.heard()
        assert await chat.unreachable() == {}
        chat.box.type(ANA, "here after all")
        await chat.heard()
        assert (await chat.g.settled(run.id)).result == ["here after all"]


@pytest.mark.parametrize("how", ["kicked", "deleted"])
async def test_a_group_that_is_closed_to_the_bot_is_gone_round(database: Database, how: str) -> None:
    async with chatting(database, ScriptedAgent(asks("Which?"))) as chat:
        if how == "kicked":
            chat.box.kick(chat.group.id)
            await chat.heard()
        else:
            chat.group.started = False
        await chat.run()
        assert chat.g.memory.titles("a") == ["Which?"]
        assert "telegram" in await chat.unreachable()


async def test_writing_in_private_does_not_open_a_group_that_is_closed(database: Database) -> None:
    async with chatting(database, ScriptedAgent(asks("Which?"))) as chat:
        chat.box.kick(chat.group.id)
        chat.box.type(ANA, "hello")
        await chat.heard()
        assert "telegram" in await chat.unreachable()


async def test_with_no_other_way_an_address_that_did_not_work_is_tried_again(database: Database) -> None:
    routes = {"default": Route("default", ask=("ana",), providers=("telegram",))}
    async with chatting(database, ScriptedAgent(asks("Which?")), in_group=False, routes=routes) as chat:
        chat.box.block(ANA)
        await chat.heard()
        chat.box.world.updates.allowed = ("message",)
        chat.box.unblock(ANA)
        await chat.run()
        assert "Which?" in chat.last().text


def test_law_7_a_notice_with_a_link_is_for_its_person_only_and_not_for_a_group() -> None:
    def notice(**content: object) -> dict[str, object]:
        return {"kind": "notice", "content": json.dumps({"text": "Deployed.", **content})}

    assert is_private(notice(sensitive=True), None)
    assert is_private(notice(text="x" * 1001), None)
    assert not is_private(notice(), None)


async def test_in_private_somebody_sees_what_waits_for_them_in_the_group(database: Database) -> None:
    async with chatting(database, ScriptedAgent(CHOICE)) as chat:
        run = await chat.run()
        chat.box.press_start(ANA)
        await chat.heard()
        chat.box.type(ANA, "pending")
        await chat.heard()
        assert (chat.last().text, [b.text for b in chat.last().buttons]) == (
            "One question is open.",
            ["Which term?"],
        )
        for written in ("coding", "costing"):  # it stands nowhere here, so it is asked about
            chat.box.type(ANA, written)
            await chat.heard()
            assert chat.last().text == f"I am not sure what “{written}” is for. Is it this question?"
        assert await chat.status(run) is RunStatus.WAITING
        chat.box.tap(ANA, chat.last().id, "Which term?")
        await chat.heard()
        assert (await chat.g.settled(run.id)).result == ["costing"]
        assert chat.said(chat.group.id)[0].startswith("✅ Ana chose “costing” on Telegram")


async def test_law_7_in_private_nobody_sees_what_waits_for_another_of_the_group(database: Database) -> None:
    async with chatting(database, ScriptedAgent(CHOICE)) as chat:
        run = await chat.run()
        chat.box.press_start(BEN)
        await chat.heard()
        (record,) = (await chat.g.app.reader.interactions()).items
        for written in ("pending", "coding", f"#{record.code}", f"#{record.code} coding"):
            chat.box.type(BEN, written)
            await chat.heard()
        assert {m.text for m in chat.box.received(BEN)[1:]} == {"Nothing is waiting for you."}
        assert await chat.status(run) is RunStatus.WAITING
