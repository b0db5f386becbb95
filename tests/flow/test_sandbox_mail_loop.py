"""The loop by mail against the sandbox: the gateway's real clients, and people's programs that quote."""

import asyncio
from collections.abc import AsyncIterator
from dataclasses import dataclass

import pytest

from answerback.app import App
from answerback.model import Choice, Question, QuestionKind, RunStatus
from answerback.run import RunRequest
from answerback.store import deliveries
from answerback.testing import ScriptedAgent
from answerback_sandbox import FaultKind, Sandbox, ServiceName
from answerback_sandbox.mail.state import Letter
from tests.support.databases import Database
from tests.support.mailing import ANA, gateway

pytestmark = [pytest.mark.needs_extra("email"), pytest.mark.either_database]
QUESTION = Question("q1", "Which term?", QuestionKind.CHOICE, (Choice("a", "coding"), Choice("b", "costing")))
PATIENCE = 30.0


@dataclass(frozen=True, slots=True)
class Post:
    """A gateway whose mail server is the sandbox, where a run has asked Ana."""

    app: App
    box: Sandbox
    run_id: str

    async def hears(self, words: str) -> Letter:
        """The next mail to Ana that says so."""
        found = await self.box.wait_for(lambda: self._found(words), PATIENCE)
        return found[0]

    def _found(self, words: str) -> list[Letter]:
        return [mail for mail in self.box.mail.received(ANA) if words in mail.text]

    async def ends(self) -> None:
        while (await self.app.runner.get(self.run_id)).status is not RunStatus.COMPLETED:  # noqa: ASYNC110
            await asyncio.sleep(0.01)

    async def delivery_statuses(self) -> list[str]:
        (record,) = (await self.app.reader.interactions()).items
        rows = await self.app.context.store.read(lambda tx: tx.all(deliveries.OF, interaction_id=record.id))
        return [row["status"] for row in rows if row["provider"] == "email"]


@pytest.fixture
async def post(database: Database) -> AsyncIterator[Post]:
    async with Sandbox.start() as box, gateway(database, box, ScriptedAgent(QUESTION)) as app:
        run = await app.runner.start(RunRequest("scripted", {}))
        found = Post(app, box, run.id)
        await found.hears("Which term?")
        yield found


async def test_a_reply_in_each_programs_style_is_the_answer(post: Post) -> None:
    question = await post.hears("Which term?")
    post.box.mail.reply(ANA, question.message_id, "neither", "gmail")
    post.box.mail.reply(ANA, question.message_id, "both", "apple")
    await post.hears("both")  # each is understood to the word, and fits no choice
    await post.hears("neither")
    post.box.mail.reply(ANA, question.message_id, "costing", "outlook")
    await post.hears("You chose “costing”")
    await post.ends()


async def test_a_forged_reply_and_an_absence_decide_nothing(post: Post) -> None:
    question = await post.hears("Which term?")
    post.box.mail.out_of_office(ANA, question.message_id)
    post.box.mail.forge(ANA, question.message_id, "coding")
    await post.hears("be sure this mail is from you")
    assert (await post.app.runner.get(post.run_id)).status is RunStatus.WAITING


async def test_an_answer_that_arrives_twice_counts_once(post: Post) -> None:
    question = await post.hears("Which term?")
    post.box.switch(ServiceName.MAIL, FaultKind.DUPLICATE, True)
    post.box.mail.reply(ANA, question.message_id, "2", "apple")
    await post.hears("You chose “costing”")
    await post.ends()


async def test_a_mail_that_comes_back_is_a_failed_delivery(post: Post) -> None:
    question = await post.hears("Which term?")
    post.box.mail.bounce(ANA, question.message_id)
    async with asyncio.timeout(PATIENCE):
        while await post.delivery_statuses() != ["failed"]:  # noqa: ASYNC110 (nothing there tells us)
            await asyncio.sleep(0.01)
