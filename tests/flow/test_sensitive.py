"""sensitive: who asks, that something waits and a link are all that any service is given to show."""

import asyncio
import contextlib
import dataclasses
import email
import email.policy
import io
import logging
import sys
from collections.abc import AsyncIterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pytest
from aiohttp import web

from answerback import registry
from answerback.allowed import Allowed
from answerback.ask import Asked, AskRequest
from answerback.cli.site import site
from answerback.errors import NotAllowed
from answerback.model import (
    Action,
    Address,
    Choice,
    Contact,
    InteractionStatus,
    OnExpire,
    Question,
    QuestionKind,
)
from answerback.notices import NoticeRequest
from answerback.outgoing import Outgoing
from answerback.provider import Provider, ProviderContext
from answerback.settings import Plugin, Route
from tests.support.databases import Database
from tests.support.described import through
from tests.support.gateway import Gateway, gateway

pytestmark = pytest.mark.either_database

SECRETS = (
    "Xquestion",
    "Xchoice",
    "Xcontext",
    "Xtitle",
    "Xdefault",
    "Xaction",
    "Xvalue",
    "Xanswer",
    "Xnotice",
)

CHOICES = (Choice("a", "Xchoice one"), Choice("Xchoice", "two"))
KINDS = {
    "text": Question("q", "Xquestion?"),
    "confirm": Question("q", "Xquestion?", QuestionKind.CONFIRM),
    "choice": Question("q", "Xquestion?", QuestionKind.CHOICE, CHOICES),
    "open choice": Question("q", "Xquestion?", QuestionKind.CHOICE, CHOICES, free_text=True),
    "choices": Question("q", "Xquestion?", QuestionKind.CHOICES, CHOICES),
    "number": Question("q", "Xquestion?", QuestionKind.NUMBER),
    "date": Question("q", "Xquestion?", QuestionKind.DATE),
    "review": Question(
        "q",
        "Xquestion?",
        QuestionKind.REVIEW,
        action=Action("Xaction", {"Xaction": "Xvalue"}),
        decisions=("approve", "edit", "reject", "respond"),
    ),
}
ANSWERS = {
    "text": "Xanswer",
    "confirm": True,
    "choice": "a",
    "open choice": "Xanswer",
    "choices": ["a"],
    "number": 7,
    "date": "2026-01-01",
    "review": {"decision": "reject", "message": "Xanswer"},
}
PUBLIC = "https://ask.example.org"
REMINDED = {"default": Route("default", ask=("alice",), providers=("memory",), reminders=(60.0,))}


async def ask(g: Gateway, *questions: Question, **more: Any) -> Asked:
    known = {"context": "Xcontext", "title": "Xtitle · Xtitle", "agent": "term_check", "sensitive": True}
    asked = await g.app.asker.ask(AskRequest(questions, **{**known, **more}))
    await g.app.idle()
    return asked


def token_of(asked: Asked) -> str:
    return asked.form_url.rpartition("/")[2]


def told(g: Gateway) -> str:
    """Every part of every message that was ever given to the service, edited ones included."""
    return "\n".join(repr(dataclasses.astuple(message)) for message in g.memory.given)


def found(said: str) -> list[str]:
    return [secret for secret in SECRETS if secret in said]


@pytest.mark.parametrize("kind", KINDS)
async def test_nothing_of_a_question_leaves_whatever_happens_to_it(
    database: Database, kind: str, caplog: pytest.LogCaptureFixture
) -> None:
    caplog.set_level(logging.DEBUG)
    async with gateway(database, public_url=PUBLIC, routes=REMINDED, form_auth="link") as g:
        asked = await ask(g, KINDS[kind])
        await g.later(61)  # the reminder
        for text in ("yes", "1", "approve", "what?", "pending", "help", "stop"):
            await g.types("1001", text)
        second = await ask(g, KINDS[kind])
        await g.types("1001", "first")  # which one?
        await g.types("1001", f"yes #{second.interaction.code}")
        for record in (asked, second):
            shown = await g.app.reader.interaction(record.interaction.id)
            assert shown.status is InteractionStatus.PENDING  # only the form takes the answer
        await g.app.forms.submit(token_of(asked), {"q": ANSWERS[kind]}, text="Xanswer")
        await g.app.idle()
        await g.types("1001", "late", references=[g.memory.shown[0].id])
        await g.app.asker.cancel(second.interaction.id)
        await g.app.idle()
        said = told(g)
    assert "A question is waiting for you." in said
    assert "Term check" in said
    assert found(said) == []
    logged = "\n".join(f"{entry.getMessage()} {entry.exc_text} {vars(entry)}" for entry in caplog.records)
    assert found(logged) == []


async def test_a_default_that_silence_gives_is_not_told_either(database: Database) -> None:
    async with gateway(database, public_url=PUBLIC) as g:
        await ask(g, KINDS["text"], expires_in=60.0, on_expire=OnExpire.DEFAULT, default="Xdefault")
        await g.later(61)
        assert "This closed" in told(g)
        assert found(told(g)) == []


