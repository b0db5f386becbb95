"""The webhook: set with a secret, and nothing believed without it."""

import asyncio
from datetime import UTC, datetime, timedelta

import pytest
from aiohttp import web
from telegram import WebhookInfo

from answerback.provider import Inbound, Reply, Unverified
from answerback_providers.telegram.hook import trouble
from answerback_sandbox import Sandbox
from tests.providers.telegram.support import ANA, TOKEN, connected, provider

HEADER = "x-telegram-bot-api-secret-token"
HOOK = {"mode": "webhook", "webhook_secret": "right-secret_1"}


@pytest.mark.parametrize(
    "headers",
    [
        {},
        {HEADER: ""},
        {HEADER: "wrong"},
        {HEADER: "right-secret_"},
        {HEADER: "right-secret_1 "},
        {HEADER: "right-sécret_1"},
        {HEADER: "\udce9"},
        {"x-telegram-bot-api-secret": "right-secret_1"},
    ],
)
async def test_without_the_exact_secret_nothing_is_believed(headers: dict[str, str]) -> None:
    with pytest.raises(Unverified) as caught:
        await provider(**HOOK).verify(Inbound(body=b"{}", headers=headers))
    assert caught.value.status == 403


async def test_the_secret_proves_where_it_comes_from_whatever_the_body_is() -> None:
    await provider(**HOOK).verify(Inbound(body=b"\xff not even json", headers={HEADER: "right-secret_1"}))


async def test_a_polling_provider_takes_no_webhooks_even_with_the_secret() -> None:
    telegram = provider(webhook_secret="right-secret_1")
    with pytest.raises(Unverified) as caught:
        await telegram.verify(Inbound(body=b"{}", headers={HEADER: "right-secret_1"}))
    assert caught.value.status == 404


async def test_the_secret_is_in_no_error_text() -> None:
    with pytest.raises(Unverified) as caught:
        await provider(**HOOK).verify(Inbound(body=b"{}", headers={HEADER: "guess"}))
    assert "secret_1" not in str(caught.value)
    assert "guess" not in str(caught.value)


async def test_opening_tells_telegram_where_to_send_and_what_arrives_is_verified_and_read(
    box: Sandbox,
) -> None:
    arrived: asyncio.Queue[Inbound] = asyncio.Queue()

    async def hook(request: web.Request) -> web.Response:
        headers = {name.lower(): value for name, value in request.headers.items()}
        arrived.put_nowait(Inbound(body=await request.read(), headers=headers))
        return web.Response()

    app = web.Application()
    app.router.add_post("/in/telegram", hook)
    runner = web.AppRunner(app, access_log=None)
    await runner.setup()
    await web.TCPSite(runner, "127.0.0.1", 0).start()
    host, port = runner.addresses[0][:2]
    async with connected(box, public_url=f"http://{host}:{port}/", **HOOK) as telegram:
        box.type(ANA, "coding")
        inbound = await asyncio.wait_for(arrived.get(), 5)
        await telegram.verify(inbound)
        (reply,) = telegram.parse(inbound)
        assert isinstance(reply, Reply)
        assert reply.text == "coding"
        assert await telegram.probe() == "@answerback_sandbox_bot answers; mode webhook"
    await runner.cleanup()


NOBODY = "http://127.0.0.1:9"  # where nobody listens


async def test_a_webhook_that_somebody_took_away_is_set_again(
    box: Sandbox, caplog: pytest.LogCaptureFixture
) -> None:
    async with connected(box, **HOOK, public_url=NOBODY) as telegram:
        assert await telegram.hears() == ""
        async with connected(box):  # polls, and so takes the webhook away
            pass
        assert await telegram.hears() == ""
        assert "its webhook was gone, and is set again" in caplog.text
        assert ("setwebhook", True) in box.told[-2:]


async def test_a_webhook_of_another_program_is_named_and_left_alone(box: Sandbox) -> None:
    other = connected(box, **HOOK, public_url="http://127.0.0.2:9")
    async with connected(box, **HOOK, public_url=NOBODY) as telegram, other:
        assert "what people say to 127.0.0.2. One bot serves one gateway" in await telegram.hears()


async def test_whether_something_has_still_to_be_brought_is_known(box: Sandbox) -> None:
    async with connected(box, **HOOK, public_url=NOBODY) as telegram:
        assert not await telegram.behind()
        box.type(ANA, "hello?")
        assert await telegram.behind()
    async with connected(box) as telegram:
        assert not await telegram.behind()  # it fetches that itself


async def test_what_telegram_cannot_bring_is_said_with_its_reason(box: Sandbox) -> None:
    async with connected(box, **HOOK, public_url=NOBODY) as telegram:
        box.type(ANA, "hello?")
        await box.wait_for(lambda: "last_error_date" in box.webhook_info, 10)
        assert await telegram.hears() == (
            "Telegram cannot bring what people say to http://127.0.0.1:9/in/telegram (Connection refused). "
            "1 wait there. Check public_url, and that it can be reached from outside."
        )


@pytest.mark.parametrize("ours", ["https://Bücher.example", "https://xn--bcher-kva.example:443"])
def test_our_own_address_is_known_however_it_is_written(ours: str) -> None:
    info = WebhookInfo("https://xn--bcher-kva.example/in/telegram", False, 0)
    assert trouble(info, f"{ours}/in/telegram", TOKEN, datetime.now(UTC)) == ""


@pytest.mark.parametrize(
    ("pending", "ago"), [(0, 1), (3, 3601)], ids=["all of it came since", "it was long ago"]
)
def test_an_error_of_which_nothing_waits_any_more_is_none(pending: int, ago: int) -> None:
    now = datetime(2026, 12, 3, tzinfo=UTC)
    failed = now - timedelta(seconds=ago)
    info = WebhookInfo("https://a.b/in/telegram", False, pending, failed, "Connection refused")
    assert trouble(info, "https://a.b/in/telegram", TOKEN, now) == ""
