"""Updates: what people do reaches the bot, by long polling, in order, until it is confirmed."""

import asyncio

import pytest
from telegram import Bot, InlineKeyboardButton, InlineKeyboardMarkup
from telegram.error import BadRequest, Conflict

from answerback_sandbox import FaultKind, Sandbox, SandboxError
from tests.providers.sandbox.support import ANA, Clock, bot_at, unknown_fields

YES_NO = InlineKeyboardMarkup(
    [[InlineKeyboardButton("Yes", callback_data="y"), InlineKeyboardButton("No", callback_data="n")]]
)


async def texts(
    bot: Bot, offset: int | None = None, limit: int | None = None, timeout: int | None = None
) -> list[str | None]:
    """The texts of the updates from an offset on."""
    updates = await bot.get_updates(offset, limit, timeout)
    return [update.message.text if update.message else None for update in updates]


async def test_what_a_person_types_is_an_update_with_everything_in_it(box: Sandbox, bot: Bot) -> None:
    asked = await bot.send_message(ANA, "How many?")
    box.type(ANA, "  three, I think ", reply_to=asked.message_id)
    (update,) = await bot.get_updates()
    message = update.message
    assert message is not None and message.from_user is not None and message.reply_to_message is not None
    assert message.text == "  three, I think "
    assert (message.chat.id, message.chat.type, message.from_user.id) == (ANA, "private", ANA)
    assert message.reply_to_message.message_id == asked.message_id
    assert list(unknown_fields(update)) == []


async def test_updates_come_again_until_a_higher_offset_confirms_them(box: Sandbox, bot: Bot) -> None:
    box.type(ANA, "one")
    box.type(ANA, "two")
    first, second = await bot.get_updates()
    assert second.update_id == first.update_id + 1
    assert await texts(bot) == ["one", "two"]
    assert await texts(bot, first.update_id) == ["one", "two"]
    assert await texts(bot, second.update_id) == ["two"]
    assert await texts(bot) == ["two"]
    assert await texts(bot, second.update_id + 1) == []
    assert await texts(bot) == []


async def test_a_negative_offset_keeps_only_the_last(box: Sandbox, bot: Bot) -> None:
    for text in ("one", "two", "three"):
        box.type(ANA, text)
    assert await texts(bot, -2) == ["two", "three"]
    assert await texts(bot) == ["two", "three"]


async def test_an_offset_far_ahead_confirms_nothing(box: Sandbox, bot: Bot) -> None:
    box.type(ANA, "one")
    assert await texts(bot, 2_000_000_000) == ["one"]


async def test_at_most_a_hundred_come_at_once(box: Sandbox, bot: Bot) -> None:
    for number in range(120):
        box.type(ANA, str(number))
    assert len(await bot.get_updates(limit=500)) == 100
    assert await texts(bot, limit=2) == ["0", "1"]


async def test_a_long_poll_ends_with_the_first_update(box: Sandbox, bot: Bot) -> None:
    polling = asyncio.create_task(texts(bot, timeout=50))
    await box.wait_for(lambda: box.world.updates.is_polled)
    box.type(ANA, "now")
    assert await polling == ["now"]


async def test_a_long_poll_without_updates_ends_empty_after_its_timeout(bot: Bot) -> None:
    assert await texts(bot, timeout=1) == []


async def test_of_two_that_poll_the_older_is_told_of_the_conflict(box: Sandbox, bot: Bot) -> None:
    async with bot_at(box) as other:
        older = asyncio.create_task(texts(bot, timeout=50))
        await box.wait_for(lambda: box.world.updates.is_polled)
        newer = asyncio.create_task(texts(other, timeout=50))
        with pytest.raises(
            Conflict, match="terminated by other getUpdates request; make sure that only one bot"
        ):
            await older
        box.type(ANA, "hello")
        assert await newer == ["hello"]


