"""Voice, photos, documents and videos as answers: kept by reference, fetched when somebody wants them."""

import httpx
import pytest
from pydantic import SecretStr

from answerback.ask import AskRequest
from answerback.cli.site import site
from answerback.model import Question, QuestionKind
from answerback.settings import ApiKey, Limits
from answerback.testing import ScriptedAgent, asks
from answerback_sandbox.telegram import hands
from tests.support.chatting import ANA, Chatting, chatting
from tests.support.databases import Database
from tests.support.described import through

pytestmark = [pytest.mark.needs_extra("telegram"), pytest.mark.either_database]
KEY = "a-key-of-the-tests"
KEYS = {"api_keys": (ApiKey("ops", SecretStr(KEY)),)}
MEGABYTE = 1 << 20


async def get(chat: Chatting, path: str, key: str = KEY) -> httpx.Response:
    headers = {"authorization": f"Bearer {key}"}
    async with through(site(chat.g.app), "http://test", headers=headers) as client:
        return await client.get(path)


async def attached(chat: Chatting) -> list[dict[str, object]]:
    """The files of the one answer there is, as the API tells them."""
    (record,) = (await get(chat, "/v1/interactions?status=completed")).json()["items"]
    return record["answer"]["attachments"]


@pytest.mark.parametrize(
    ("kind", "name", "content_type"),
    [
        ("voice", "voice", "audio/ogg"),
        ("photo", "photo", "image/jpeg"),
        ("document", "plan.pdf", "application/pdf"),
        ("video", "walk.mp4", "video/mp4"),
    ],
)
async def test_a_file_answers_a_question_for_free_text_and_its_bytes_can_be_fetched(
    database: Database, kind: str, name: str, content_type: str
) -> None:
    agent = ScriptedAgent(asks("What does it look like?"))
    async with chatting(database, agent, in_group=False, **KEYS) as chat:
        run = await chat.run()
        hands.send_file(chat.box.world, ANA, kind, b"\x00bytes", name=name)
        await chat.heard()
        assert (await chat.g.settled(run.id)).result == [""]
        (file,) = await attached(chat)
        told = {key: file[key] for key in ("name", "content_type", "size", "provider")}
        assert told == {"name": name, "content_type": content_type, "size": 6, "provider": "telegram"}
        response = await get(chat, str(file["href"]))
        assert (response.status_code, response.content) == (200, b"\x00bytes")
        assert response.headers["content-type"] == content_type
        assert response.headers["content-disposition"] == f"attachment; filename*=UTF-8''{name}"
        assert response.headers["x-content-type-options"] == "nosniff"
    ((_, _, answer),) = agent.journal
    assert [each.name for each in answer.attachments] == [name]


async def test_a_caption_is_the_text_of_the_answer(database: Database) -> None:
    agent = ScriptedAgent(asks("Which?"))
    async with chatting(database, agent, in_group=False, **KEYS) as chat:
        run = await chat.run()
        hands.send_file(chat.box.world, ANA, "photo", b"x", caption="this one")
        await chat.heard()
        assert (await chat.g.settled(run.id)).result == ["this one"]
        assert "You wrote “this one”" in chat.said()[0]
        assert len(await attached(chat)) == 1


async def test_where_files_do_not_reach_the_agent_their_sender_is_told_and_the_caption_counts(
    database: Database,
) -> None:
    agent = ScriptedAgent(Question("q1", "Which?", files=False))
    async with chatting(database, agent, in_group=False, **KEYS) as chat:
        run = await chat.run()
        hands.send_file(chat.box.world, ANA, "voice", b"x")
        await chat.heard()
        assert chat.last().text.startswith("Files do not reach the agent for this question. Please send")
        assert agent.journal == []
        hands.send_file(chat.box.world, ANA, "document", b"x", caption="this one", name="plan.pdf")
        await chat.heard()
        assert (await chat.g.settled(run.id)).result == ["this one"]
        said = chat.said()[0]
        assert said.startswith("✅ You wrote “this one” · ") and "plan.pdf" not in said
        assert "Files do not reach the agent for this question, only the text does." in said
        (file,) = await attached(chat)  # with the record all the same
        assert (await get(chat, str(file["href"]))).content == b"x"


