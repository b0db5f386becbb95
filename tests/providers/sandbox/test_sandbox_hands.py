"""What people do besides typing, as the real client sees it: files, forwards, edits, groups that grow."""

import pytest
from telegram import Bot, MessageOriginHiddenUser, Update
from telegram.error import BadRequest, ChatMigrated, Forbidden

from answerback_sandbox import ChatKind, Sandbox, SandboxError
from answerback_sandbox.telegram import hands
from tests.providers.sandbox.support import ANA, unknown_fields


async def only(bot: Bot) -> Update:
    """The one update that waits, of which the client must know every field."""
    (update,) = await bot.get_updates()
    assert list(unknown_fields(update)) == []
    return update


# The client says so of a duration whenever it is looked at, and here every field is.
@pytest.mark.filterwarnings("ignore:Deprecated since version v22.2. In a future major version attribute `dur")
@pytest.mark.parametrize("kind", ["voice", "photo", "document", "video"])
async def test_a_file_comes_with_its_caption_and_can_be_downloaded(box: Sandbox, bot: Bot, kind: str) -> None:
    hands.send_file(box.world, ANA, kind, b"\x00bytes", name="a.bin", caption="look")
    message = (await only(bot)).message
    assert (message.caption, message.text) == ("look", None)
    sent = getattr(message, kind)
    found = sent[-1] if kind == "photo" else sent
    file = await bot.get_file(found.file_id)
    assert await file.download_as_bytearray() == b"\x00bytes"
    assert file.file_size == found.file_size == 6


async def test_a_file_that_is_unknown_or_too_large_is_refused_in_telegrams_words(
    box: Sandbox, bot: Bot
) -> None:
    large = hands.send_file(box.world, ANA, "video", bytes(20 * 1024 * 1024 + 1))
    assert large.file is not None
    with pytest.raises(BadRequest, match="File is too big"):
        await bot.get_file(large.file.id)
    with pytest.raises(BadRequest, match="rong file_id"):
        await bot.get_file("nothing")


async def test_a_forwarded_message_says_so_and_an_edited_one_comes_again(box: Sandbox, bot: Bot) -> None:
    hands.forward(box.world, ANA, "theirs")
    first = await only(bot)
    assert isinstance(first.message.forward_origin, MessageOriginHiddenUser)
    own = box.type(ANA, "one")
    hands.edit(box.world, own, "two")
    _, edited = await bot.get_updates(first.update_id + 1)
    assert (edited.edited_message.text, edited.edited_message.message_id) == ("two", own.id)
    assert edited.edited_message.edit_date is not None


async def test_an_anonymous_administrator_and_a_channel_are_told_by_their_chat(
    box: Sandbox, bot: Bot
) -> None:
    group = box.add_group("Ops", [ANA])
    (joined,) = await bot.get_updates()
    for chat in (group.id, -1_009_000_000_001):
        hands.write_as(box.world, ANA, chat, f"/hi@{box.world.username}", chat_id=group.id)
    own, channel = await bot.get_updates(joined.update_id + 1)
    assert [update.message.sender_chat.type for update in (own, channel)] == ["supergroup", "channel"]
    assert own.message.from_user.username == "GroupAnonymousBot"
    assert list(unknown_fields([own, channel])) == []
    hands.post(box.world, "news")
    (post,) = await bot.get_updates(channel.update_id + 1)
    assert (post.channel_post.text, post.channel_post.from_user) == ("news", None)


async def test_a_group_becomes_a_supergroup_says_so_twice_and_refuses_its_old_number(
    box: Sandbox, bot: Bot
) -> None:
    old = box.world.add_group("Ops", (ANA,), ChatKind.BASIC)
    (joined,) = await bot.get_updates()
    new = hands.upgrade(box.world, old.id)
    there, here = await bot.get_updates(joined.update_id + 1)
    assert (there.message.chat.id, there.message.migrate_to_chat_id) == (old.id, new.id)
    assert (here.message.chat.id, here.message.migrate_from_chat_id) == (new.id, old.id)
    assert list(unknown_fields([there, here])) == []
    with pytest.raises(ChatMigrated) as caught:
        await bot.send_message(old.id, "anybody?")
    assert caught.value.new_chat_id == new.id
    await bot.send_message(new.id, "here")
    with pytest.raises(SandboxError):
        hands.upgrade(box.world, old.id)


async def test_a_group_that_threw_the_bot_out_names_its_kind(box: Sandbox, bot: Bot) -> None:
    group = box.world.add_group("Ops", (ANA,), ChatKind.BASIC)
    box.kick(group.id)
    with pytest.raises(Forbidden, match="kicked from the group chat"):
        await bot.send_message(group.id, "hello")