async def test_the_end_of_the_sandbox_ends_a_long_poll(clock: Clock) -> None:
    async with Sandbox.start(clock=clock) as box, bot_at(box) as bot:
        polling = asyncio.create_task(texts(bot, timeout=50))
        await box.wait_for(lambda: box.world.updates.is_polled)
    with pytest.raises(Exception, match=r"Internal Server Error|disconnected|Connect|ReadError"):
        await polling


async def test_updates_are_kept_for_a_day(box: Sandbox, bot: Bot, clock: Clock) -> None:
    box.type(ANA, "yesterday")
    clock.forward(12 * 3600)
    box.type(ANA, "today")
    clock.forward(12 * 3600 + 1)
    assert await texts(bot) == ["today"]


async def test_only_the_kinds_asked_for_are_kept(box: Sandbox, bot: Bot) -> None:
    await bot.get_updates(allowed_updates=["callback_query"])
    box.type(ANA, "unheard")
    assert await texts(bot) == []
    await bot.get_updates(allowed_updates=[])
    box.type(ANA, "heard")
    assert await texts(bot) == ["heard"]


async def test_a_tap_is_a_callback_query_with_the_message(box: Sandbox, bot: Bot) -> None:
    sent = await bot.send_message(ANA, "Search?", reply_markup=YES_NO)
    box.tap(ANA, sent.message_id, "No")
    box.tap(ANA, sent.message_id, 0)
    no, yes = await bot.get_updates()
    assert no.callback_query is not None and yes.callback_query is not None
    assert (no.callback_query.data, yes.callback_query.data) == ("n", "y")
    assert no.callback_query.message == sent
    assert (no.callback_query.from_user.id, no.callback_query.id != yes.callback_query.id) == (ANA, True)
    assert list(unknown_fields([no, yes])) == []


async def test_the_person_sees_the_toast_or_alert_that_answers_the_tap(box: Sandbox, bot: Bot) -> None:
    sent = await bot.send_message(ANA, "Search?", reply_markup=YES_NO)
    box.tap(ANA, sent.message_id, "Yes")
    (update,) = await bot.get_updates()
    assert update.callback_query is not None
    await update.callback_query.get_bot().answer_callback_query(
        update.callback_query.id, "Got it", show_alert=True
    )
    (tap,) = box.callbacks(ANA)
    assert (tap.answered, tap.text, tap.alert) == (True, "Got it", True)


async def test_a_tap_is_answered_once_and_in_time(box: Sandbox, bot: Bot, clock: Clock) -> None:
    sent = await bot.send_message(ANA, "Search?", reply_markup=YES_NO)
    box.tap(ANA, sent.message_id, "Yes")
    box.tap(ANA, sent.message_id, "No")
    first, second = box.callbacks(ANA)
    await bot.answer_callback_query(first.id)
    clock.forward(31)
    for callback_id in (first.id, second.id, "4711"):
        with pytest.raises(
            BadRequest, match=r"^Query is too old and response timeout expired or query id is invalid$"
        ):
            await bot.answer_callback_query(callback_id)


async def test_a_callback_answer_of_more_than_200_characters_is_refused(box: Sandbox, bot: Bot) -> None:
    sent = await bot.send_message(ANA, "Search?", reply_markup=YES_NO)
    box.tap(ANA, sent.message_id, "Yes")
    with pytest.raises(BadRequest, match=r"(?i)message_too_long"):
        await bot.answer_callback_query(box.callbacks(ANA)[0].id, "x" * 201)


async def test_a_url_button_opens_and_tells_the_bot_nothing(box: Sandbox, bot: Bot) -> None:
    form = InlineKeyboardMarkup([[InlineKeyboardButton("Open", url="http://127.0.0.1:8700/f/x")]])
    sent = await bot.send_message(ANA, "Please fill in", reply_markup=form)
    assert box.tap(ANA, sent.message_id, "Open").url == "http://127.0.0.1:8700/f/x"
    assert await bot.get_updates() == ()


