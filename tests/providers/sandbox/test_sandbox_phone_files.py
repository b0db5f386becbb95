"""Files on the phone: what was sent shows as what it is, and the page can send one."""

import base64
import io
import json
from collections.abc import AsyncIterator
from pathlib import Path
from typing import Any

import aiohttp
import pytest
from playwright.async_api import Browser, expect
from telegram import Bot

from answerback_sandbox import Sandbox
from answerback_sandbox.phone.files import LARGEST
from answerback_sandbox.telegram import hands
from tests.providers.sandbox.pages import NARROW, PHONE, is_sound, open_phone
from tests.providers.sandbox.support import ANA

PLAN = {"name": "plan.pdf", "mimeType": "application/pdf", "buffer": b"%PDF" * 300}


@pytest.fixture
async def session(box: Sandbox) -> AsyncIterator[aiohttp.ClientSession]:
    async with aiohttp.ClientSession(base_url=box.url) as session:
        yield session


async def send(
    session: aiohttp.ClientSession, path: str = "file", content: object = b"x", **body: object
) -> tuple[int, Any]:
    coded = base64.b64encode(content).decode() if isinstance(content, bytes) else content
    whole: dict[str, object] = {"name": "a.bin", "type": "", "text": "", "content": coded} | body
    headers = {"Content-Type": "application/json"}
    written = io.BytesIO(json.dumps(whole).encode())
    async with session.post(f"/phone/api/people/1001/{path}", data=written, headers=headers) as response:
        return response.status, await response.json()


async def shown(session: aiohttp.ClientSession) -> Any:
    async with session.get("/phone/api/people/1001") as response:
        return await response.json()


@pytest.mark.parametrize(
    ("content_type", "kind", "name"),
    [
        ("image/jpeg", "photo", ""),
        ("audio/ogg; codecs=opus", "voice", ""),
        ("video/mp4", "video", ""),
        ("image/png", "document", "plan"),
        ("", "document", "plan"),
    ],
)
async def test_a_file_goes_to_telegram_as_what_it_is_and_is_shown_as_that(
    session: aiohttp.ClientSession, box: Sandbox, content_type: str, kind: str, name: str
) -> None:
    asked = box.type(ANA, "before")
    status, _ = await send(
        session, content=b"1234", name="C:\\x\\plan", type=content_type, text="look", reply_to=asked.id
    )
    assert status == 200
    sent = box.messages(ANA)[-1]
    assert (sent.text, sent.reply_to) == ("look", asked.id)
    assert sent.file is not None and (sent.file.kind, sent.file.content) == (kind, b"1234")
    message = (await shown(session))["chats"][0]["messages"][-1]
    (file,) = message["files"]
    assert (file["kind"], file["name"], file["size"], message["text"]) == (kind, name, 4, "look")


async def test_a_bot_downloads_what_was_sent_with_its_name_and_type(
    session: aiohttp.ClientSession, bot: Bot
) -> None:
    await send(session, content=b"\x89PNG", name="a.png", type="image/png")
    (update,) = await bot.get_updates()
    assert update.message is not None and update.message.document is not None
    document = update.message.document
    assert (document.file_name, document.mime_type) == ("a.png", "image/png")
    assert await (await bot.get_file(document.file_id)).download_as_bytearray() == b"\x89PNG"


async def test_a_file_goes_by_whatsapp_with_its_type_and_a_text(
    session: aiohttp.ClientSession, box: Sandbox
) -> None:
    address = box.reach(ANA).whatsapp
    asked = box.twilio.type(address, "before")
    assert (await send(session, "whatsapp/file", type="image/png", text="look", reply_to=asked.sid))[0] == 200
    note = box.twilio.messages(address)[-1]
    assert (note.body, note.reply_to, note.files[0].content_type) == ("look", asked.sid, "image/png")
    file = (await shown(session))["whatsapp"]["messages"][-1]["files"]
    assert file == [{"kind": "photo", "type": "image/png", "name": "", "size": 1}]


