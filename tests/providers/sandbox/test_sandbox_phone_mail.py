"""Mail on the phone beyond a reply: a new one, one in somebody's name, one that comes back."""

import base64
from collections.abc import AsyncIterator
from email.message import EmailMessage
from pathlib import Path
from typing import Any

import aiohttp
import pytest
from playwright.async_api import Browser, expect

from answerback_sandbox import Sandbox
from answerback_sandbox.mail.state import File
from answerback_sandbox.mail.world import Envelope
from tests.providers.sandbox.pages import NARROW, PHONE, is_sound, open_phone
from tests.providers.sandbox.support import ANA


@pytest.fixture
async def session(box: Sandbox) -> AsyncIterator[aiohttp.ClientSession]:
    async with aiohttp.ClientSession(base_url=box.url) as session:
        yield session


async def do(session: aiohttp.ClientSession, what: str, **body: object) -> tuple[int, Any]:
    async with session.post(f"/phone/api/people/1001/mail/{what}", json=body) as response:
        return response.status, await response.json()


async def newest(session: aiohttp.ClientSession) -> str:
    async with session.get("/phone/api/people/1001") as response:
        return str((await response.json())["mail"]["letters"][0]["id"])


def asks(box: Sandbox, sender: str = "agent+d1@sandbox.test") -> None:
    """The agent's mail in Ana's mailbox; reports go to `sender`."""
    mail = EmailMessage()
    mail["From"], mail["To"] = f"Research <{box.mail.address}>", box.reach(ANA).mail
    mail["Subject"], mail["Message-ID"] = "Which term?", "<1@sandbox.test>"
    mail["Reply-To"] = "agent+token@sandbox.test"
    mail.set_content("Which term?\n")
    raw = mail.as_bytes().replace(b"\n", b"\r\n")
    box.mail.world.deliver(raw, Envelope(sender, box.reach(ANA).mail, True))


async def test_a_forged_reply_says_it_is_from_her_and_nobody_vouches_for_it(
    session: aiohttp.ClientSession, box: Sandbox
) -> None:
    asks(box)
    assert await do(session, "forge", id=await newest(session), text="yes, all of it") == (200, {})
    (forged,) = box.mail.received(box.mail.address)
    assert (forged.sender, forged.to) == (box.reach(ANA).mail, "agent+token@sandbox.test")
    assert "dmarc=fail" in forged.headers["authentication-results"]
    assert [letter.mine for letter in box.mail.messages(box.reach(ANA).mail)] == [False]


async def test_a_mail_comes_back_to_the_address_that_its_envelope_named(
    session: aiohttp.ClientSession, box: Sandbox
) -> None:
    asks(box)
    assert await do(session, "bounce", id=await newest(session)) == (200, {})
    (report,) = box.mail.received(box.mail.address)
    assert report.to == "agent+d1@sandbox.test" and "delivery-status" in report.headers["content-type"]


async def test_what_nobody_could_be_told_of_and_what_she_sent_herself_does_not_come_back(
    session: aiohttp.ClientSession, box: Sandbox
) -> None:
    asks(box, sender="")
    refused = await do(session, "bounce", id=await newest(session))
    assert refused == (400, {"error": "this mail has no return path, so that nobody can be told"})
    status, own = await do(session, "write", subject="Hello", text="Are you there?")
    assert status == 200
    for what in ("bounce", "forge"):
        error = {"error": "this mail was sent from here"}
        assert await do(session, what, id=own["id"], text="x") == (400, error)


async def test_a_new_mail_is_written_on_the_page(chromium: Browser, box: Sandbox, tmp_path: Path) -> None:
    async with open_phone(chromium, box, "/?app=mail", **NARROW, reduced_motion="reduce") as page:
        await page.get_by_role("button", name="New mail").tap()
        await expect(page.get_by_role("textbox", name="Subject")).to_be_focused()
        await page.get_by_role("textbox", name="Subject").fill("Lunch")
        await page.get_by_role("textbox", name="Text").fill("Where are you?")
        await page.screenshot(path=tmp_path / "new.png")
        await is_sound(page)
        await page.get_by_role("button", name="Send", exact=True).tap()
        await expect(page.get_by_role("button", name="To agent@sandbox.test")).to_contain_text("Lunch")
        await page.screenshot(path=tmp_path / "inbox.png")
    (came,) = box.mail.received(box.mail.address)
    assert (came.subject, came.text.strip()) == ("Lunch", "Where are you?")
    assert "dmarc=pass" in came.headers["authentication-results"]


