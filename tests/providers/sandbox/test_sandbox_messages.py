"""Messages: what the bot may send, edit and delete, with Telegram's own refusals."""

import pytest
from telegram import (
    Bot,
    ForceReply,
    InlineKeyboardButton,
    InlineKeyboardMarkup,
    LinkPreviewOptions,
    Message,
    MessageEntity,
    ReplyParameters,
)
from telegram.error import BadRequest, Forbidden

from answerback_sandbox import Sandbox
from tests.providers.sandbox.support import ANA, Clock, call, unknown_fields

YES_NO = InlineKeyboardMarkup(
    [[InlineKeyboardButton("Yes", callback_data="y"), InlineKeyboardButton("No", callback_data="n")]]
)


async def test_the_bot_learns_who_it_is(bot: Bot) -> None:
    me = await bot.get_me()
    assert (me.id, me.username, me.is_bot) == (7_000_000_001, "answerback_sandbox_bot", True)
    assert list(unknown_fields(me)) == []


async def test_a_message_reaches_the_person_with_everything_that_was_sent(box: Sandbox, bot: Bot) -> None:
    bold = MessageEntity(MessageEntity.BOLD, 3, 4)
    preview = LinkPreviewOptions(is_disabled=True)
    sent = await bot.send_message(
        ANA, "🟦 Term check", entities=[bold], reply_markup=YES_NO, link_preview_options=preview
    )
    (seen,) = box.received(ANA)
    assert (seen.id, seen.text) == (sent.message_id, "🟦 Term check")
    assert [(item.text, item.data) for item in seen.buttons] == [("Yes", "y"), ("No", "n")]
    assert sent.entities == (bold,) and sent.parse_entity(bold) == "Term"
    assert sent.reply_markup == YES_NO
    assert sent.link_preview_options == preview
    assert list(unknown_fields(sent)) == []


async def test_commands_links_and_mentions_are_found_in_texts(bot: Bot) -> None:
    sent = await bot.send_message(ANA, "🟥 try /help, @ana_lima or http://127.0.0.1/f/x.")
    assert [(item.type, sent.parse_entity(item)) for item in sent.entities] == [
        ("bot_command", "/help"),
        ("mention", "@ana_lima"),
        ("url", "http://127.0.0.1/f/x"),
    ]


@pytest.mark.parametrize(
    ("text", "error"),
    [
        ("", "Message text is empty"),
        (" \n ", "Text must be non-empty"),
        ("x" * 4097, "Message is too long"),
        ("🟦" * 2049, "Message is too long"),
        ("x" * 40_000, "Text is too long"),
    ],
)
async def test_texts_outside_of_the_limits_are_refused_in_telegrams_words(
    bot: Bot, text: str, error: str
) -> None:
    with pytest.raises(BadRequest) as caught:
        await bot.send_message(ANA, text)
    assert caught.value.message.lower() == error.lower()


async def test_4096_utf16_units_are_just_short_enough(box: Sandbox, bot: Bot) -> None:
    await bot.send_message(ANA, "🟦" * 2048)
    await bot.send_message(ANA, "x" * 4096 + "  \n")
    assert [len(item.text) for item in box.received(ANA)] == [2048, 4096]


@pytest.mark.parametrize("data", ["x" * 65, "é" * 33])
async def test_callback_data_over_64_bytes_is_refused(bot: Bot, data: str) -> None:
    markup = InlineKeyboardMarkup([[InlineKeyboardButton("Yes", callback_data=data)]])
    with pytest.raises(BadRequest, match=r"(?i)button_data_invalid"):
        await bot.send_message(ANA, "?", reply_markup=markup)


async def test_callback_data_of_64_bytes_is_taken(box: Sandbox, bot: Bot) -> None:
    markup = InlineKeyboardMarkup([[InlineKeyboardButton("Yes", callback_data="é" * 32)]])
    await bot.send_message(ANA, "?", reply_markup=markup)
    assert box.received(ANA)[0].buttons[0].data == "é" * 32


