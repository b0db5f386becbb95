"""The other apps on the phone: WhatsApp and its 24 hours, mail and its letters, what comes in elsewhere."""

from collections.abc import AsyncIterator
from email.message import EmailMessage
from pathlib import Path
from typing import Any

import pytest
import pytest_asyncio
from playwright.async_api import Browser, Page, expect
from telegram import Bot

from answerback_sandbox import FaultKind, Sandbox, ServiceName
from answerback_sandbox.mail.world import Envelope
from tests.providers.sandbox.pages import DESK, NARROW, PHONE, is_sound, open_phone
from tests.providers.sandbox.support import ANA, Clock

HOSTILE = """
<h1>Which term?</h1><p><a href="http://127.0.0.1:9/f/x">Answer</a></p>
<script>document.title = "taken"</script><img src="https://tracker.example.org/x.png">
<form action="http://127.0.0.1:9/"><button>Go</button></form>
"""


@pytest_asyncio.fixture(loop_scope="session")
async def page(chromium: Browser, box: Sandbox) -> AsyncIterator[Page]:
    async with open_phone(chromium, box, "/?app=whatsapp", **PHONE) as page:
        yield page


def number(box: Sandbox) -> str:
    return box.reach(ANA).whatsapp


def asks_by_mail(box: Sandbox, html: str = "<h1>Which term?</h1>", subject: str = "Which term?") -> None:
    """The agent's mail in Ana's mailbox, delivered without SMTP."""
    mail = EmailMessage()
    mail["From"], mail["To"] = f"Research <{box.mail.address}>", box.reach(ANA).mail
    mail["Subject"], mail["Message-ID"] = subject, f"<{len(subject)}@sandbox.test>"
    mail["Reply-To"] = box.mail.address.replace("@", "+token@")
    mail.set_content("Which term?\n")
    mail.add_alternative(html, subtype="html")
    box.mail.world.deliver(mail.as_bytes().replace(b"\n", b"\r\n"), Envelope("", box.reach(ANA).mail, True))


def asks_on_whatsapp(box: Sandbox, *labels: str) -> None:
    """The sender's message with quick replies, or without."""
    world, to = box.twilio.world, number(box)
    if not labels:
        world.send(to, "Which term? See http://127.0.0.1:9/f/x.", "")
        return
    actions = [{"type": "QUICK_REPLY", "title": label, "id": label.lower()} for label in labels]
    body = {"body": "Which term?", "actions": actions}
    world.send_content(to, world.make_content("q", "en", {}, {"twilio/quick-reply": body}).sid, {}, "")


async def test_a_quick_reply_is_tapped_and_what_was_shown_is_read(page: Page, box: Sandbox) -> None:
    await page.get_by_role("textbox", name="Message").fill("Hello")
    await page.get_by_role("button", name="Send").tap()
    asks_on_whatsapp(box, "Coding", "Costing")
    await page.get_by_role("button", name="Costing", exact=True).tap()
    await box.wait_for(lambda: [note for note in box.twilio.messages(number(box)) if note.tapped])
    last = box.twilio.messages(number(box))[-1]
    assert last.tapped is not None and last.tapped.payload == "costing"
    await expect(page.locator(".mine .quote")).to_contain_text("Which term?")
    await expect(page.locator(".them .ticks.read")).to_have_count(1)
    assert [note.status for note in box.twilio.received(number(box))] == ["read"]


async def test_when_a_day_has_passed_a_free_text_is_refused_and_the_page_says_why(
    page: Page, box: Sandbox
) -> None:
    box.twilio.type(number(box), "Hello")
    await expect(page.get_by_text("Anything may be sent until")).to_be_visible()
    await page.get_by_role("button", name="Let a day pass").tap()
    await expect(page.get_by_text("Only templates may be sent until you write.")).to_be_visible()
    asks_on_whatsapp(box)
    await expect(page.get_by_text("error 63016")).to_be_visible()
    assert box.twilio.received(number(box)) == ()


async def test_the_24_hours_are_over_by_the_clock_too(box: Sandbox, clock: Clock, page: Page) -> None:
    box.twilio.type(number(box), "Hello")
    await expect(page.get_by_text("Anything may be sent until")).to_be_visible()
    clock.forward(24 * 3600)
    box.changes.touch()
    await expect(page.get_by_text("Only templates may be sent until you write.")).to_be_visible()


