"""What Twilio's client sends for us, and what the sandbox answers, is what Twilio describes.

Each test of this folder, and the loop, is held against the description when it ends; see conftest.py.
"""

import aiohttp
import pytest

from answerback_providers.whatsapp import WhatsApp
from answerback_sandbox import Sandbox
from tests.providers.whatsapp.described import basic, misfits, operations
from tests.providers.whatsapp.support import ANA, Ahead, connected, question

pytestmark = pytest.mark.needs_extra("whatsapp")


async def test_every_operation_that_we_use_is_one_that_twilio_describes(
    box: Sandbox, whatsapp: WhatsApp
) -> None:
    wrote = box.twilio.type(ANA, "hello").at
    box.twilio.send_file(ANA, b"\x89PNG", "image/png", "a photo")
    async with connected(box, clock=Ahead()) as listing:
        await listing.poll("", 0)
    await whatsapp.send(question(wrote=wrote))
    await whatsapp.send(question())
    await whatsapp.probe()
    made = [
        (call.method, call.path.removeprefix(f"/2010-04-01/Accounts/{box.twilio.account_sid}"))
        for call in box.twilio.calls
    ]
    used = {(method, path.partition("/SM")[0]) for method, path in made}
    assert used == {
        ("GET", ".json"),
        ("GET", "/Messages.json"),
        ("POST", "/Messages.json"),
        ("GET", "/Messages"),  # of one message: its media
        ("GET", "/v1/Content"),
        ("POST", "/v1/Content"),
    }
    assert [misfit for call in box.twilio.calls for misfit in misfits(call)] == []


async def test_what_the_sandbox_shows_of_one_message_and_one_file_is_described_too(box: Sandbox) -> None:
    box.twilio.add_person(ANA, "Ana")
    note = box.twilio.send_file(ANA, b"\x89PNG", "image/png", "a photo")
    message = f"/2010-04-01/Accounts/{box.twilio.account_sid}/Messages/{note.sid}"
    for path in (".json", "/Media.json", f"/Media/{note.files[0].sid}.json", f"/Media/{note.files[0].sid}"):
        await call(box, "GET", message + path)
    assert [call.status for call in box.twilio.calls] == [200] * 4
    assert [misfit for call in box.twilio.calls for misfit in misfits(call)] == []


@pytest.mark.parametrize(
    ("path", "form", "misfit"),
    [
        ("/Messages.json", {"To": "whatsapp:+1", "Button": "1"}, "body: Button is not described"),
        ("/Messages.json", {"Body": "hello"}, "body: To is missing"),
        ("/Messages.json", {"To": "+1", "ContentSid": "HX1"}, "body: ContentSid is not of its kind"),
        (
            "/Messages.json",
            {"To": "+1", "StatusCallback": "nowhere"},
            "body: StatusCallback is not of its kind",
        ),
        ("/Messages.json", {"To": "+1", "ValidityPeriod": "long"}, "body: ValidityPeriod is not of its kind"),
        ("/Messages.json", {"To": "+1", "RiskCheck": "perhaps"}, "body: RiskCheck is not of its kind"),
        ("/Messages.json?Page=1", {"To": "+1"}, "query: Page is not described"),
    ],
)
async def test_the_description_would_find_it(
    box: Sandbox, path: str, form: dict[str, str], misfit: str
) -> None:
    await call(box, "POST", f"/2010-04-01/Accounts/{box.twilio.account_sid}{path}", form)
    assert [each for made in box.twilio.calls for each in misfits(made)] == [misfit]
    box.twilio.calls.clear()


async def call(box: Sandbox, method: str, path: str, form: dict[str, str] | None = None) -> None:
    headers = basic(box.twilio.account_sid, box.twilio.auth_token)
    async with (
        aiohttp.ClientSession(headers=headers) as session,
        session.request(method, box.url + path, data=form) as answer,
    ):
        await answer.read()


def test_the_description_holds_the_operations_that_matter() -> None:
    assert len(operations()) == 8
    assert all(operation["answer"] and operation["status"] in (200, 201) for operation in operations())