@pytest.mark.parametrize(
    ("button", "error"),
    [
        ({"text": "Yes"}, "Text buttons are unallowed in the inline keyboard"),
        ({"text": " ", "callback_data": "y"}, "button text must be non-empty"),
        ({"callback_data": "y"}, 'Can\'t find field "text"'),
        ({"text": "Open", "url": "http://localhost:8700/f/x"}, "is invalid: Wrong HTTP URL"),
        ({"text": "Open", "url": "javascript:alert(1)"}, "is invalid: Wrong HTTP URL"),
    ],
)
async def test_buttons_that_telegram_would_refuse_are_refused(
    box: Sandbox, button: dict[str, str], error: str
) -> None:
    markup = {"inline_keyboard": [[button]]}
    status, answer = await call(
        box, "sendMessage", json={"chat_id": ANA, "text": "?", "reply_markup": markup}
    )
    assert status == answer["error_code"] == 400
    assert error in answer["description"]


async def test_more_than_a_hundred_buttons_are_refused(bot: Bot) -> None:
    rows = [[InlineKeyboardButton(str(n), callback_data=str(n))] for n in range(101)]
    with pytest.raises(BadRequest, match=r"(?i)reply markup is too long"):
        await bot.send_message(ANA, "?", reply_markup=InlineKeyboardMarkup(rows))


@pytest.mark.parametrize(
    ("offset", "length", "error"),
    [(-1, 1, "incorrect offset"), (9, 1, "begins after the end"), (0, 4, "ends after the end")],
)
async def test_entities_outside_of_the_text_are_refused(
    bot: Bot, offset: int, length: int, error: str
) -> None:
    with pytest.raises(BadRequest) as caught:
        await bot.send_message(ANA, "abc", entities=[MessageEntity(MessageEntity.BOLD, offset, length)])
    assert error in caught.value.message


async def test_parse_modes_are_refused_rather_than_shown_raw(bot: Bot) -> None:
    with pytest.raises(BadRequest, match=r"(?i)unsupported parse_mode"):
        await bot.send_message(ANA, "<b>x</b>", parse_mode="HTML")


async def test_a_reply_carries_the_message_it_replies_to(box: Sandbox, bot: Bot) -> None:
    asked = box.type(ANA, "how is it going?")
    sent = await bot.send_message(
        ANA, "well", reply_parameters=ReplyParameters(asked.id), reply_markup=ForceReply()
    )
    assert sent.reply_to_message is not None
    assert sent.reply_to_message.text == "how is it going?"
    assert box.received(ANA)[0].reply_to == asked.id
    assert box.received(ANA)[0].force_reply
    assert list(unknown_fields(sent)) == []


async def test_a_reply_to_nothing_is_refused_unless_it_may_stand_alone(bot: Bot) -> None:
    with pytest.raises(BadRequest, match=r"(?i)message to be replied not found"):
        await bot.send_message(ANA, "x", reply_parameters=ReplyParameters(99))
    sent = await bot.send_message(
        ANA, "x", reply_parameters=ReplyParameters(99, allow_sending_without_reply=True)
    )
    assert sent.reply_to_message is None


async def test_an_edit_changes_text_and_buttons_and_shows_that_it_did(
    box: Sandbox, bot: Bot, clock: Clock
) -> None:
    sent = await bot.send_message(ANA, "Search?", reply_markup=YES_NO)
    clock.forward(60)
    edited = await bot.edit_message_text("✅ You chose yes.", ANA, sent.message_id)
    (seen,) = box.received(ANA)
    assert (seen.text, seen.buttons, seen.shows_edited) == ("✅ You chose yes.", (), True)
    assert isinstance(edited, Message) and edited.edit_date is not None
    assert (edited.edit_date - edited.date).total_seconds() == 60
    assert list(unknown_fields(edited)) == []


async def test_buttons_can_be_edited_alone(box: Sandbox, bot: Bot) -> None:
    sent = await bot.send_message(ANA, "Search?")
    await bot.edit_message_reply_markup(ANA, sent.message_id, reply_markup=YES_NO)
    assert len(box.received(ANA)[0].buttons) == 2
    await bot.edit_message_reply_markup(ANA, sent.message_id)
    (seen,) = box.received(ANA)
    assert (seen.buttons, seen.shows_edited) == ((), False)


async def test_an_edit_that_changes_nothing_is_refused(bot: Bot) -> None:
    sent = await bot.send_message(ANA, "Search?", reply_markup=YES_NO)
    for edit in (
        bot.edit_message_text("Search?", ANA, sent.message_id, reply_markup=YES_NO),
        bot.edit_message_reply_markup(ANA, sent.message_id, reply_markup=YES_NO),
    ):
        with pytest.raises(BadRequest, match=r"^Message is not modified: specified new message content"):
            await edit