async def test_whoever_blocks_the_sender_gets_nothing_until_they_let_it_in_again(
    page: Page, box: Sandbox
) -> None:
    box.twilio.type(number(box), "Hello")
    await page.get_by_role("button", name="Menu").tap()
    await page.get_by_role("button", name="Block the agent").tap()
    await expect(page.get_by_role("button", name="Unblock", exact=True)).to_be_visible()
    asks_on_whatsapp(box)
    await expect(page.get_by_text("error 63024")).to_be_visible()
    await page.get_by_role("button", name="Unblock", exact=True).tap()
    await expect(page.get_by_role("textbox", name="Message")).to_be_visible()


async def test_what_comes_in_elsewhere_is_announced_and_counted_and_takes_no_focus(
    page: Page, box: Sandbox, bot: Bot
) -> None:
    words = page.get_by_role("textbox", name="Message")
    await words.fill("half a sent")
    await bot.send_message(ANA, "Search for “costing”?")
    await expect(page.get_by_role("status").get_by_text("Telegram · Answerback")).to_be_visible()
    await expect(page.get_by_role("button", name="Telegram, 1 new")).to_be_visible()
    await expect(words).to_be_focused()
    asks_by_mail(box)
    await expect(page.get_by_role("button", name="Mail, 1 new")).to_be_visible()
    await page.get_by_role("button", name="Mail · Research").tap()
    await expect(page.get_by_role("heading", name="Inbox")).to_be_visible()
    await page.get_by_role("button", name="Telegram, 1 new").tap()
    await expect(page.get_by_role("button", name="Telegram", exact=True)).to_be_visible()
    await page.get_by_role("button", name="WhatsApp", exact=True).tap()
    await expect(words).to_have_value("half a sent")


async def test_a_mail_is_read_replied_to_and_lies_in_the_inbox_with_the_reply(
    chromium: Browser, box: Sandbox
) -> None:
    asks_by_mail(box)
    async with open_phone(chromium, box, "/?app=mail", **DESK) as page:
        await page.get_by_role("button", name="Unread.").click()
        await expect(page.get_by_role("heading", name="Which term?", level=2)).to_be_focused()
        await page.get_by_role("combobox", name="Quote like").select_option("Apple Mail")
        await page.get_by_role("textbox", name="Reply to “Which term?”").fill("costing")
        await page.keyboard.press("Control+Enter")
        await expect(page.get_by_text("Sent.")).to_be_visible()
        await page.get_by_role("button", name="Back to the inbox").click()
        await expect(page.get_by_role("listitem")).to_have_count(2)
        await expect(page.get_by_text("Unread.")).to_have_count(0)
        await expect(page.get_by_role("button", name="To agent@sandbox.test")).to_contain_text("costing")
    sent = box.mail.messages(box.reach(ANA).mail)[-1]
    assert (sent.mine, sent.to) == (True, "agent+token@sandbox.test")
    assert "Apple Mail" in sent.headers["x-mailer"]


async def test_whoever_is_out_of_office_has_every_mail_answered(chromium: Browser, box: Sandbox) -> None:
    async with open_phone(chromium, box, "/?app=mail", **PHONE) as page:
        away = page.get_by_role("button", name="Out of office")
        await away.tap()
        await expect(away).to_have_attribute("aria-pressed", "true")
        assert box.mail.world.box(box.reach(ANA).mail).away
        await away.tap()
        await expect(away).to_have_attribute("aria-pressed", "false")


async def test_a_mail_can_do_nothing_but_be_shown(chromium: Browser, box: Sandbox) -> None:
    """No script, no form, no other host; its links open a page of their own."""
    asks_by_mail(box, HOSTILE)
    refused: list[str] = []
    tab = await chromium.new_page()
    tab.on("console", lambda line: refused.append(line.text))
    failed: dict[str, str | None] = {}
    tab.on("requestfailed", lambda request: failed.update({request.url: request.failure}))
    await tab.goto(f"{box.url}/?app=mail")
    await tab.get_by_role("button", name="Which term?").click()
    mail = tab.frame_locator("iframe")
    await expect(mail.get_by_role("heading", name="Which term?")).to_be_visible()
    await mail.get_by_role("button", name="Go").click()
    await expect(mail.get_by_role("link", name="Answer")).to_have_attribute("target", "_blank")
    assert await tab.title() == "Ana’s phone · answerback sandbox"
    assert failed == {"https://tracker.example.org/x.png": "csp"}
    assert len(refused) >= 2  # the script and the image, each said aloud by the browser


