"""Groups on the phone's Telegram: one for everybody from the menu, and who says what in it."""

from pathlib import Path

from playwright.async_api import Browser, expect

from answerback_sandbox import ChatKind, Sandbox
from answerback_sandbox.telegram import hands
from tests.providers.sandbox.pages import PHONE, is_sound, open_phone
from tests.providers.sandbox.support import ANA

BEN = 1002


async def test_a_group_with_everybody_is_made_from_the_menu_and_written_into(
    chromium: Browser, box: Sandbox
) -> None:
    box.add_person(BEN, "Ben")
    async with open_phone(chromium, box, **PHONE) as page:
        await page.get_by_role("button", name="Menu").tap()
        await page.get_by_role("button", name="New group with everybody").tap()
        await expect(page.get_by_role("heading", name="Ana, Ben")).to_be_visible()
        await expect(page.get_by_text("2 people and a bot")).to_be_visible()
        await page.get_by_role("textbox", name="Message").fill("Hello, both")
        await page.get_by_role("button", name="Send").tap()
        await expect(page.get_by_role("log").get_by_text("Hello, both")).to_be_visible()
    group = box.chats(BEN)[1]
    assert group.members == (ANA, BEN)
    assert [message.text for message in box.messages(BEN, group.id)] == ["Hello, both"]


async def test_in_a_group_everybody_is_named_and_what_is_no_message_says_what_it_is(
    chromium: Browser, box: Sandbox, tmp_path: Path
) -> None:
    box.add_person(BEN, "Ben")
    group = box.world.add_group("Ops", (ANA, BEN), ChatKind.BASIC)
    hands.send_file(box.world, BEN, "photo", b"x", chat_id=group.id)
    hands.forward(box.world, BEN, "from elsewhere", chat_id=group.id)
    hands.write_as(box.world, BEN, group.id, "as the group", chat_id=group.id)
    hands.upgrade(box.world, group.id)
    path = f"/?chat={group.id}"
    async with open_phone(chromium, box, path, **PHONE, reduced_motion="reduce") as page:
        names = page.locator(".them .who")
        await expect(names).to_have_text(["Ben", "Ben", "Ops"])
        log = page.get_by_role("log")
        for shown in ("Photo", "forwarded", "This group is a supergroup now."):
            await expect(log.get_by_text(shown, exact=True)).to_be_visible()
        await page.screenshot(path=tmp_path / "group.png")
        await is_sound(page)