async def test_only_the_bots_own_existing_messages_can_be_edited(box: Sandbox, bot: Bot) -> None:
    theirs = box.type(ANA, "hello")
    with pytest.raises(BadRequest, match=r"(?i)message to edit not found"):
        await bot.edit_message_text("x", ANA, 99)
    with pytest.raises(BadRequest, match=r"(?i)message can't be edited"):
        await bot.edit_message_text("x", ANA, theirs.id)
    _, answer = await call(box, "editMessageText", json={"chat_id": ANA, "text": "x"})
    assert answer["description"] == "Bad Request: message identifier is not specified"


async def test_messages_can_be_deleted_for_48_hours(box: Sandbox, bot: Bot, clock: Clock) -> None:
    first, second = await bot.send_message(ANA, "1"), await bot.send_message(ANA, "2")
    assert await bot.delete_message(ANA, first.message_id)
    assert [item.text for item in box.received(ANA)] == ["2"]
    with pytest.raises(BadRequest, match=r"(?i)message to delete not found"):
        await bot.delete_message(ANA, first.message_id)
    clock.forward(48 * 3600 + 1)
    with pytest.raises(BadRequest, match=r"(?i)message can't be deleted for everyone"):
        await bot.delete_message(ANA, second.message_id)


async def test_typing_shows_for_five_seconds_or_until_the_message(
    box: Sandbox, bot: Bot, clock: Clock
) -> None:
    chat = box.chats(ANA)[0]
    await bot.send_chat_action(ANA, "typing")
    assert chat.action_until == clock.now + 5_000_000
    await bot.send_message(ANA, "here")
    assert chat.action_until == 0
    with pytest.raises(BadRequest, match=r"(?i)wrong parameter action"):
        await bot.send_chat_action(ANA, "dancing")


async def test_chats_that_the_bot_does_not_know_are_not_found(box: Sandbox, bot: Bot) -> None:
    box.add_person(1002, "Ben", started=False)
    for chat in (4711, 1002, "@ana"):
        with pytest.raises(BadRequest, match=r"^Chat not found$"):
            await bot.send_message(chat, "hello")
    with pytest.raises(BadRequest, match=r"^Chat_id is empty$"):
        await bot.send_message("", "hello")
    box.press_start(1002)
    await bot.send_message(1002, "hello")


async def test_a_blocked_bot_is_told_so(box: Sandbox, bot: Bot) -> None:
    box.block(ANA)
    with pytest.raises(Forbidden, match=r"^Forbidden: bot was blocked by the user$"):
        await bot.send_message(ANA, "hello")
    box.unblock(ANA)
    await bot.send_message(ANA, "hello")


async def test_a_chat_can_be_looked_up(box: Sandbox, bot: Bot) -> None:
    group = box.add_group("Billing", [ANA])
    ana, billing = await bot.get_chat(ANA), await bot.get_chat(group.id)
    assert (ana.id, ana.type, ana.first_name, ana.username) == (ANA, "private", "Ana", "ana")
    assert (billing.type, billing.title) == ("supergroup", "Billing")
    assert list(unknown_fields([ana, billing])) == []


async def test_commands_are_kept_by_scope_and_checked(bot: Bot) -> None:
    await bot.set_my_commands([("pending", "What is open"), ("help", "How this works")])
    assert [item.command for item in await bot.get_my_commands()] == ["pending", "help"]
    with pytest.raises(BadRequest, match=r"(?i)bot_command_invalid"):
        await bot.set_my_commands([("Not A Command", "x")])
    await bot.delete_my_commands()
    assert await bot.get_my_commands() == ()


async def test_message_ids_are_unique_in_a_chat_only(box: Sandbox, bot: Bot) -> None:
    group = box.add_group("Billing", [ANA])
    assert (await bot.send_message(ANA, "x")).message_id == (await bot.send_message(group.id, "x")).message_id


async def test_a_bot_thrown_out_of_a_group_is_told_so(box: Sandbox, bot: Bot) -> None:
    group = box.add_group("Billing", [ANA])
    box.kick(group.id)
    with pytest.raises(Forbidden, match="bot was kicked from the supergroup chat"):
        await bot.send_message(group.id, "hello")