async def test_several_questions_are_as_quiet(database: Database) -> None:
    async with gateway(database, public_url=PUBLIC) as g:
        questions = [dataclasses.replace(KINDS[kind], id=kind) for kind in ("text", "choice")]
        asked = await ask(g, *questions)
        await g.types("1001", "yes")
        await g.app.forms.submit(token_of(asked), {"text": "Xanswer", "choice": "a"})
        await g.app.idle()
        assert found(told(g)) == []


async def test_a_reply_is_told_where_to_answer(database: Database) -> None:
    async with gateway(database, public_url=PUBLIC) as g:
        await ask(g, KINDS["confirm"])
        await g.types("1001", "yes")
        said = g.memory.titles("1001")[-1]
        assert said.startswith("Nothing was decided. Please answer this one on the form only: https://")


async def test_a_forged_tap_decides_nothing(database: Database) -> None:
    async with gateway(database, public_url=PUBLIC) as g:
        asked = await ask(g, KINDS["confirm"])
        token = g.memory.shown[-1].message.token
        await g.receive(g.memory._event(sender="1001", data=f"{token}:0.y"))
        record = await g.app.reader.interaction(asked.interaction.id)
        assert record.status is InteractionStatus.PENDING


async def test_the_form_shows_all_of_it_and_keeps_its_rule_of_the_code(database: Database) -> None:
    async with gateway(database, public_url=PUBLIC, form_auth="code") as g:
        await ask(g, KINDS["review"])
        message = g.memory.shown[-1].message
        async with through(site(g.app), PUBLIC) as browser:
            page = (await browser.get(message.form_url)).text
        assert found(page) == ["Xquestion", "Xcontext", "Xtitle", "Xaction", "Xvalue"]
        with pytest.raises(NotAllowed):
            await g.app.forms.submit(message.token, {"q": {"decision": "reject"}})
        await g.app.forms.send_code(message.token)
        await g.app.idle()
        assert found(told(g)) == []


async def test_a_notice_says_only_that_there_is_one(database: Database) -> None:
    async with gateway(database, public_url=PUBLIC) as g:
        await g.app.notices.send(NoticeRequest("Xnotice", title="Xtitle", agent="term_check", sensitive=True))
        await g.app.idle()
        message = g.memory.shown[-1].message
        assert (message.title, message.heading) == ("A message is waiting for you.", "Term check")
        assert found(told(g)) == []
        async with through(site(g.app), PUBLIC) as browser:
            page = (await browser.get(message.form_url)).text
        assert found(page) == ["Xtitle", "Xnotice"]


# Each real provider, and every byte that it sends


@dataclass(slots=True)
class Wire:
    """A provider that is overheard, and where it reaches Ana."""

    provider: Provider
    place: str
    heard: bytearray
    tells: bool = True  # whether it takes notices

    def text(self) -> str:
        """What was sent; the parts of mails also as their reader decodes them."""
        said = self.heard.decode("utf-8", "replace")
        for raw in bytes(self.heard).split(MAIL)[1:]:
            mail = email.message_from_bytes(raw, policy=email.policy.default)
            said += "".join(str(value) for value in mail.values())
            said += "".join(str(part.get_content()) for part in mail.walk() if not part.is_multipart())
        return said


MAIL = b"\n--- a mail ---\n"