@pytest.mark.parametrize("path", ["file", "whatsapp/file"])
async def test_a_file_that_cannot_be_sent_is_refused_with_a_sentence(
    session: aiohttp.ClientSession, box: Sandbox, path: str
) -> None:
    misfit = (422, {"error": "the body does not fit this action"})
    assert await send(session, path, content=b"") == (400, {"error": "the file is empty"})
    too_large = {"error": "a file has at most 10 MB here"}
    assert await send(session, path, content=bytes(LARGEST + 1)) == (400, too_large)
    endless = await send(session, path, content=bytes(LARGEST + 100_000))
    assert endless == (400, {"error": "the body is too long"})
    for wrong in ({"content": "no Base64!"}, {"content": 5}, {"name": None}, {"text": 5}, {"type": 5}):
        assert await send(session, path, **wrong) == misfit
    assert (await send(session, path, reply_to=99))[0] == 400
    assert box.messages(ANA) == () and box.twilio.messages(box.reach(ANA).whatsapp) == ()


async def test_a_caption_has_telegrams_limit_and_nobody_sends_to_a_bot_that_they_blocked(
    session: aiohttp.ClientSession, box: Sandbox
) -> None:
    error = {"error": "a caption has at most 1024 characters"}
    assert await send(session, text="x" * 1025) == (400, error)
    box.block(ANA)
    assert await send(session) == (400, {"error": "the bot is blocked here"})


async def test_a_type_and_a_name_cannot_smuggle_a_line_into_a_header(
    session: aiohttp.ClientSession, box: Sandbox
) -> None:
    await send(session, "whatsapp/file", type="image/png\r\nSet-Cookie: a=b")
    await send(session, name="../../a\r\n\u202efdp.exe", type="text/html")
    assert box.twilio.messages(box.reach(ANA).whatsapp)[0].files[0].content_type == "application/octet-stream"
    file = box.messages(ANA)[0].file
    assert file is not None and file.name == "afdp.exe"


async def test_each_kind_of_file_shows_in_its_bubble_without_a_caption_too(
    chromium: Browser, box: Sandbox, tmp_path: Path
) -> None:
    for kind in ("photo", "voice", "document", "video"):
        hands.send_file(box.world, ANA, kind, bytes(2500), name="plan.pdf")
    async with open_phone(chromium, box, **PHONE, color_scheme="dark", reduced_motion="reduce") as page:
        log = page.get_by_role("log")
        for title in ("Photo", "Voice message", "plan.pdf", "Video"):
            await expect(log.get_by_text(title, exact=True)).to_be_visible()
        await expect(log.get_by_text("application/pdf · 3 kB")).to_be_visible()
        await page.get_by_role("button", name="Reply to “Voice message”").tap()
        await expect(page.locator(".replying-text").first).to_have_text("Voice message")
        await page.screenshot(path=tmp_path / "files.png")
        await is_sound(page)


@pytest.mark.parametrize("app", ["telegram", "whatsapp"])
async def test_a_file_is_chosen_seen_taken_off_and_sent_with_what_was_written(
    chromium: Browser, box: Sandbox, tmp_path: Path, app: str
) -> None:
    box.type(ANA, "hello")
    async with open_phone(chromium, box, f"/?app={app}", **NARROW, reduced_motion="reduce") as page:
        choose = page.get_by_label("Attach a file").filter(visible=True)
        await choose.set_input_files([PLAN])
        await expect(page.get_by_text("plan.pdf · 1 kB")).to_be_visible()
        await page.get_by_role("button", name="Take the file off").tap()
        await expect(page.get_by_role("button", name="Send", exact=True)).to_be_disabled()
        await choose.set_input_files([PLAN])
        await page.get_by_role("textbox", name="Message").fill("like this")
        await page.screenshot(path=tmp_path / f"attach-{app}.png")
        await is_sound(page)
        # Twice at once, as by an impatient thumb.
        await page.locator(f"#{app} .composer").evaluate("one => [1, 2].forEach(() => one.requestSubmit())")
        await expect(page.locator(".mine .bubble").get_by_text("application/pdf · 1 kB")).to_be_visible()
        await expect(page.locator(".mine .bubble").get_by_text("like this")).to_be_visible()
        await expect(page.get_by_text("plan.pdf · 1 kB")).not_to_be_visible()
        await is_sound(page)
        await choose.set_input_files([{**PLAN, "buffer": bytes(LARGEST + 1)}])
        await expect(page.get_by_text("A file has at most 10 MB here.")).to_be_visible()