async def test_why_a_mail_was_not_sent_stands_in_the_sheet_that_it_is_written_in(
    chromium: Browser, box: Sandbox, tmp_path: Path
) -> None:
    async with open_phone(chromium, box, "/?app=mail", **NARROW, reduced_motion="reduce") as page:
        await page.get_by_role("button", name="New mail").tap()
        await page.get_by_role("textbox", name="Text").fill("Where are you?")
        await page.route("**/write", lambda route: route.fulfill(body="gone"))
        await page.get_by_role("button", name="Send", exact=True).tap()
        await expect(page.get_by_role("dialog")).to_contain_text("The sandbox does not answer.")
        await page.screenshot(path=tmp_path / "not sent.png")
        await is_sound(page)
        await expect(page.get_by_role("textbox", name="Text")).to_have_value("Where are you?")


async def test_a_reply_is_forged_and_a_mail_sent_back_from_its_menu(
    chromium: Browser, box: Sandbox, tmp_path: Path
) -> None:
    asks(box)
    look = {"color_scheme": "dark", "reduced_motion": "reduce"}
    async with open_phone(chromium, box, "/?app=mail", **PHONE, **look) as page:
        await page.get_by_role("button", name="Which term?").tap()
        await page.get_by_role("button", name="Menu of this mail").tap()
        await page.screenshot(path=tmp_path / "menu.png")
        await page.get_by_role("button", name="Reply as somebody else").tap()
        await page.get_by_role("textbox", name="Text").fill("yes")
        await page.screenshot(path=tmp_path / "forge.png")
        await is_sound(page)
        await page.get_by_role("dialog").get_by_role("button", name="Send").tap()
        await expect(page.get_by_text("Sent in your name by somebody else.")).to_be_visible()
        await page.get_by_role("button", name="Menu of this mail").tap()
        await page.get_by_role("button", name="Send it back").tap()
        await expect(page.get_by_text("The agent is told that this mail did not arrive.")).to_be_visible()
        await page.screenshot(path=tmp_path / "letter.png")
    forged, report = box.mail.received(box.mail.address)
    assert "dmarc=fail" in forged.headers["authentication-results"] and report.subject.startswith("Undeliv")


async def test_a_reply_takes_a_file_along_as_each_program_encloses_it(
    session: aiohttp.ClientSession, box: Sandbox
) -> None:
    asks(box)
    file = {"name": "Plan ä.pdf", "type": "application/pdf", "content": base64.b64encode(b"%PDF").decode()}
    asked = await newest(session)
    for style in ("gmail", "outlook", "apple"):
        assert (await do(session, "file", id=asked, text="See this.", style=style, **file))[0] == 200
    for came in box.mail.received(box.mail.address):
        assert came.text.startswith("See this.")
        assert came.files == (File("Plan ä.pdf", "application/pdf", b"%PDF"),)
    async with session.get("/phone/api/people/1001") as response:
        own = (await response.json())["mail"]["letters"][0]
    assert own["files"] == [{"kind": "document", "type": "application/pdf", "name": "Plan ä.pdf", "size": 4}]
    refused = await do(session, "file", id=asked, text="", **(file | {"content": ""}))
    assert refused == (400, {"error": "the file is empty"})
    assert (await do(session, "file", id="none", text="", **file))[0] == 400


async def test_a_file_is_chosen_and_goes_along_with_the_reply(
    chromium: Browser, box: Sandbox, tmp_path: Path
) -> None:
    asks(box)
    plan = {"name": "plan.pdf", "mimeType": "application/pdf", "buffer": b"%PDF" * 300}
    async with open_phone(chromium, box, "/?app=mail", **NARROW, reduced_motion="reduce") as page:
        await page.get_by_role("button", name="Which term?").tap()
        choose = page.get_by_label("Attach a file").filter(visible=True)
        await choose.set_input_files([plan])
        await expect(page.get_by_text("plan.pdf · 1 kB")).to_be_visible()
        await page.get_by_role("button", name="Take the file off").tap()
        await expect(page.get_by_text("plan.pdf · 1 kB")).not_to_be_visible()
        await choose.set_input_files([plan])
        await page.get_by_label("Reply to “Which term?”").fill("like this")
        await page.screenshot(path=tmp_path / "attach.png")
        await is_sound(page)
        await page.locator(".mail-reply").evaluate("one => [1, 2].forEach(() => one.requestSubmit())")
        await expect(page.get_by_text("Sent.")).to_be_visible()
        await expect(page.get_by_text("plan.pdf · 1 kB")).not_to_be_visible()
        await page.get_by_role("button", name="Back to the inbox").tap()
        await page.get_by_role("button", name="To agent@sandbox.test").tap()
        await expect(page.get_by_text("application/pdf · 1 kB")).to_be_visible()
        await page.screenshot(path=tmp_path / "sent.png")
        await is_sound(page)
    (came,) = box.mail.received(box.mail.address)
    assert came.text.startswith("like this") and [file.name for file in came.files] == ["plan.pdf"]