@contextlib.asynccontextmanager
async def overheard(port: int) -> AsyncIterator[tuple[int, bytearray]]:
    """A port that leads to another one of this machine, and all that was sent to it."""
    heard = bytearray()

    async def serve(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        there, back = await asyncio.open_connection("127.0.0.1", port)

        async def pass_on(source: asyncio.StreamReader, sink: asyncio.StreamWriter, kept: bytearray) -> None:
            with contextlib.suppress(ConnectionError):
                while data := await source.read(65536):
                    kept += data
                    sink.write(data)
                    await sink.drain()
            sink.close()

        await asyncio.gather(pass_on(reader, back, heard), pass_on(there, writer, bytearray()))

    server = await asyncio.start_server(serve, "127.0.0.1", 0)
    try:
        yield server.sockets[0].getsockname()[1], heard
    finally:
        server.close()


def built(use: str, **options: Any) -> Provider:
    extra = {"echo": options.pop("echo")} if "echo" in options else {}
    base = options.pop("base_dir", ".")
    http = Outgoing(Allowed(["localhost"]))
    return registry.build_provider(
        Plugin(use, use, options), ProviderContext(PUBLIC, extra=extra, base_dir=base, http=http)
    )


@contextlib.asynccontextmanager
async def telegram(_: Path) -> AsyncIterator[Wire]:
    from answerback_sandbox import Sandbox

    async with Sandbox.start() as box, overheard(int(box.url.rpartition(":")[2])) as (port, heard):
        provider = built("telegram", token=box.token, api_base=f"http://127.0.0.1:{port}", poll_seconds="1")
        yield Wire(provider, "1001", heard)


@contextlib.asynccontextmanager
async def whatsapp(_: Path) -> AsyncIterator[Wire]:
    from answerback_sandbox import Sandbox

    ana = "+436601234567"
    async with Sandbox.start() as box, overheard(int(box.url.rpartition(":")[2])) as (port, heard):
        far = box.twilio
        far.add_person(ana, "Ana")
        provider = built(
            "whatsapp",
            account_sid=far.account_sid,
            auth_token=far.auth_token,
            sender=far.sender,
            content_sid=far.content_sid,
            api_base=f"http://127.0.0.1:{port}",
        )
        yield Wire(provider, ana, heard, tells=False)  # she has not written there: a notice has no template


@contextlib.asynccontextmanager
async def mail(_: Path) -> AsyncIterator[Wire]:
    from tests.providers.email.support import mail_server

    async with mail_server() as room, overheard(room.port) as (port, heard):
        smtp = {"host": "127.0.0.1", "port": str(port), "security": "plain"}
        wire = Wire(built("email", address="agent@example.org", smtp=smtp), "ana@x.org", heard)
        yield wire
        heard.extend(b"".join(MAIL + (each.content or b"") for each in room.mails))


@contextlib.asynccontextmanager
async def webhook(_: Path) -> AsyncIterator[Wire]:
    async def take(request: web.Request) -> web.Response:
        return web.json_response({})

    app = web.Application()
    app.router.add_post("/hook", take)
    runner = web.AppRunner(app, access_log=None)
    await runner.setup()
    await web.TCPSite(runner, "127.0.0.1", 0).start()
    async with overheard(runner.addresses[0][1]) as (port, heard):
        secret = "whsec_MDEyMzQ1Njc4OTAxMjM0NTY3ODkwMTIz"
        provider = built("webhook", url=f"http://localhost:{port}/hook", secret=secret)
        yield Wire(provider, "ana", heard)
        await provider.context.http.close()
    await runner.cleanup()


@contextlib.asynccontextmanager
async def callback(folder: Path) -> AsyncIterator[Wire]:
    heard = bytearray()
    (folder / "sensitive_told.py").write_text(
        "called = []\ndef notify(kind, **known): called.append(known)\n"
    )
    provider = built("callback", function="sensitive_told:notify", base_dir=str(folder))
    try:
        yield Wire(provider, "ana", heard)
        heard += repr(sys.modules["sensitive_told"].called).encode()
    finally:
        sys.modules.pop("sensitive_told", None)
        sys.path[:] = [entry for entry in sys.path if entry != str(folder)]


@contextlib.asynccontextmanager
async def form(_: Path) -> AsyncIterator[Wire]:
    echo, heard = io.StringIO(), bytearray()
    yield Wire(built("webform", echo=echo), "ana", heard)
    heard += echo.getvalue().encode()


EVERY = [
    pytest.param(telegram, marks=pytest.mark.needs_extra("telegram")),
    pytest.param(whatsapp, marks=pytest.mark.needs_extra("whatsapp", "telegram")),
    pytest.param(mail, marks=pytest.mark.needs_extra("email")),
    webhook,
    callback,
    form,
]


@pytest.mark.parametrize("way", EVERY)
async def test_in_all_that_a_provider_sends_there_is_nothing_of_it(tmp_path: Path, way: Any) -> None:
    database = Database("sqlite", tmp_path)
    async with way(tmp_path) as wire:
        ana = Contact("ana", "Ana", addresses=(Address("real", wire.place, wire.place),))
        routes = {"default": Route("default", ("ana",), ("real",), reminders=(60.0,))}
        wire.provider.name = "real"
        more = {"providers": {"real": wire.provider}, "contacts": {"ana": ana}, "routes": routes}
        async with gateway(database, public_url=PUBLIC, **more) as g:
            asked = await ask(g, KINDS["choice"])
            await g.later(61)
            await g.later(2)
            await g.app.forms.submit(token_of(asked), {"q": "a"}, text="Xchoice one")
            await g.app.idle()
            expired = await ask(
                g, KINDS["text"], expires_in=30.0, on_expire=OnExpire.DEFAULT, default="Xdefault"
            )
            await g.later(2)
            await g.later(31)
            await g.app.notices.send(NoticeRequest("Xnotice", title="Xtitle", sensitive=True))
            for _ in range(3):
                await g.later(2)
            assert (await g.app.reader.interaction(expired.interaction.id)).status == "expired"
    said = wire.text()
    assert "A question is waiting for you." in said.replace("+", " ").replace("%20", " ")
    assert ("A message is waiting for you." in said.replace("+", " ").replace("%20", " ")) is wire.tells
    assert found(said) == []
