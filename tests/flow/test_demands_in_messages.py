"""Law 8 over the real clients: what does not fit is told where it was written, and the next answer counts."""

import pytest

from answerback.ask import AskRequest
from answerback.model import RunStatus
from answerback.run import RunRequest
from answerback.testing import ScriptedAgent
from answerback_sandbox import Sandbox
from answerback_sandbox.mail.state import Letter
from tests.flow.test_demands import CODE, HINT, PAIRS
from tests.support.chatting import ANA, chatting
from tests.support.databases import Database
from tests.support.mailing import ANA as POST
from tests.support.mailing import gateway as mailing

pytestmark = [pytest.mark.needs_extra("telegram", "email"), pytest.mark.either_database]


async def test_a_person_on_telegram_is_told_what_is_wrong_and_answers_again(database: Database) -> None:
    async with chatting(database, ScriptedAgent(CODE), in_group=False) as chat:
        run = await chat.run()
        assert HINT in chat.last(ANA).text
        chat.box.type(ANA, "kqz")
        await chat.heard()
        assert "“kqz” does not fit. Write exactly 4 characters." in chat.last(ANA).text
        assert await chat.status(run) is RunStatus.WAITING
        chat.box.type(ANA, "KQZX")
        await chat.heard()
        assert (await chat.g.settled(run.id)).result == ["KQZX"]


async def test_on_telegram_each_of_several_is_checked_as_it_is_answered(database: Database) -> None:
    async with chatting(database, ScriptedAgent(), in_group=False) as chat:
        asked = await chat.g.app.asker.ask(AskRequest((CODE, PAIRS)))
        await chat.heard()
        for text, heard in [
            ("kqzx", "“kqzx” does not fit. Write it like KQZX."),
            ("KQZX", "How many?"),
            ("7", "“7” does not fit. Write a multiple of 2."),
        ]:
            chat.box.type(ANA, text)
            await chat.heard()
            assert any(heard in said for said in chat.said()[-2:])
        chat.box.type(ANA, "8")
        await chat.heard()
        record = await chat.g.app.reader.interaction(asked.interaction.id)
        assert record.answer is not None and record.answer.values == {"q1": "KQZX", "q3": 8}


async def test_by_mail_the_reply_to_what_was_wrong_is_the_answer(database: Database) -> None:
    agent = ScriptedAgent(CODE)
    async with Sandbox.start() as box, mailing(database, box, agent) as app:
        run = await app.runner.start(RunRequest("scripted", {}))

        async def hears(words: str) -> Letter:
            found = await box.wait_for(lambda: [m for m in box.mail.received(POST) if words in m.text], 30.0)
            return found[0]

        question = await hears(HINT)
        box.mail.reply(POST, question.message_id, "kqzx", "gmail")
        again = await hears("“kqzx” does not fit. Write it like KQZX.")
        assert agent.journal == []
        box.mail.reply(POST, again.message_id, "KQZX", "apple")
        await hears("You wrote “KQZX”")
        await app.idle()
        assert (await app.runner.get(run.id)).result == ["KQZX"]