async def test_of_several_questions_a_file_that_would_not_reach_the_agent_answers_none(
    database: Database,
) -> None:
    steps = tuple(Question(id, f"Which {id}?", files=False) for id in ("one", "two"))
    async with chatting(database, ScriptedAgent(), in_group=False) as chat:
        asked = await chat.g.app.asker.ask(AskRequest(steps))
        await chat.g.app.idle()
        hands.send_file(chat.box.world, ANA, "photo", b"x", caption="this one")
        await chat.heard()
        assert chat.last().text.startswith("Files do not reach the agent for this question. Please send")
        for text in ("a", "b"):
            chat.box.type(ANA, text)
            await chat.heard()
        record = await chat.g.app.reader.interaction(asked.interaction.id)
        assert record.answer is not None and record.answer.values == {"one": "a", "two": "b"}


async def test_of_several_questions_a_file_answers_none_and_its_sender_reads_where_it_can_be_sent(
    database: Database,
) -> None:
    """Law 9: nothing is taken without its file. The next photo of an album would answer the next question."""
    steps = tuple(Question(id, f"Which {id}?") for id in ("one", "two"))
    async with chatting(database, ScriptedAgent(), in_group=False) as chat:
        asked = await chat.g.app.asker.ask(AskRequest(steps))
        await chat.g.app.idle()
        for place in (0, 1):
            hands.send_file(chat.box.world, ANA, "photo", b"x", caption="this one")
            await chat.heard()
            assert "which one your file is for is not clear, so it was not taken." in chat.last().text
            assert "The form takes files too: http" in chat.last().text
            chat.box.type(ANA, f"text {place}")
            await chat.heard()
        record = await chat.g.app.reader.interaction(asked.interaction.id)
        assert record.answer is not None and record.answer.values == {"one": "text 0", "two": "text 1"}
        assert record.answer.attachments == ()


async def test_of_several_questions_no_form_is_named_for_a_file_that_it_does_not_take(
    database: Database,
) -> None:
    steps = tuple(Question(id, f"Sure {id}?", QuestionKind.CONFIRM) for id in ("one", "two"))
    async with chatting(database, ScriptedAgent(), in_group=False) as chat:
        await chat.g.app.asker.ask(AskRequest(steps))
        await chat.g.app.idle()
        hands.send_file(chat.box.world, ANA, "photo", b"x", caption="yes")
        await chat.heard()
        assert chat.last().text.startswith("Files do not reach the agent for this question. Please send")


async def test_law_9_a_file_that_came_with_what_was_not_clear_comes_with_the_tap_that_makes_it_so(
    database: Database,
) -> None:
    """Law 9: as with the words that came with it."""
    agent = ScriptedAgent(asks("Sure?", confirm=True))
    async with chatting(database, agent, in_group=False, **KEYS) as chat:
        run = await chat.run()
        hands.send_file(chat.box.world, ANA, "document", b"x", caption="yes but not prod", name="plan.pdf")
        await chat.heard()
        assert "You wrote “yes but not prod”." in chat.last().text
        chat.box.tap(ANA, chat.last().id, 0)
        await chat.heard()
        assert (await chat.g.settled(run.id)).result == [True]
        assert "You chose “Yes”, with plan.pdf · " in chat.said()[0]
        (file,) = await attached(chat)
        assert (await get(chat, str(file["href"]))).content == b"x"
    ((_, _, answer),) = agent.journal
    assert (answer.text, [each.name for each in answer.attachments]) == ("yes but not prod", ["plan.pdf"])