async def test_a_broken_service_is_named_above_the_apps(page: Page, box: Sandbox) -> None:
    box.switch(ServiceName.MAIL, FaultKind.DUPLICATE, True)
    box.switch(ServiceName.WHATSAPP, FaultKind.SHUFFLED, True)
    await expect(
        page.get_by_text("WhatsApp mixes up its receipts. Mail duplicates everything.")
    ).to_be_visible()
    await page.get_by_role("button", name="Break something").tap()
    await expect(page.get_by_role("switch", name="Duplicates everything").last).to_be_checked()
    await page.get_by_role("button", name="Everything works again").tap()
    await box.wait_for(lambda: not box.mail.faults.ahead)
    await expect(page.get_by_role("switch", name="Duplicates everything").last).not_to_be_checked()


@pytest.mark.parametrize("size", [PHONE, NARROW, DESK], ids=["phone", "narrow", "desk"])
@pytest.mark.parametrize("colours", ["light", "dark"])
async def test_every_app_fits_every_size_and_axe_finds_nothing(
    chromium: Browser, box: Sandbox, tmp_path: Path, size: dict[str, Any], colours: str
) -> None:
    asks_on_whatsapp(box)
    box.twilio.type(number(box), "Hello")
    asks_on_whatsapp(box, "Coding", "Use “costing”, then")
    asks_by_mail(box, subject="A question that is a good deal longer than any narrow line")
    box.switch(ServiceName.TELEGRAM, FaultKind.DOWN, True)
    async with open_phone(
        chromium, box, "/?app=whatsapp", **size, color_scheme=colours, reduced_motion="reduce"
    ) as page:
        last = page.get_by_role("button", name="Use “costing”, then", exact=True)
        await expect(last).to_be_in_viewport(ratio=1)
        await is_sound(page)
        await page.get_by_role("button", name="Mail, 1 new").click()
        await is_sound(page)
        await page.get_by_role("button", name="Unread.").click()
        await expect(page.frame_locator("iframe").get_by_role("heading")).to_be_visible()
        await is_sound(page)
        await page.get_by_role("button", name="Break something").click()
        await expect(page.get_by_role("switch", name="Telegram is down")).to_be_checked()
        await is_sound(page)


async def test_nothing_lies_upon_another_where_letters_are_twice_as_large(
    chromium: Browser, box: Sandbox
) -> None:
    async with open_phone(chromium, box, **PHONE) as page:
        await page.evaluate("document.documentElement.style.fontSize = '200%'")
        whose = await page.get_by_role("combobox", name="Phone of").bounding_box()
        faults = await page.get_by_role("button", name="Break something").bounding_box()
        assert whose is not None and faults is not None
        assert faults["y"] >= whose["y"] + whose["height"] or faults["x"] >= whose["x"] + whose["width"]


@pytest.mark.parametrize("app", ["telegram", "whatsapp", "mail"])
async def test_what_names_something_is_whole_where_letters_are_twice_as_large(
    chromium: Browser, box: Sandbox, app: str
) -> None:
    asks_by_mail(box, subject="Which term do you mean?")
    async with open_phone(chromium, box, f"/?app={app}", **PHONE) as page:
        await page.evaluate("document.documentElement.style.fontSize = '200%'")
        cut = """[...document.querySelectorAll('.names h1, .names p, .mail-who, .mail-subject, textarea')]
            .filter(one => one.checkVisibility())
            .filter(one => one.scrollWidth > one.clientWidth || one.scrollHeight > one.clientHeight + 1)
            .map(one => one.textContent || one.placeholder)"""
        assert await page.evaluate(cut) == []
        assert await page.evaluate("document.documentElement.scrollWidth <= innerWidth")
