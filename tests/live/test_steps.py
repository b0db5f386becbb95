"""The steps of `make live`, with the sandbox in place of the services, so that they are known to work."""

import contextlib
import os
import socket
import subprocess
import sys
from collections.abc import AsyncIterator
from pathlib import Path

import pytest

from answerback_sandbox import FaultKind, Sandbox, ServiceName
from answerback_sandbox.endpoints import endpoints
from tests.live.services import SERVICES, needed, settings_of
from tests.live.steps import Live, Person, Wrong, live

pytestmark = pytest.mark.needs_extra("telegram", "whatsapp", "email")
ROOT = Path(__file__).parents[2]
PATIENCE = 30.0
WITHDRAWN = "The question is withdrawn, as no reply can come in. NOT TRIED: a reply, a notice."


@pytest.fixture
async def box() -> AsyncIterator[Sandbox]:
    async with Sandbox.start() as box:
        yield box


def environ(box: Sandbox) -> dict[str, str]:
    """What somebody would set, and where the sandbox is."""
    found, [ana] = endpoints(box), box.everyone
    mail, twilio = found["mail"], found["whatsapp"]
    values = {
        "telegram": {"token": box.token, "id": ana.id, "api": box.url},
        "twilio": {"account_sid": twilio["account_sid"], "auth_token": twilio["auth_token"], "api": box.url},
        "whatsapp": {"sender": twilio["sender"], "to": ana.whatsapp, "template": twilio["content_sid"]},
        "mail": {key: value for key, value in mail.items() if isinstance(value, str)} | {"to": ana.mail},
        "smtp": mail["smtp"],
        "imap": mail["imap"],
    }
    return {f"LIVE_{a}_{b}".upper(): str(value) for a, of in values.items() for b, value in of.items()}


def ana(box: Sandbox, service: str) -> Person:
    """Who does at once as she is told."""
    [person] = box.everyone

    async def answers(question: str, label: str) -> None:
        match service:
            case "telegram":
                asked = next(each for each in box.received(person.id) if question in each.text)
                box.tap(person.id, asked.id, label)
            case "whatsapp":
                note = next(each for each in box.twilio.received(person.whatsapp) if question in each.body)
                box.twilio.type(person.whatsapp, label, reply_to=note.sid)
            case _:
                mails = box.mail.received(person.mail)
                asked_by_mail = next(each for each in mails if question in each.text)
                box.mail.reply(person.mail, asked_by_mail.message_id, label)

    return answers


@contextlib.asynccontextmanager
async def begun(
    box: Sandbox, service: str, folder: Path, person: Person | None = None, patience: float = PATIENCE
) -> AsyncIterator[Live]:
    settings = settings_of(service, environ(box), str(folder))
    async with live(settings, person or ana(box, service), patience) as here:
        yield here


@pytest.mark.parametrize(
    ("service", "end"),
    [
        ("telegram", ["The answer is here, and its message was edited.", "The notice is sent."]),
        ("email", ["The answer is here, and another message says so.", "The notice is sent."]),
        ("whatsapp", [WITHDRAWN]),
    ],
)
async def test_every_step_works(box: Sandbox, service: str, end: list[str], tmp_path: Path) -> None:
    said: list[str] = []
    async with begun(box, service, tmp_path) as here:
        await here.every_step(said.append)
    assert "answers" in said[0]
    assert said[1:] == ["The question is sent.", *end]


async def test_where_twilio_reaches_us_whatsapp_hears_too(box: Sandbox, tmp_path: Path) -> None:
    said: list[str] = []
    with socket.create_server(("127.0.0.1", 0)) as listener:
        url = f"http://127.0.0.1:{listener.getsockname()[1]}"
        box.twilio.webhook(f"{url}/in/whatsapp")
        settings = settings_of("whatsapp", environ(box) | {"LIVE_PUBLIC_URL": url}, str(tmp_path))
        async with live(settings, ana(box, "whatsapp"), PATIENCE, listener) as here:
            await here.every_step(said.append)
    assert said[2:] == ["The answer is here, and another message says so.", "The notice is sent."]


async def test_a_service_that_is_away_is_no_pass(box: Sandbox, tmp_path: Path) -> None:
    async with begun(box, "telegram", tmp_path) as here:
        box.switch(ServiceName.TELEGRAM, FaultKind.DOWN, True)
        with pytest.raises(Wrong, match="is not working"):
            await here.probe()


async def test_silence_is_no_pass(box: Sandbox, tmp_path: Path) -> None:
    async def nobody(question: str, label: str) -> None: ...

    async with begun(box, "telegram", tmp_path, nobody, 0.2) as here:
        with pytest.raises(Wrong, match="No answer came"):
            await here.hear(await here.ask())


async def test_another_answer_is_no_pass(box: Sandbox, tmp_path: Path) -> None:
    async def contrary(question: str, label: str) -> None:
        await ana(box, "telegram")(question, "Left")

    async with begun(box, "telegram", tmp_path, contrary) as here:
        with pytest.raises(Wrong, match="not the answer"):
            await here.hear(await here.ask())


async def test_a_message_that_cannot_be_edited_is_no_pass(box: Sandbox, tmp_path: Path) -> None:
    async def deleting(question: str, label: str) -> None:
        await ana(box, "telegram")(question, label)
        for message in box.received(1001):
            box.world.delete(message)

    async with begun(box, "telegram", tmp_path, deleting) as here:
        with pytest.raises(Wrong, match="could not be edited"):
            await here.hear(await here.ask())


@pytest.mark.parametrize("given", [{}, {"LIVE_TELEGRAM_TOKEN": "1:a"}])
def test_the_command_says_what_is_missing_and_fails(given: dict[str, str]) -> None:
    kept = {name: value for name, value in os.environ.items() if not name.startswith("LIVE_")}
    done = subprocess.run(
        [sys.executable, "-m", "tests.live"], cwd=ROOT, env=kept | given, capture_output=True, text=True,
        timeout=PATIENCE, check=False,
    )  # fmt: skip
    missing = {name for service in SERVICES for name in needed(service)} - given.keys()
    assert done.returncode == 1
    assert [name for name in missing if name not in done.stdout] == []
    assert "Nothing was tested." in done.stdout


def test_every_variable_is_told_of() -> None:
    told = (ROOT / "docs" / "proof.md").read_text()
    assert [name for service in SERVICES for name in needed(service) if f"`{name}`" not in told] == []