async def test_start_carries_the_payload_of_the_deep_link(box: Sandbox, bot: Bot) -> None:
    box.press_start(ANA, "a_B-9")
    assert await texts(bot) == ["/start a_B-9"]
    (update,) = await bot.get_updates()
    assert update.message is not None
    assert [item.type for item in update.message.entities] == ["bot_command"]
    with pytest.raises(SandboxError, match="up to 64 characters"):
        box.press_start(ANA, "x" * 65)


async def test_blocking_and_letting_in_again_is_told_once_each(box: Sandbox, bot: Bot) -> None:
    for change in (box.block, box.block, box.unblock, box.unblock):
        change(ANA)
    updates = await bot.get_updates()
    members = [update.my_chat_member for update in updates]
    assert [item.new_chat_member.status for item in members if item] == ["kicked", "member"]
    assert list(unknown_fields(updates)) == []


async def test_in_a_group_the_bot_hears_commands_mentions_and_replies_to_itself_only(
    box: Sandbox, bot: Bot
) -> None:
    box.add_person(1002, "Ben", "ben")
    group = box.add_group("Billing", [ANA, 1002])
    sent = await bot.send_message(group.id, "Refund?", reply_markup=YES_NO)
    box.type(1002, "what do you think, Ana?", chat=group.id)
    box.type(ANA, "no", reply_to=sent.message_id, chat=group.id)
    box.type(1002, "/pending", chat=group.id)
    box.type(1002, "/pending@another_bot", chat=group.id)
    box.type(1002, "@answerback_sandbox_bot why?", chat=group.id)
    box.tap(1002, sent.message_id, "Yes", chat=group.id)
    updates = await bot.get_updates()
    heard = [update.message.text for update in updates if update.message]
    taps = [update.callback_query for update in updates if update.callback_query]
    assert heard == ["no", "/pending", "@answerback_sandbox_bot why?"]
    assert [(tap.from_user.id, tap.data) for tap in taps] == [(1002, "y")]
    assert list(unknown_fields(updates)) == []


async def test_without_privacy_mode_it_hears_everything(clock: Clock) -> None:
    async with Sandbox.start(clock=clock, privacy=False) as box, bot_at(box) as bot:
        group = box.add_group("Billing", [ANA])
        box.type(ANA, "between us", chat=group.id)
        assert (await bot.get_me()).can_read_all_group_messages
        assert await texts(bot) == [None, "between us"]


async def test_duplicated_updates_come_twice_under_the_same_id(box: Sandbox, bot: Bot) -> None:
    box.fail(FaultKind.DUPLICATE, 1)
    box.type(ANA, "one")
    box.type(ANA, "two")
    updates = await bot.get_updates()
    assert [update.message.text for update in updates if update.message] == ["one", "one", "two"]
    assert updates[0].update_id == updates[1].update_id


@pytest.mark.parametrize(
    ("what", "reason"),
    [
        (lambda box: box.type(4711, "x"), "there is no person 4711"),
        (lambda box: box.type(ANA, " "), "needs a text"),
        (lambda box: box.type(ANA, "🟦" * 2049), "at most 4096"),
        (lambda box: box.type(ANA, "\ud800"), "lone surrogate"),
        (lambda box: box.type(ANA, "x", reply_to=9), "there is no message 9"),
        (lambda box: box.type(ANA, "x", chat=-5), "is not in chat -5"),
        (lambda box: box.tap(ANA, 9, "Yes"), "there is no message 9"),
        (lambda box: box.tap(ANA, box.type(ANA, "x").id, "Yes"), "has no button 'Yes'"),
        (lambda box: box.add_person(ANA, "Ana"), "cannot be used"),
        (lambda box: box.add_group("Billing", []), "needs a title and a member"),
        (lambda box: box.kick(ANA), "there is no group"),
        (lambda box: (box.block(ANA), box.type(ANA, "x")), "is blocked"),
    ],
)
def test_what_a_person_cannot_do_is_said(what: object, reason: str) -> None:
    assert callable(what)
    with pytest.raises(SandboxError, match=reason):
        what(Sandbox())
