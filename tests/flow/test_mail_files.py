"""Files that come with a mail: an answer has them, and their bytes come out of the mail that was stored."""

import asyncio
import json
import os
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import httpx
import pytest
from pydantic import SecretStr
from sqlalchemy import update

from answerback.app import App
from answerback.cli.site import site
from answerback.model import RunStatus
from answerback.run import RunRequest
from answerback.settings import ApiKey, Limits
from answerback.store.query import Query
from answerback.tables import ReplyRow
from answerback.testing import ScriptedAgent, asks
from answerback_sandbox import Sandbox
from answerback_sandbox.mail.state import File, Letter
from tests.support.databases import Database
from tests.support.described import through
from tests.support.mailing import ANA, gateway
from tests.support.programs import Program
from tests.support.serving import served

pytestmark = [pytest.mark.needs_extra("email"), pytest.mark.either_database]
KEY = "a-key-of-the-tests"
PATIENCE = 30.0
PLAN = File("Plan für „Nord“.pdf", "application/pdf", bytes(range(256)) * 40)
PHOTO = File("photo.jpg", "image/jpeg", b"\xff\xd8 a photo" * 1000)  # more than a logo has
R = ReplyRow.__table__  # type: ignore[attr-defined]


@dataclass(slots=True)
class Post:
    """Ana was asked by mail, in a text, what something looks like."""

    app: App
    box: Sandbox
    run_id: str
    agent: ScriptedAgent

    async def hears(self, words: str) -> Letter:
        """The next mail to Ana that says so."""
        return (await self.box.wait_for(lambda: self._found(words), PATIENCE))[0]

    def _found(self, words: str) -> list[Letter]:
        return [mail for mail in self.box.mail.received(ANA) if words in mail.text]

    async def sends(self, text: str, *files: File, style: str = "gmail") -> None:
        question = await self.hears("What does it look like?")
        self.box.mail.reply(ANA, question.message_id, text, style, files)

    async def answered(self) -> dict[str, Any]:
        """The answer, as the API tells it, once the run has ended."""
        async with asyncio.timeout(PATIENCE):
            while (await self.app.runner.get(self.run_id)).status is not RunStatus.COMPLETED:  # noqa: ASYNC110
                await asyncio.sleep(0.01)
        (record,) = (await self.get("/v1/interactions?status=completed")).json()["items"]
        return record["answer"]

    async def get(self, path: str) -> httpx.Response:
        headers = {"authorization": f"Bearer {KEY}"}
        async with through(site(self.app), "http://t", headers=headers) as client:
            return await client.get(path)


@asynccontextmanager
async def asked(database: Database, **more: Any) -> AsyncIterator[Post]:
    agent = ScriptedAgent(asks("What does it look like?"))
    more["api_keys"] = (ApiKey("ops", SecretStr(KEY)),)
    async with Sandbox.start() as box, gateway(database, box, agent, **more) as app:
        run = await app.runner.start(RunRequest("scripted", {}))
        yield Post(app, box, run.id, agent)


@pytest.fixture
async def post(database: Database) -> AsyncIterator[Post]:
    async with asked(database) as found:
        yield found


@pytest.mark.parametrize("style", ["gmail", "outlook", "apple"])
async def test_files_come_with_the_answer_and_their_bytes_can_be_fetched(post: Post, style: str) -> None:
    await post.sends("Like this.", PHOTO, PLAN, style=style)
    answer = await post.answered()
    assert answer["text"] == "Like this."
    files = answer["attachments"]
    told = [(file["name"], file["content_type"], file["size"], file["provider"]) for file in files]
    assert told == [
        (PHOTO.name, PHOTO.content_type, len(PHOTO.content), "email"),
        (PLAN.name, PLAN.content_type, len(PLAN.content), "email"),
    ]
    fetched = [(await post.get(str(file["href"]))).content for file in files]
    assert fetched == [PHOTO.content, PLAN.content]
    ((_, _, given),) = post.agent.journal
    assert [file.name for file in given.attachments] == [PHOTO.name, PLAN.name]


