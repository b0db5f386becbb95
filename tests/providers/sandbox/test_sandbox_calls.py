"""Calls: tokens, bodies, faults, rates, and what a browser may bring."""

import asyncio
import io
import subprocess
import sys

import aiohttp
import pytest
from telegram import Bot
from telegram.error import InvalidToken, NetworkError, RetryAfter, TimedOut

from answerback_sandbox import FaultKind, NotLoopback, Sandbox
from answerback_sandbox.__main__ import main
from tests.providers.sandbox.support import ANA, Clock, bot_at, call

# python-telegram-bot warns of its own coming change of RetryAfter, whoever catches it.
pytestmark = pytest.mark.filterwarnings("ignore:Deprecated since version v22.2")
OTHER_TOKEN = "42:" + "x" * 35


async def test_any_token_that_looks_like_one_is_accepted(box: Sandbox) -> None:
    async with bot_at(box, OTHER_TOKEN) as bot:
        assert (await bot.get_me()).username == "answerback_sandbox_bot"


async def test_with_a_token_of_its_own_any_other_is_unauthorized(clock: Clock) -> None:
    async with Sandbox.start(OTHER_TOKEN, clock=clock) as box:
        async with bot_at(box) as bot:
            assert (await bot.get_me()).id == 42
        async with bot_at(box, "43:" + "x" * 35) as bot:
            with pytest.raises(InvalidToken, match="Unauthorized"):
                await bot.get_me()


async def test_what_does_not_look_like_a_token_is_not_found(box: Sandbox) -> None:
    async with bot_at(box, "42:short") as bot:
        with pytest.raises(InvalidToken, match="Not Found"):
            await bot.get_me()
    with pytest.raises(ValueError, match="a bot token is") as caught:
        Sandbox("42:short")
    assert "short" not in str(caught.value)


async def test_parameters_come_by_query_form_multipart_and_json(box: Sandbox) -> None:
    multipart = aiohttp.FormData({"chat_id": str(ANA), "text": "multipart"}, default_to_multipart=True)
    for request in (
        {"params": {"chat_id": ANA, "text": "query"}},
        {"data": {"chat_id": str(ANA), "text": "form"}},
        {"data": multipart},
        {"json": {"chat_id": ANA, "text": "json"}},
        {"params": {"chat_id": ANA}, "json": {"text": "both"}},
    ):
        status, answer = await call(box, "SENDmessage", **request)
        assert (status, answer["ok"]) == (200, True)
    assert [item.text for item in box.received(ANA)] == ["query", "form", "multipart", "json", "both"]


@pytest.mark.parametrize(
    ("request_", "status", "description"),
    [
        (
            {"data": b"[", "headers": {"content-type": "application/json"}},
            400,
            "can't parse request JSON object",
        ),
        ({"json": [1]}, 400, "request JSON object must be an Object"),
        ({"json": {"chat_id": ANA, "text": "\ud800"}}, 400, "can't parse request JSON object"),
        ({"json": {"chat_id": ANA, "text": float("nan")}}, 400, "can't parse request JSON object"),
        (
            {"json": {"text": "x", "chat_id": ANA, "entities": "[" * 9999}},
            400,
            "can't parse entities JSON object",
        ),
        ({"json": {"chat_id": ANA, "text": "x", "entities": "{"}}, 400, "can't parse entities JSON object"),
        (
            {"json": {"chat_id": ANA, "text": "x", "reply_markup": "[]"}},
            400,
            "object expected as reply markup",
        ),
        (
            {"data": b"--x", "headers": {"content-type": "multipart/form-data"}},
            400,
            "can't parse the request's form",
        ),
        ({"data": io.BytesIO(b"x" * (1 << 20) + b"x")}, 413, "Request Entity Too Large"),
    ],
)
async def test_bodies_that_cannot_be_read_are_refused(
    box: Sandbox, request_: dict[str, object], status: int, description: str
) -> None:
    answered, answer = await call(box, "sendMessage", **request_)
    assert (answered, answer["error_code"], answer["ok"]) == (status, status, False)
    assert description in answer["description"]


async def test_unknown_methods_are_not_found(box: Sandbox) -> None:
    answer = {"ok": False, "error_code": 404, "description": "Not Found: method not found"}
    assert await call(box, "sendTelepathy") == (404, answer)


async def test_a_service_that_is_down_answers_500_and_does_nothing(box: Sandbox, bot: Bot) -> None:
    box.fail(FaultKind.DOWN, 2)
    for _ in range(2):
        with pytest.raises(NetworkError, match="Internal Server Error"):
            await bot.send_message(ANA, "x")
    await bot.send_message(ANA, "y")
    assert [item.text for item in box.received(ANA)] == ["y"]


async def test_a_refused_connection_is_cut_before_anything_is_done(box: Sandbox, bot: Bot) -> None:
    box.fail(FaultKind.REFUSED)
    with pytest.raises(NetworkError):
        await bot.send_message(ANA, "x")
    assert box.received(ANA) == ()


async def test_a_dropped_response_leaves_the_message_sent(box: Sandbox, bot: Bot) -> None:
    box.fail(FaultKind.DROPPED)
    with pytest.raises(NetworkError):
        await bot.send_message(ANA, "x")
    assert [item.text for item in box.received(ANA)] == ["x"]


async def test_a_rate_limit_says_when_to_try_again(box: Sandbox, bot: Bot) -> None:
    box.fail(FaultKind.RATE_LIMITED, seconds=7)
    with pytest.raises(RetryAfter) as caught:
        await bot.send_message(ANA, "x")
    assert int(caught.value._retry_after.total_seconds()) == 7
    assert box.received(ANA) == ()


