"""The webhook: updates are posted with the secret, in order, again until they are answered with 2xx."""

import asyncio
from collections.abc import AsyncIterator
from dataclasses import dataclass, field
from typing import Any

import pytest
from aiohttp import web
from telegram import Bot
from telegram.error import BadRequest, Conflict

from answerback_sandbox import FaultKind, Sandbox
from tests.providers.sandbox.support import ANA, unknown_fields

SECRET = "a-Secret_1"


@dataclass
class Receiver:
    """The bot's side of a webhook: notes what arrives, answers with the statuses it is told, then 200."""

    url: str = ""
    statuses: list[int] = field(default_factory=list)
    arrived: list[tuple[str | None, Any]] = field(default_factory=list)
    changed: asyncio.Condition = field(default_factory=asyncio.Condition)

    async def take(self, request: web.Request) -> web.Response:
        async with self.changed:
            self.arrived.append(
                (request.headers.get("X-Telegram-Bot-Api-Secret-Token"), await request.json())
            )
            self.changed.notify_all()
        return web.Response(status=self.statuses.pop(0) if self.statuses else 200)

    async def texts(self, count: int) -> list[str]:
        """The texts of the first `count` posts, waiting for them."""
        async with asyncio.timeout(5), self.changed:
            await self.changed.wait_for(lambda: len(self.arrived) >= count)
        return [body["message"]["text"] for _, body in self.arrived]


@pytest.fixture
async def receiver() -> AsyncIterator[Receiver]:
    receiver = Receiver()
    app = web.Application()
    app.router.add_post("/in/telegram", receiver.take)
    runner = web.AppRunner(app, access_log=None)
    await runner.setup()
    site = web.TCPSite(runner, "127.0.0.1", 0)
    await site.start()
    port = runner.addresses[0][1]
    receiver.url = f"http://127.0.0.1:{port}/in/telegram"
    yield receiver
    await runner.cleanup()


async def test_updates_are_posted_with_the_secret_and_then_gone(
    box: Sandbox, bot: Bot, receiver: Receiver
) -> None:
    box.type(ANA, "before")
    await bot.set_webhook(receiver.url, secret_token=SECRET)
    box.type(ANA, "after")
    assert await receiver.texts(2) == ["before", "after"]
    assert {secret for secret, _ in receiver.arrived} == {SECRET}
    await box.wait_for(lambda: len(box.world.updates) == 0)


async def test_without_a_secret_there_is_no_header(box: Sandbox, bot: Bot, receiver: Receiver) -> None:
    await bot.set_webhook(receiver.url)
    box.type(ANA, "x")
    await receiver.texts(1)
    assert receiver.arrived[0][0] is None


async def test_an_update_is_posted_again_until_2xx_and_nothing_overtakes_it(
    box: Sandbox, bot: Bot, receiver: Receiver
) -> None:
    receiver.statuses = [500, 404, 302]
    await bot.set_webhook(receiver.url)
    box.type(ANA, "one")
    box.type(ANA, "two")
    assert await receiver.texts(5) == ["one", "one", "one", "one", "two"]
    info = await bot.get_webhook_info()
    assert info.last_error_message is not None and info.last_error_message.startswith(
        "Wrong response from the webhook"
    )
    assert list(unknown_fields(info)) == []


async def test_a_webhook_that_nobody_listens_on_keeps_the_updates(box: Sandbox, bot: Bot) -> None:
    await bot.set_webhook("http://127.0.0.1:9/in/telegram", max_connections=7, allowed_updates=["message"])
    box.type(ANA, "one")

    before = box.changes.version
    while not (info := await bot.get_webhook_info()).last_error_message:
        await box.changes.after(before)
        before = box.changes.version
    assert (info.pending_update_count, info.max_connections, info.allowed_updates) == (1, 7, ("message",))
    assert info.last_error_message == "Connection refused"


async def test_a_webhook_and_polling_exclude_each_other(box: Sandbox, bot: Bot, receiver: Receiver) -> None:
    polling = asyncio.create_task(bot.get_updates(timeout=50))
    await box.wait_for(lambda: box.world.updates.is_polled)
    await bot.set_webhook(receiver.url)
    with pytest.raises(Conflict, match="terminated by setWebhook request"):
        await polling
    with pytest.raises(Conflict, match="can't use getUpdates method while webhook is active"):
        await bot.get_updates()
    await bot.delete_webhook()
    box.type(ANA, "polled")
    assert len(await bot.get_updates()) == 1
    assert (await bot.get_webhook_info()).url == ""


async def test_pending_updates_can_be_dropped(box: Sandbox, bot: Bot) -> None:
    box.type(ANA, "old")
    await bot.delete_webhook(drop_pending_updates=True)
    assert await bot.get_updates() == ()


async def test_a_duplicated_update_is_posted_twice(box: Sandbox, bot: Bot, receiver: Receiver) -> None:
    box.fail(FaultKind.DUPLICATE, 1)
    await bot.set_webhook(receiver.url)
    box.type(ANA, "one")
    box.type(ANA, "two")
    assert await receiver.texts(3) == ["one", "one", "two"]
    assert receiver.arrived[0] == receiver.arrived[1]


@pytest.mark.parametrize(
    ("url", "secret", "error"),
    [
        ("https://example.org/in/telegram", "", "posts to loopback addresses only"),
        ("http://127.0.0.1.example.org/", "", "posts to loopback addresses only"),
        ("ftp://127.0.0.1/", "", "posts to loopback addresses only"),
        ("http://127.0.0.1:9/", "no spaces", "secret token contains unallowed characters"),
        ("http://127.0.0.1:9/", "x" * 257, "secret token is too long"),
    ],
)
async def test_what_is_no_webhook_is_refused(bot: Bot, url: str, secret: str, error: str) -> None:
    with pytest.raises(BadRequest) as caught:
        await bot.set_webhook(url, secret_token=secret)
    assert error.lower() in caught.value.message.lower()
