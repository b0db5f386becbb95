"""The loop by mail: a real SMTP server takes the question; its link, or a reply to it, takes the answer."""

import asyncio
import email
import email.policy
from collections.abc import AsyncIterator
from dataclasses import dataclass
from email.message import EmailMessage

import pytest

from answerback import app as composition
from answerback.app import App
from answerback.ask import AskRequest
from answerback.faults import Faults
from answerback.model import (
    Address,
    Choice,
    Contact,
    InteractionStatus,
    Question,
    QuestionKind,
    RunStatus,
)
from answerback.run import RunRequest
from answerback.settings import Plugin, Route, Settings
from answerback.store import deliveries
from answerback.testing import ScriptedAgent
from tests.flow.test_intake import until
from tests.providers.email.dovecot import Box
from tests.providers.email.mailbox import signs_in
from tests.providers.email.replies import OURS
from tests.providers.email.support import Mailroom, mail_server
from tests.support.databases import Database

pytestmark = [pytest.mark.needs_extra("email"), pytest.mark.either_database]
OWN = {"address": "agent@example.org", "authserv_id": OURS}
QUESTION = Question("q1", "Which term?", QuestionKind.CHOICE, (Choice("a", "coding"), Choice("b", "costing")))

CONFIRM = Question("q1", "Wipe production?", QuestionKind.CONFIRM)


def mails(room: Mailroom) -> list[EmailMessage]:
    return [email.message_from_bytes(mail.content or b"", policy=email.policy.default) for mail in room.mails]


def answering(asked: EmailMessage, body: str, *, vouched: bool = True, **headers: str) -> bytes:
    """What a mail program sends as the answer to a question, as our own mail server passes it on."""
    quoted = "".join(f"> {line}\n" for line in text_of(asked).splitlines())
    mail = EmailMessage()
    if vouched:
        mail["Authentication-Results"] = f"{OURS}; dmarc=pass header.from=x.org"
    mail["From"], mail["To"] = "Ana Lima <Ana@x.org>", asked["reply-to"]
    mail["Subject"] = headers.pop("Subject", f"Re: {asked['subject']}")
    mail["Date"] = asked["date"]
    mail["In-Reply-To"] = asked["message-id"]
    for name, value in headers.items():
        mail[name.replace("_", "-")] = value
    mail.set_content(f"{body}\n\nOn Sun, Nov 22, 2026 at 2:00 AM Agent <agent@example.org> wrote:\n{quoted}")
    return mail.as_bytes(policy=email.policy.SMTP)


def text_of(mail: EmailMessage) -> str:
    return str(mail.get_body(("plain",)).get_content())


def gateway(
    database: Database,
    port: int,
    box: Box | None = None,
    lmtp: str = "",
    faults: Faults | None = None,
    ana: str = "ana@x.org",
) -> App:
    smtp = {"host": "127.0.0.1", "port": str(port), "security": "plain"}
    imap = {"imap": signs_in(box.user, port=str(box.server.imap))} if box else {}
    reading = imap or ({"lmtp": {"listen": lmtp}} if lmtp else {})
    return composition.build(
        Settings(
            data_dir=str(database.data_dir),
            database=database.url,
            public_url="https://ask.example.org",
            form_auth="code",
            providers={"email": Plugin("email", "email", {**OWN, "smtp": smtp, **reading})},
            contacts={"ana": Contact("ana", "Ana", addresses=(Address("email", ana, ana),))},
            routes={"default": Route("default", ("ana",), ("email",))},
        ),
        agents={"scripted": ScriptedAgent(QUESTION)} if reading else None,
        faults=faults,
    )


async def test_a_mail_asks_its_link_answers_and_a_second_mail_says_so(database: Database) -> None:
    async with mail_server() as room:
        app = gateway(database, room.port)
        await app.start()
        asked = await app.asker.ask(AskRequest((QUESTION,), context="0 documents with costing."))
        await app.idle()
        (mail,) = mails(room)
        assert mail["subject"] == f"Which term? [#{asked.interaction.code}]"
        token = text_of(mail).partition("https://ask.example.org/f/")[2][:26]
        assert mail["reply-to"] == f"agent+{token}@example.org"
        view = await app.forms.submit(token, {"q1": "a"}, text="coding")
        assert (view.interaction.status, view.you) == (InteractionStatus.COMPLETED, True)
        await until(lambda: len(room.mails) == 2)  # the second mail waits for its turn: ten a second
        await app.idle()
        assert "You chose “coding”" in text_of(mails(room)[1])
        await app.stop()


