"""The phone in a real browser: by touch, keyboard and screen reader, from 320 px up."""

from collections.abc import AsyncIterator
from pathlib import Path
from typing import Any

import pytest
import pytest_asyncio
from playwright.async_api import Browser, Page, expect
from telegram import Bot, BotCommand, ForceReply, InlineKeyboardButton, InlineKeyboardMarkup, MessageEntity
from telegram.error import NetworkError

from answerback_sandbox import Sandbox
from tests.providers.sandbox.pages import DESK, NARROW, PHONE, is_sound, open_phone
from tests.providers.sandbox.support import ANA

KEYS = InlineKeyboardMarkup(
    [
        [
            InlineKeyboardButton("Yes", callback_data="y"),
            InlineKeyboardButton("Use “coding”", callback_data="c"),
        ],
        [InlineKeyboardButton("Open the form", url="http://127.0.0.1:9/f/x")],
    ]
)
QUESTION = "🟦 Research · term check\nSearch for “costing”?\nI found 0 documents with it."


@pytest_asyncio.fixture(loop_scope="session")
async def page(chromium: Browser, box: Sandbox) -> AsyncIterator[Page]:
    async with open_phone(chromium, box, **PHONE) as page:
        yield page


async def ask(bot: Bot, text: str = QUESTION) -> int:
    """A question with buttons, its second line bold; its message id."""
    bold = MessageEntity(
        MessageEntity.BOLD, len("🟦 Research · term check\n") + 1, len("Search for “costing”?")
    )
    return (await bot.send_message(ANA, text, entities=[bold], reply_markup=KEYS)).message_id


async def test_a_question_arrives_live_and_a_tap_answers_it(page: Page, box: Sandbox, bot: Bot) -> None:
    await expect(page.get_by_role("log").get_by_text("Nothing here yet")).to_be_visible()
    message_id = await ask(bot)
    await expect(page.locator("#telegram b")).to_have_text("Search for “costing”?")
    await page.get_by_role("button", name="Use “coding”").tap()
    await expect(page.get_by_role("button", name="Use “coding”")).to_have_attribute("aria-busy", "true")
    (update,) = await bot.get_updates()
    assert update.callback_query is not None and update.callback_query.data == "c"
    await bot.answer_callback_query(update.callback_query.id, "Got it")
    await bot.edit_message_text("✅ You chose “coding”. Going on.", ANA, message_id)
    await expect(page.get_by_text("Got it", exact=True)).to_be_visible()
    await expect(page.get_by_role("log").get_by_text("✅ You chose “coding”. Going on.")).to_be_visible()
    await expect(page.get_by_text("edited", exact=True)).to_be_visible()
    await expect(page.get_by_role("button", name="Yes", exact=True)).to_have_count(0)


async def test_an_alert_stays_until_it_is_closed(page: Page, box: Sandbox, bot: Bot) -> None:
    await ask(bot)
    await page.get_by_role("button", name="Yes", exact=True).tap()
    callback = await box.wait_for(lambda: box.callbacks(ANA))
    await bot.answer_callback_query(callback[0].id, "This question is for Ben", show_alert=True)
    await expect(page.get_by_role("dialog")).to_contain_text("This question is for Ben")
    await page.get_by_role("button", name="OK").tap()
    await expect(page.get_by_role("dialog")).to_have_count(0)


async def test_start_is_pressed_with_the_payload_of_the_link_and_a_get_alone_changes_nothing(
    chromium: Browser, box: Sandbox, bot: Bot
) -> None:
    async with open_phone(chromium, box, "/?start=LINK-me_1", **PHONE) as page:
        assert box.messages(ANA) == ()
        await page.get_by_role("button", name="Start", exact=True).tap()
        await expect(page.get_by_role("log").get_by_text("/start LINK-me_1")).to_be_visible()
        await expect(page.get_by_role("textbox", name="Message")).to_be_visible()
        assert "start=" not in page.url
    (update,) = await bot.get_updates()
    assert update.message is not None and update.message.text == "/start LINK-me_1"


async def test_a_reply_quotes_the_message_that_it_answers(page: Page, box: Sandbox, bot: Bot) -> None:
    message_id = await ask(bot)
    await page.get_by_role("button", name="Reply to “🟦 Research").tap()
    await expect(page.get_by_text("Reply to Answerback", exact=True)).to_be_visible()
    await page.get_by_role("textbox", name="Message").fill("not yet")
    await page.get_by_role("button", name="Send").tap()
    await expect(page.locator(".mine .quote")).to_contain_text("Research")
    assert box.messages(ANA)[-1].reply_to == message_id


async def test_swiping_a_message_to_the_left_replies_to_it(page: Page, bot: Bot) -> None:
    message_id = await ask(bot)
    item = page.locator(f"#m{message_id}")
    for event, x in (("pointerdown", 300), ("pointermove", 260), ("pointermove", 220), ("pointerup", 220)):
        await item.dispatch_event(event, {"pointerType": "touch", "clientX": x, "isPrimary": True})
    await expect(page.get_by_text("Reply to Answerback", exact=True)).to_be_visible()


async def test_a_message_that_demands_a_reply_opens_one(page: Page, bot: Bot) -> None:
    await bot.send_message(ANA, "Which term, then?", reply_markup=ForceReply())
    await expect(page.get_by_text("Reply to Answerback", exact=True)).to_be_visible()
    await expect(page.get_by_role("textbox", name="Message")).to_be_focused()