async def test_a_slow_service_answers_after_the_client_gave_up(box: Sandbox) -> None:
    box.fail(FaultKind.SLOW, seconds=0.2)
    async with bot_at(box, read_timeout=0.05) as bot:
        with pytest.raises(TimedOut):
            await bot.send_message(ANA, "late")
    assert await box.wait_for(lambda: box.received(ANA))


async def test_faults_can_concern_one_method_and_last_until_healed(box: Sandbox, bot: Bot) -> None:
    box.fail(FaultKind.DOWN, None, method="sendMessage")
    await bot.get_me()
    for _ in range(3):
        with pytest.raises(NetworkError):
            await bot.send_message(ANA, "x")
    box.heal()
    await bot.send_message(ANA, "x")


async def test_on_request_the_published_rates_are_kept(clock: Clock) -> None:
    async with Sandbox.start(rates=True, clock=clock) as box, bot_at(box) as bot:
        await bot.send_message(ANA, "1")
        clock.forward(0.4)
        with pytest.raises(RetryAfter):
            await bot.send_message(ANA, "2")
        clock.forward(0.6)
        await bot.send_message(ANA, "3")
        group = box.add_group("Billing", [ANA])
        for number in range(20):
            clock.forward(2)
            await bot.send_message(group.id, str(number))
        with pytest.raises(RetryAfter) as caught:
            await bot.send_message(group.id, "21")
        assert int(caught.value._retry_after.total_seconds()) == 22


async def test_overall_thirty_messages_a_second_pass(clock: Clock) -> None:
    async with Sandbox.start(rates=True, clock=clock) as box, bot_at(box) as bot:
        for person in range(2000, 2031):
            box.add_person(person, f"P{person}")
        for person in range(2000, 2030):
            await bot.send_message(person, "x")
        with pytest.raises(RetryAfter):
            await bot.send_message(2030, "x")


async def test_files_are_not_found(box: Sandbox) -> None:
    async with (
        aiohttp.ClientSession() as session,
        session.get(f"{box.file_api_base}{box.token}/x.jpg") as response,
    ):
        assert response.status == 404


@pytest.mark.parametrize("host", ["0.0.0.0", "192.168.1.5", "::", "example.org", ""])  # noqa: S104 - must be refused
async def test_no_other_address_than_loopback_is_listened_on(host: str) -> None:
    with pytest.raises(NotLoopback, match="listens on loopback only"):
        async with Sandbox.start(host=host):
            pass


@pytest.mark.parametrize("host", ["127.0.0.1", "127.3.2.1", "localhost"])
async def test_every_loopback_address_is_fine(host: str) -> None:
    async with Sandbox.start(host=host) as box, bot_at(box) as bot:
        await bot.get_me()


@pytest.mark.parametrize(
    ("headers", "status"),
    [
        ({}, 200),
        ({"Host": "localhost:8710"}, 200),
        ({"Host": "[::1]:8710"}, 200),
        ({"Host": "rebound.example.org"}, 421),
        ({"Host": "127.0.0.1.example.org"}, 421),
        ({"Host": "[::1"}, 421),
        ({"Origin": "http://evil.example.org"}, 403),
        ({"Origin": "null"}, 403),
        ({"Sec-Fetch-Site": "cross-site"}, 403),
        ({"Sec-Fetch-Site": "same-site"}, 403),
        ({"Sec-Fetch-Site": "same-origin"}, 200),
    ],
)
async def test_other_sites_cannot_use_a_browser_to_get_in(
    box: Sandbox, headers: dict[str, str], status: int
) -> None:
    body = {"chat_id": str(ANA), "text": "x"}
    answered, _ = await call(box, "sendMessage", data=body, headers=headers)
    assert answered == status
    assert len(box.received(ANA)) == (1 if status == 200 else 0)


async def test_a_link_on_another_site_may_open_the_page_but_nothing_else(box: Sandbox) -> None:
    headers = {"Sec-Fetch-Site": "cross-site", "Sec-Fetch-Mode": "navigate"}
    async with aiohttp.ClientSession(headers=headers) as session:
        for path, status in (("/", 200), ("/phone/api/people/1001", 403), (f"/bot{box.token}/getMe", 403)):
            async with session.get(box.url + path) as response:
                assert response.status == status


async def test_waiting_for_what_does_not_happen_times_out(box: Sandbox) -> None:
    with pytest.raises(TimeoutError):
        await box.wait_for(lambda: box.received(ANA), timeout=0.01)


def test_alone_it_refuses_other_addresses_and_wrong_ports(capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["--listen", "0.0.0.0:8710"]) == 2
    assert "listens on loopback only" in capsys.readouterr().err
    assert main(["--listen", "127.0.0.1:http"]) == 2


async def test_alone_it_says_that_its_port_is_taken(box: Sandbox) -> None:
    taken = box.url.removeprefix("http://")
    command = [sys.executable, "-m", "answerback_sandbox", "--listen", taken]
    alone = await asyncio.create_subprocess_exec(*command, stderr=subprocess.PIPE)
    _, said = await alone.communicate()
    assert (alone.returncode, f"cannot listen on {taken}" in said.decode()) == (1, True)


def test_alone_it_serves_until_it_is_interrupted() -> None:
    ports = ["--listen", "127.0.0.1:0", "--smtp-port", "0", "--imap-port", "0"]
    command = [sys.executable, "-m", "answerback_sandbox", *ports]
    with subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True) as alone:
        assert alone.stdout is not None and alone.stderr is not None
        assert alone.stdout.readline().startswith("phone     http://127.0.0.1:")
        alone.terminate()
        assert alone.wait(timeout=10) == 0
        assert alone.stderr.read() == ""
