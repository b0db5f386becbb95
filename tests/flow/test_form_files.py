"""Files that came with a form: bound to their answer, handed out by the API, kept as long as it is."""

import pytest

from answerback.ask import AskRequest
from answerback.errors import AlreadyAnswered, DoesNotFit
from answerback.model import Attachment, Question, QuestionKind
from answerback.settings import Limits
from answerback.testing import ScriptedAgent, asks
from answerback.uploads import Upload
from tests.flow.test_attachments import KEYS, get
from tests.flow.test_erasing import everything
from tests.support.databases import Database
from tests.support.gateway import Gateway, gateway

pytestmark = pytest.mark.either_database

PHOTO = Upload("photo.jpg", "image/jpeg", b"\xff\xd8\x00jpeg")
EMPTY = Upload("nothing.txt", "text/plain", b"")
DAY = 86_400.0


async def asked(g: Gateway, *questions: Question) -> tuple[str, str]:
    """The id of a question, and the token of its link."""
    found = await g.app.asker.ask(AskRequest(questions or (asks("What does it look like?"),)))
    await g.app.idle()
    return found.interaction.id, found.form_url.rpartition("/")[2]


async def test_they_come_with_the_answer_and_can_be_fetched(database: Database) -> None:
    async with gateway(database, ScriptedAgent(), **KEYS) as g:
        id, token = await asked(g)
        await g.app.forms.submit(token, {"q1": "like this"}, text="like this", files=(PHOTO, EMPTY))
        record = await get(g, f"/v1/interactions/{id}")
        told = record.json()["answer"]["attachments"]
        assert [(each["name"], each["content_type"], each["size"]) for each in told] == [
            ("photo.jpg", "image/jpeg", 7),
            ("nothing.txt", "text/plain", 0),
        ]
        found = [await get(g, each["href"]) for each in told]
        assert [each.content for each in found] == [PHOTO.content, b""]
        assert found[0].headers["content-disposition"] == "attachment; filename*=UTF-8''photo.jpg"
        assert found[0].headers["content-security-policy"] == "sandbox"


async def test_an_agent_gets_them_and_whoever_sent_them_reads_that_they_arrived(database: Database) -> None:
    agent = ScriptedAgent(asks("What does it look like?"))
    async with gateway(database, agent) as g:
        run = await g.run()
        (id,) = run.interactions
        token = g.memory.given[-1].form_url.rpartition("/")[2]
        await g.app.forms.submit(token, {"q1": ""}, files=(PHOTO,))
        await g.app.idle()
        ((_, _, answer),) = agent.journal
        (file,) = answer.attachments
        assert (answer.values, file.name, file.provider) == ({"q1": ""}, "photo.jpg", "form")
        assert file.href == f"/v1/interactions/{id}/attachments/0"
        outcome, _ = g.memory.titles("1001")[-2:]
        assert outcome.startswith("✅ You answered, with photo.jpg")


async def test_files_alone_answer_a_question_for_a_text_and_no_other(database: Database) -> None:
    number = Question("q1", "How many?", QuestionKind.NUMBER)
    async with gateway(database, ScriptedAgent()) as g:
        _, token = await asked(g, number)
        with pytest.raises(DoesNotFit):
            await g.app.forms.submit(token, {"q1": ""}, files=(PHOTO,))
        with pytest.raises(DoesNotFit):
            await g.app.forms.submit(token, {}, files=(PHOTO,))
        assert (await everything(g))["reply"] == []
        _, token = await asked(g)
        with pytest.raises(DoesNotFit):
            await g.app.forms.submit(token, {"q1": ""})
        view = await g.app.forms.submit(token, {}, files=(PHOTO,))
        assert view.interaction.answer is not None and view.interaction.answer.values == {"q1": ""}


async def test_files_alone_answer_nothing_where_they_do_not_reach_the_agent(database: Database) -> None:
    async with gateway(database, ScriptedAgent()) as g:
        id, token = await asked(g, Question("q1", "Which term?", files=False))
        record = await g.app.reader.interaction(id)
        assert [each.files for each in record.questions] == [False]
        with pytest.raises(DoesNotFit):
            await g.app.forms.submit(token, {"q1": ""}, files=(PHOTO,))
        assert (await everything(g))["reply"] == []


async def test_law_3_files_are_kept_with_their_answer_or_not_at_all(database: Database) -> None:
    async with gateway(database, ScriptedAgent(), limits=Limits(answer_bytes=100)) as g:
        _, token = await asked(g)
        with pytest.raises(DoesNotFit):
            await g.app.forms.submit(token, {"q1": "x" * 200}, text="x" * 200, files=(PHOTO,))
        assert (await everything(g))["reply"] == []


async def test_law_2_what_comes_too_late_brings_no_files_to_the_answer(database: Database) -> None:
    async with gateway(database, ScriptedAgent(), **KEYS) as g:
        id, token = await asked(g)
        await g.app.forms.submit(token, {"q1": "first"}, text="first")
        with pytest.raises(AlreadyAnswered):
            await g.app.forms.submit(token, {"q1": "second"}, text="second", files=(PHOTO,))
        assert (await get(g, f"/v1/interactions/{id}")).json()["answer"]["attachments"] == []
        assert (await get(g, f"/v1/interactions/{id}/attachments/0")).status_code == 404


async def test_a_file_of_one_answer_is_not_reached_through_another(database: Database) -> None:
    async with gateway(database, ScriptedAgent(), **KEYS) as g:
        _, token = await asked(g)
        await g.app.forms.submit(token, {}, files=(PHOTO,))
        other, token = await asked(g)
        await g.app.forms.submit(token, {"q1": "no files"}, text="no files")
        assert (await get(g, f"/v1/interactions/{other}/attachments/0")).status_code == 404


async def test_they_are_erased_with_their_answer(database: Database) -> None:
    async with gateway(database, ScriptedAgent(), retention=30 * DAY, **KEYS) as g:
        id, token = await asked(g)
        view = await g.app.forms.submit(token, {}, files=(PHOTO,))
        assert view.interaction.answer is not None
        await g.later(31 * DAY)
        await g.app.eraser.sweep()
        assert [row["raw"] for row in (await everything(g))["reply"]] == [b""]
        assert (await get(g, f"/v1/interactions/{id}/attachments/0")).status_code == 404
        assert all(isinstance(each, Attachment) for each in view.interaction.answer.attachments)