async def test_all_of_it_works_by_keyboard(chromium: Browser, box: Sandbox, bot: Bot) -> None:
    await ask(bot)
    async with open_phone(chromium, box, **DESK) as page:
        await page.get_by_role("button", name="Reply to").focus()
        await page.keyboard.press("Tab")
        await expect(page.get_by_role("button", name="Yes", exact=True)).to_be_focused()
        await page.keyboard.press("Enter")
        await box.wait_for(lambda: box.callbacks(ANA))
        await page.get_by_role("textbox", name="Message").focus()
        await page.keyboard.type("one")
        await page.keyboard.press("Shift+Enter")
        await page.keyboard.type("two")
        await page.keyboard.press("Enter")
        await box.wait_for(lambda: len(box.messages(ANA)) == 2)
        assert box.messages(ANA)[-1].text == "one\ntwo"
        await expect(page.get_by_role("textbox", name="Message")).to_be_focused()


async def test_an_edit_of_the_message_in_hand_keeps_the_keyboards_place(
    chromium: Browser, box: Sandbox, bot: Bot
) -> None:
    message_id = await ask(bot)
    async with open_phone(chromium, box, **DESK) as page:
        await page.get_by_role("button", name="Yes", exact=True).press("Enter")
        await bot.edit_message_text("✅ Yes.", ANA, message_id)
        await expect(page.locator(f"#m{message_id}")).to_be_focused()
        await expect(page.get_by_text("Edited: ✅ Yes.")).to_be_attached()


async def test_people_can_be_switched_and_added(page: Page, box: Sandbox, bot: Bot) -> None:
    await page.get_by_role("combobox", name="Phone of").select_option("Somebody else…")
    await page.get_by_role("textbox", name="Their first name").fill("Ben")
    await page.get_by_role("button", name="Add", exact=True).tap()
    await expect(page.get_by_role("combobox", name="Phone of")).to_have_value("1002")
    await bot.send_message(1002, "For Ben")
    await expect(page.get_by_text("For Ben")).to_be_visible()
    await page.get_by_role("combobox", name="Phone of").select_option("Ana")
    await expect(page.get_by_text("For Ben")).to_have_count(0)


async def test_groups_have_a_tab_and_say_who_wrote(page: Page, box: Sandbox, bot: Bot) -> None:
    box.add_person(1002, "Ben")
    group = box.add_group("Billing", [ANA, 1002])
    box.type(1002, "Who saw this?", chat=group.id)
    await page.get_by_role("button", name="Billing").tap()
    await expect(page.get_by_text("Ben", exact=True).last).to_be_visible()
    await page.get_by_role("textbox", name="Message").fill("I did")
    await page.get_by_role("button", name="Send").tap()
    await box.wait_for(lambda: len(box.messages(ANA, group.id)) == 2)


async def test_the_bot_can_be_blocked_and_let_in_again(page: Page, box: Sandbox) -> None:
    await page.get_by_role("button", name="Menu").tap()
    await page.get_by_role("button", name="Block the bot").tap()
    await page.get_by_role("button", name="Unblock", exact=True).tap()
    await box.wait_for(lambda: not box.chats(ANA)[0].blocked)


async def test_telegram_can_be_taken_down_and_says_so(page: Page, box: Sandbox, bot: Bot) -> None:
    await page.get_by_role("button", name="Break something").tap()
    await page.get_by_role("switch", name="Telegram is down").tap()
    await page.get_by_role("button", name="Close").tap()
    await expect(page.get_by_text("Telegram is down.", exact=True)).to_be_visible()
    with pytest.raises(NetworkError):
        await bot.get_me()
    await page.get_by_role("button", name="Break something").tap()
    await page.get_by_role("button", name="Everything works again").tap()
    await expect(page.get_by_role("switch", name="Telegram is down")).not_to_be_checked()
    await bot.get_me()


async def test_the_bots_commands_are_a_tap_away(page: Page, box: Sandbox, bot: Bot) -> None:
    box.type(ANA, "hello")
    await bot.set_my_commands([BotCommand("pending", "What is open")])
    await page.get_by_role("button", name="Commands").tap()
    await page.get_by_role("button", name="/pending").tap()
    await box.wait_for(lambda: box.messages(ANA)[-1].text == "/pending")


async def test_markup_in_a_text_stays_text(page: Page, box: Sandbox, bot: Bot) -> None:
    hostile = "<img src=x onerror=alert(1)> javascript:alert(1)"
    await bot.send_message(
        ANA, hostile, entities=[MessageEntity("text_link", 0, 4, url="javascript:alert(1)")]
    )
    await expect(page.get_by_text("onerror=alert(1)")).to_be_visible()
    assert await page.locator(".text img, .text a[href]").count() == 0


async def test_deleted_messages_go(page: Page, bot: Bot) -> None:
    message_id = await ask(bot)
    await expect(page.locator(f"#m{message_id}")).to_be_visible()
    await bot.delete_message(ANA, message_id)
    await expect(page.locator(f"#m{message_id}")).to_have_count(0)


@pytest.mark.parametrize("size", [PHONE, NARROW, DESK], ids=["phone", "narrow", "desk"])
@pytest.mark.parametrize("colours", ["light", "dark"])
async def test_it_fits_every_size_and_axe_finds_nothing(
    chromium: Browser, box: Sandbox, bot: Bot, tmp_path: Path, size: dict[str, Any], colours: str
) -> None:
    box.type(ANA, "/start", reply_to=await ask(bot))
    await bot.send_message(ANA, "x" * 300)
    await ask(bot)
    async with open_phone(chromium, box, **size, color_scheme=colours, reduced_motion="reduce") as page:
        await expect(page.get_by_role("button", name="Yes", exact=True)).to_have_count(2)
        await page.screenshot(path=tmp_path / f"phone-{colours}.png")
        await is_sound(page)
        last = page.get_by_role("button", name="Open the form, opens a page").last
        await expect(last).to_be_in_viewport(ratio=1)