async def test_a_text_for_one_of_two_questions_is_kept_for_the_tap_that_makes_it_clear(
    database: Database,
) -> None:
    """Law 9: asked which one, picked, not clear, tapped: what was written is still known."""
    agent = ScriptedAgent(asks("Sure?", confirm=True))
    async with chatting(database, agent, in_group=False) as chat:
        first, _ = await chat.run(), await chat.run()
        hands.send_file(chat.box.world, ANA, "document", b"x", caption="yes but not prod", name="plan.pdf")
        for _ in ("which", "sure"):
            await chat.heard()
            chat.box.tap(ANA, chat.last().id, 0)
        await chat.heard()
        assert (await chat.g.settled(first.id)).result == [True]
    ((_, _, answer),) = agent.journal
    assert (answer.text, [each.name for each in answer.attachments]) == ("yes but not prod", ["plan.pdf"])


async def test_a_file_alone_decides_no_other_question(database: Database) -> None:
    async with chatting(database, ScriptedAgent(asks("Sure?", confirm=True)), in_group=False) as chat:
        run = await chat.run()
        hands.send_file(chat.box.world, ANA, "voice", b"yes")
        await chat.heard()
        assert "I found no answer in your message" in chat.last().text
        hands.send_file(chat.box.world, ANA, "photo", b"x", caption="yes")
        await chat.heard()
        assert (await chat.g.settled(run.id)).result == [True]


async def test_a_file_that_could_be_for_two_questions_is_kept_until_its_sender_says_for_which(
    database: Database,
) -> None:
    agent = ScriptedAgent(asks("Which?"))
    async with chatting(database, agent, in_group=False, **KEYS) as chat:
        first, _ = await chat.run(), await chat.run()
        hands.send_file(chat.box.world, ANA, "document", b"x", name="plan.pdf")
        await chat.heard()
        assert "Which one is “plan.pdf” for?" in chat.last().text
        chat.box.tap(ANA, chat.last().id, 0)
        await chat.heard()
        assert (await chat.g.settled(first.id)).result == [""]
        assert [file["name"] for file in await attached(chat)] == ["plan.pdf"]


async def test_a_file_above_the_limit_is_refused(database: Database) -> None:
    limits = Limits(attachment_bytes=10)
    async with chatting(
        database, ScriptedAgent(asks("Which?")), in_group=False, limits=limits, **KEYS
    ) as chat:
        await chat.run()
        sent = hands.send_file(chat.box.world, ANA, "voice", b"x" * 11)
        await chat.heard()
        (file,) = await attached(chat)
        response = await get(chat, str(file["href"]))
        assert (response.status_code, response.json()["code"]) == (413, "too-large")
        assert "attachment_bytes" in response.json()["detail"]
        assert sent.file is not None


async def test_a_file_that_telegram_gives_to_no_bot_is_said_to_be_too_large_for_telegram(
    database: Database,
) -> None:
    limits = Limits(attachment_bytes=100 * MEGABYTE)
    async with chatting(
        database, ScriptedAgent(asks("Which?")), in_group=False, limits=limits, **KEYS
    ) as chat:
        await chat.run()
        hands.send_file(chat.box.world, ANA, "video", bytes(20 * MEGABYTE + 1))
        await chat.heard()
        (file,) = await attached(chat)
        response = await get(chat, str(file["href"]))
        assert (response.status_code, response.json()["code"]) == (410, "gone")
        assert "at most 20 MB" in response.json()["detail"]


async def test_a_file_that_is_not_there_any_more_is_gone_and_one_that_never_was_is_not_found(
    database: Database,
) -> None:
    async with chatting(database, ScriptedAgent(asks("Which?")), in_group=False, **KEYS) as chat:
        await chat.run()
        hands.send_file(chat.box.world, ANA, "voice", b"x")
        await chat.heard()
        (file,) = await attached(chat)
        chat.box.world.files.clear()
        assert (await get(chat, str(file["href"]))).status_code == 410
        other = str(file["href"]).removesuffix("0")
        assert (await get(chat, f"{other}1")).status_code == 404
        assert (await get(chat, f"{other}-1")).status_code == 422
        assert (await get(chat, str(file["href"]), key="guessed")).status_code == 401