@dataclass(slots=True)
class Post:
    """A gateway that reads its mail, the mails it sent, and the mailbox that replies come to."""

    app: App
    room: Mailroom
    box: Box

    async def ask(self) -> str:
        """Start a run that asks; its id, once the question is out."""
        run = await self.app.runner.start(RunRequest("scripted", {}))
        await until(lambda: len(self.room.mails) == 1)
        await self.app.idle()
        return run.id

    async def reply(self, body: str, *, vouched: bool = True, **headers: str) -> None:
        """As a mail program answers the question, and a mail server delivers it."""
        asked = mails(self.room)[0]
        await self.box.deliver(answering(asked, body, vouched=vouched, **headers), to=str(asked["reply-to"]))

    async def hears(self, words: str) -> EmailMessage:
        """The next mail to Ana that says so."""
        await until(lambda: any(words in text_of(mail) for mail in mails(self.room)))
        await self.app.idle()
        return next(mail for mail in mails(self.room) if words in text_of(mail))

    async def is_pending(self, id: str) -> bool:
        return (await self.app.reader.interaction(id)).status is InteractionStatus.PENDING

    async def status(self, run_id: str) -> RunStatus:
        return (await self.app.runner.get(run_id)).status


@pytest.fixture
async def post(database: Database, mailbox: Box) -> AsyncIterator[Post]:
    async with mail_server() as room:
        app = gateway(database, room.port, mailbox)
        await app.start()
        yield Post(app, room, mailbox)
        await app.stop()


async def test_a_reply_by_mail_is_the_answer_and_the_run_goes_on(post: Post) -> None:
    run = await post.ask()
    assert "Or reply to this mail" in text_of(mails(post.room)[0])
    await post.reply("costing")
    await post.hears("You chose “costing”")
    await until_ended(post, run)
    assert (await post.app.runner.get(run)).status is RunStatus.COMPLETED


async def test_a_reply_by_its_number_is_the_answer_too(post: Post) -> None:
    await post.ask()
    await post.reply("1")
    await post.hears("You chose “coding”")


async def test_law_1_a_mail_that_names_no_question_is_asked_about_and_a_number_picks_one(post: Post) -> None:
    first = await post.ask()
    second = (await post.app.runner.start(RunRequest("scripted", {}))).id
    await until(lambda: len(post.room.mails) == 2)
    await post.app.idle()
    vouched = f"Authentication-Results: {OURS}; dmarc=pass header.from=x.org\r\n"
    mail = f"{vouched}From: ana@x.org\r\nTo: agent@example.org\r\nSubject: x\r\n\r\ncosting\r\n"
    await post.box.deliver(mail.encode())
    listed = await post.hears("Two questions are open. Which one is “costing” for?")
    assert [await post.status(run) for run in (first, second)] == [RunStatus.WAITING] * 2
    listed["Reply-To"] = "agent@example.org"  # as whom it is from
    await post.box.deliver(answering(listed, "2.\n\nBest wishes\nAna"))
    await post.hears("You chose “costing”")
    await until_ended(post, second)
    assert await post.status(first) is RunStatus.WAITING


async def test_a_mail_that_nobody_vouches_for_decides_nothing_and_gets_the_link(post: Post) -> None:
    run = await post.ask()
    await post.reply("costing", vouched=False)
    said = await post.hears("be sure this mail is from you")
    assert "https://ask.example.org/f/" in text_of(said)
    assert await post.status(run) is RunStatus.WAITING