async def test_a_photo_as_a_phone_takes_it_is_not_too_large(post: Post) -> None:
    photo = File("photo.jpg", "image/jpeg", bytes(range(256)) * (5 << 12))
    await post.sends("Like this.", photo, style="apple")
    (file,) = (await post.answered())["attachments"]
    assert (await post.get(str(file["href"]))).content == photo.content


async def test_a_file_alone_answers_a_question_for_free_text(post: Post) -> None:
    await post.sends("", PHOTO)
    await post.hears("You answered, with photo.jpg")
    answer = await post.answered()
    assert (answer["text"], len(answer["attachments"])) == ("", 1)


async def test_a_mail_with_a_file_that_is_too_large_is_told_so_and_gets_the_link(post: Post) -> None:
    await post.sends("Like this.", File("film.mov", "video/quicktime", bytes(7 << 20)))
    said = await post.hears("a file in it is too large")
    assert "https://ask.example.org/f/" in said.text
    assert (await post.app.runner.get(post.run_id)).status is RunStatus.WAITING


async def test_a_file_of_a_mail_that_is_not_kept_any_more_is_gone(post: Post) -> None:
    await post.sends("Like this.", PHOTO)
    (file,) = (await post.answered())["attachments"]
    await post.app.context.store.write(lambda tx: tx.run(Query(update(R).values(raw=b""))))
    response = await post.get(str(file["href"]))
    assert response.status_code == 410
    assert "The mail that it came in is not kept." in response.text


async def test_the_limit_of_one_file_holds_for_mail_too(database: Database) -> None:
    async with asked(database, limits=Limits(attachment_bytes=9)) as post:
        await post.sends("Like this.", PHOTO)
        (file,) = (await post.answered())["attachments"]
        assert (await post.get(str(file["href"]))).status_code == 413


async def test_the_command_line_tells_of_the_files_and_saves_them(post: Post, tmp_path: Path) -> None:
    await post.sends("Like this.", PLAN, PHOTO, PHOTO)
    await post.answered()
    id = (await post.app.reader.interactions("completed")).items[0].id
    (tmp_path / "here").mkdir()
    (tmp_path / "there").mkdir()
    async with served(post.app) as url:
        shown = await answerback(url, "interactions", "show", id)
        saved = await answerback(url, "interactions", "files", id, str(tmp_path / "here"))
        listed = await answerback(url, "--json", "interactions", "files", id, str(tmp_path / "there"))
        nothing = await answerback(url, "interactions", "files", id, str(tmp_path / "nowhere"))
    assert shown[:2] == (0, "Like this.\n")
    assert f"file 1  photo.jpg  image/jpeg  {len(PHOTO.content)} bytes" in shown[2]
    names = ["Plan für _Nord_.pdf", "photo.jpg", "photo-2.jpg"]
    assert saved[:2] == (0, "".join(f"{tmp_path / 'here' / name}\n" for name in names))
    there = [str(tmp_path / "there" / name) for name in names]
    assert json.loads(listed[1]) == {"folder": str(tmp_path / "there"), "files": there}
    contents = [(tmp_path / "here" / name).read_bytes() for name in names]
    assert contents == [PLAN.content, PHOTO.content, PHOTO.content]
    assert nothing[0] == 2 and "does not exist" in nothing[2]


async def answerback(url: str, *words: str) -> tuple[int | None, str, str]:
    """A command as a process of its own: exit code, output, what it says beside."""
    environ = {**os.environ, "ANSWERBACK_URL": url, "ANSWERBACK_KEY": KEY, "PYTHONUTF8": "1"}
    process = Program("answerback.cli", *words, env=environ, cwd=Path.cwd())
    out, err = await asyncio.to_thread(process.communicate)
    return process.returncode, out, err
