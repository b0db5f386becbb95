"""The loop by mail: a real SMTP server takes the question, the form behind its link takes the answer."""

import email
import email.policy
from email.message import EmailMessage

import pytest

from answerback import app as composition
from answerback.app import App
from answerback.ask import AskRequest
from answerback.model import Address, Choice, Contact, InteractionStatus, Question, QuestionKind
from answerback.settings import Plugin, Route, Settings
from tests.flow.test_intake import until
from tests.providers.email.support import Mailroom, mail_server
from tests.support.databases import Database

pytestmark = pytest.mark.needs_extra("email")
QUESTION = Question("q1", "Which term?", QuestionKind.CHOICE, (Choice("a", "coding"), Choice("b", "costing")))


def mails(room: Mailroom) -> list[EmailMessage]:
    return [email.message_from_bytes(mail.content or b"", policy=email.policy.default) for mail in room.mails]


def text_of(mail: EmailMessage) -> str:
    return str(mail.get_body(("plain",)).get_content())


def gateway(database: Database, port: int) -> App:
    smtp = {"host": "127.0.0.1", "port": str(port), "security": "plain"}
    return composition.build(
        Settings(
            data_dir=str(database.data_dir),
            database=database.url,
            public_url="https://ask.example.org",
            form_auth="code",
            providers={"email": Plugin("email", "email", {"address": "agent@example.org", "smtp": smtp})},
            contacts={"ana": Contact("ana", "Ana", addresses=(Address("email", "ana@x.org", "ana@x.org"),))},
            routes={"default": Route("default", ("ana",), ("email",))},
        )
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