async def test_a_mail_that_nobody_vouches_for_is_told_so_by_its_code_alone(post: Post) -> None:
    """Written anew, not as a reply: only the code says which question it is about."""
    run = await post.ask()
    code = str(mails(post.room)[0]["subject"]).partition("[")[2].rstrip("]")
    mail = f"From: ana@x.org\r\nTo: agent@example.org\r\nSubject: x\r\n\r\ncosting {code}\r\n"
    await post.box.deliver(mail.encode())
    said = await post.hears("be sure this mail is from you")
    assert "https://ask.example.org/f/" in text_of(said)
    assert await post.status(run) is RunStatus.WAITING


async def test_a_yes_may_have_a_greeting_and_ones_own_name_and_is_kept_with_them(post: Post) -> None:
    asked = await post.app.asker.ask(AskRequest((CONFIRM,)))
    await until(lambda: len(post.room.mails) == 1)
    await post.app.idle()
    await post.reply("Hello,\n\nyes\n\nBest regards\nAna")
    await post.hears("You chose “Yes”")
    answer = (await post.app.reader.interaction(asked.interaction.id)).answer
    assert (answer.values, answer.text) == ({"q1": True}, "Hello,\n\nyes\n\nBest regards\nAna")


async def test_law_6_what_somebody_else_wrote_and_was_forwarded_decides_nothing(post: Post) -> None:
    asked = await post.app.asker.ask(AskRequest((CONFIRM,)))
    await until(lambda: len(post.room.mails) == 1)
    await post.app.idle()
    theirs = "---------- Forwarded message ---------\nFrom: Ben <ben@x.org>\nDate: Sun\nTo: Ana\n\nyes"
    await post.reply(theirs, Subject="Fwd: Re: Wipe production?")
    await post.hears("You forwarded what somebody else wrote")
    assert await post.is_pending(asked.interaction.id)


async def test_a_yes_is_written_as_the_mail_says_and_a_number_is_none(post: Post) -> None:
    asked = await post.app.asker.ask(AskRequest((CONFIRM,)))
    await until(lambda: len(post.room.mails) == 1)
    await post.app.idle()
    assert "Or reply to this mail with just the word: Yes / No" in text_of(mails(post.room)[0])
    await post.reply("1")
    await post.hears("I need a clear yes or no for “Wipe production?”.")
    assert await post.is_pending(asked.interaction.id)
    await post.reply("Yes, please.")
    await post.hears("You chose “Yes”")
    assert (await post.app.reader.interaction(asked.interaction.id)).answer.values == {"q1": True}


async def test_a_mail_that_nobody_vouches_for_stops_nothing(post: Post) -> None:
    run = await post.ask()
    await post.reply("stop", vouched=False)
    await post.hears("be sure this mail is from you")
    assert await post.status(run) is RunStatus.WAITING


async def test_an_automatic_reply_is_nobodys_answer_and_gets_none(post: Post) -> None:
    run = await post.ask()
    await post.reply("costing", Auto_Submitted="auto-replied")
    await post.reply("coding")  # read after the first
    await post.hears("You chose “coding”")
    assert len(mails(post.room)) <= 3  # the question, the outcome, the run's end
    await until_ended(post, run)


async def test_a_mail_that_comes_back_marks_its_delivery_failed(post: Post) -> None:
    await post.ask()
    sender = str(post.room.mails[0].mail_from)
    bounce = f"From: MAILER-DAEMON@x.org\r\nTo: {sender}\r\nSubject: Undelivered\r\n\r\nno such user\r\n"
    await post.box.deliver(bounce.encode(), to=sender, sender="")

    async def failed() -> bool:
        (record,) = (await post.app.reader.interactions()).items
        store = post.app.context.store
        rows = await store.read(lambda tx: tx.all(deliveries.OF, interaction_id=record.id))
        return [row["status"] for row in rows if row["provider"] == "email"] == ["failed"]

    while not await failed():  # noqa: ASYNC110 (nothing there tells us)
        await asyncio.sleep(0.01)


async def until_ended(post: Post, run: str) -> None:
    """Until a run has come to its end."""
    while await post.status(run) is not RunStatus.COMPLETED:  # noqa: ASYNC110
        await asyncio.sleep(0.01)
