"""Every object that the sandbox sends is one that Telegram describes, as the real client knows it.

Each test of this folder and of our Telegram provider is held against it when it ends; see `fields.py`.
"""

from telegram import Bot

from answerback_sandbox import Sandbox
from tests.providers.sandbox.fields import misfits
from tests.providers.sandbox.support import ANA


async def test_a_field_that_telegram_does_not_describe_would_be_found(box: Sandbox, bot: Bot) -> None:
    await bot.send_message(ANA, "Which term?")
    (_, message) = box.told[-1]
    message["sparkle"] = True
    message["chat"]["sparkle"] = True
    assert misfits(box) == ["sendmessage: Message.sparkle", "sendmessage: Chat.sparkle"]
    del message["sparkle"], message["chat"]["sparkle"]


async def test_an_object_that_lacks_what_it_must_have_would_be_found(box: Sandbox, bot: Bot) -> None:
    await bot.send_message(ANA, "Which term?")
    (_, message) = box.told[-1]
    date = message.pop("date")
    (misfit,) = misfits(box)
    assert misfit.startswith("sendmessage: Message cannot be read")
    message["date"] = date


async def test_updates_count_whether_they_are_fetched_or_not(box: Sandbox) -> None:
    box.type(ANA, "coding")
    (method, update) = box.told[-1]
    assert (method, update["message"]["text"]) == ("update", "coding")
