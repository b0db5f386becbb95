"""The control interface: what to connect to, and faults of each service that can be switched by HTTP."""

import asyncio
import json
import signal
import sys
from collections.abc import AsyncIterator
from typing import Any

import aiohttp
import pytest
from telegram import Bot
from telegram.error import NetworkError, TelegramError

from answerback_sandbox import FaultKind, NotLoopback, Sandbox, SandboxError, ServiceName
from answerback_sandbox.endpoints import endpoints
from answerback_sandbox.faults import Fault, Faults, switches
from answerback_sandbox.standing import lines
from tests.providers.sandbox.support import ANA
from tests.providers.whatsapp.described import basic

SMTP_GREETING = b"220 mx.sandbox.test"


@pytest.fixture
async def session(box: Sandbox) -> AsyncIterator[aiohttp.ClientSession]:
    async with aiohttp.ClientSession(base_url=box.url) as session:
        yield session


async def post(session: aiohttp.ClientSession, path: str, body: Any) -> tuple[int, Any]:
    async with session.post(path, json=body) as answer:
        return answer.status, await answer.json()


async def get(session: aiohttp.ClientSession, path: str) -> Any:
    async with session.get(path) as answer:
        assert answer.status == 200
        return await answer.json()


async def greeting(box: Sandbox, port: int) -> bytes:
    """The first line of a mail server; empty where it hangs up."""
    reader, writer = await asyncio.open_connection(box.mail.host, port)
    try:
        return await reader.readline()
    finally:
        writer.close()


async def create_message(box: Sandbox, session: aiohttp.ClientSession) -> int:
    headers = basic(box.twilio.account_sid, box.twilio.auth_token)
    form = {
        "To": f"whatsapp:{box.everyone[0].whatsapp}",
        "From": f"whatsapp:{box.twilio.sender}",
        "Body": "hi",
    }
    path = f"/2010-04-01/Accounts/{box.twilio.account_sid}/Messages.json"
    async with session.post(path, data=form, headers=headers) as answer:
        return answer.status


async def test_it_says_what_to_put_into_a_bots_settings(box: Sandbox, session: aiohttp.ClientSession) -> None:
    found = await get(session, "/sandbox")
    assert found["telegram"]["bot_api"] == box.bot_api_base and found["telegram"]["token"] == box.token
    assert found["whatsapp"]["sender"] == "+15550001111"
    assert (await greeting(box, found["mail"]["smtp"]["port"])).startswith(SMTP_GREETING)
    assert (await greeting(box, found["mail"]["imap"]["port"])).startswith(b"* OK ")
    assert found["people"] == [
        {"id": ANA, "name": "Ana", "whatsapp": "+15550001001", "mail": "ana@people.test"}
    ]


async def test_everyone_has_all_three_and_no_two_share_an_address(box: Sandbox) -> None:
    for number, name in ((1002, "Zoë"), (1003, "Zoe"), (1004, "王")):
        box.add_person(number, name)
    assert [each.mail for each in box.everyone] == [
        "ana@people.test",
        "zoe@people.test",
        "zoe1003@people.test",
        "person@people.test",
    ]
    assert all(box.twilio.messages(each.whatsapp) == () for each in box.everyone)
    assert box.reach(1003).whatsapp == "+15550001003"


async def test_each_service_goes_down_alone_and_comes_back(
    box: Sandbox, session: aiohttp.ClientSession, bot: Bot
) -> None:
    works = {
        "telegram": lambda: bot.send_message(ANA, "hi"),
        "whatsapp": lambda: create_message(box, session),
        "mail": lambda: greeting(box, box.mail.smtp_port),
    }

    async def up() -> dict[str, bool]:
        found = {}
        for service, work in works.items():
            try:
                told = await work()
            except TelegramError:
                told = 500
            found[service] = told != 503 and told != 500 and not str(told).startswith("b'421")
        return found

    for service in works:
        status, shown = await post(session, "/sandbox/faults", {"service": service, "fault": "down"})
        assert status == 200 and shown[service]["down"] == {"on": True, "calls": 0, "seconds": 1.0}
        assert await up() == {name: name != service for name in works}
        await post(session, "/sandbox/faults", {"service": service, "fault": "down", "on": False})
        assert all((await up()).values())


async def test_the_response_can_be_lost_after_acceptance_a_number_of_times(
    box: Sandbox, session: aiohttp.ClientSession, bot: Bot
) -> None:
    await post(session, "/sandbox/faults", {"service": "telegram", "fault": "dropped", "calls": 1})
    assert (await get(session, "/sandbox/faults"))["telegram"]["dropped"]["calls"] == 1
    with pytest.raises(NetworkError):
        await bot.send_message(ANA, "hi")
    await bot.send_message(ANA, "hi again")
    assert [message.text for message in box.received(ANA)] == ["hi", "hi again"]


async def test_everything_can_be_healed_at_once(box: Sandbox, session: aiohttp.ClientSession) -> None:
    for service in ServiceName:
        for kind in switches(service):
            box.switch(service, kind, True, 2.0)
    shown = await get(session, "/sandbox/faults")
    assert all(
        each == {"on": True, "calls": 0, "seconds": 2.0} for of in shown.values() for each in of.values()
    )
    assert set(shown["whatsapp"]) - set(shown["mail"]) == {"shuffled"}
    _, healed = await post(session, "/sandbox/heal", {})
    assert not any(each["on"] for of in healed.values() for each in of.values())


@pytest.mark.parametrize(
    ("body", "error"),
    [
        ({"service": "fax", "fault": "down"}, "service is one of telegram, whatsapp, mail"),
        ({"service": "mail", "fault": "sad"}, "fault is one of down, refused"),
        ({"service": "mail", "fault": "shuffled"}, "mail cannot be shuffled"),
        ({"service": "mail", "fault": "slow", "seconds": 1e9}, "seconds is a number from 0 to 600"),
        ({"service": "mail", "fault": "slow", "on": "yes"}, "on is true or false"),
        ({"service": "mail", "fault": "slow", "calls": 0}, "calls is a number from 1"),
        ({"service": "mail", "fault": "slow", "seconds": "much"}, "the body does not fit"),
        ([], "the body must be an object"),
    ],
)
async def test_what_cannot_be_switched_is_said(
    box: Sandbox, session: aiohttp.ClientSession, body: Any, error: str
) -> None:
    status, answer = await post(session, "/sandbox/faults", body)
    assert status in (400, 422) and error in answer["error"]
    assert all(not box.faults_of(service).ahead for service in ServiceName)


async def test_another_site_cannot_switch_anything(box: Sandbox, session: aiohttp.ClientSession) -> None:
    for headers in ({"Origin": "https://evil.test"}, {"Host": "evil.test"}, {"Sec-Fetch-Site": "cross-site"}):
        async with session.post("/sandbox/heal", json={}, headers=headers) as answer:
            assert answer.status in (403, 421)
    async with session.post("/sandbox/heal", data="{}", headers={"Content-Type": "text/plain"}) as answer:
        assert answer.status == 400


async def test_the_webhook_is_on_loopback_or_nowhere(box: Sandbox, session: aiohttp.ClientSession) -> None:
    url = "http://127.0.0.1:9/in/whatsapp"
    assert await post(session, "/sandbox/webhook", {"url": url}) == (200, {"url": url})
    for wrong in ("https://example.org/x", "http://127.0.0.1.evil.test/", "file:///etc/passwd"):
        status, answer = await post(session, "/sandbox/webhook", {"url": wrong})
        assert status == 400 and "loopback" in answer["error"]
    assert box.twilio.courier.webhook == url


def test_of_faults_that_are_on_the_gravest_counts_and_those_with_a_count_go_first() -> None:
    faults = Faults()
    faults.switch(FaultKind.SLOW, True)
    faults.switch(FaultKind.DOWN, True)
    faults.add(Fault(FaultKind.DROPPED, 1, "sendmessage"))
    assert faults.take("getme").kind is FaultKind.DOWN
    assert faults.take("sendmessage").kind is FaultKind.DROPPED
    assert faults.take("sendmessage").kind is FaultKind.DOWN
    faults.switch(FaultKind.DOWN, False)
    assert faults.take("sendmessage").kind is FaultKind.SLOW
    assert faults.take("sendmessage", FaultKind.DOWN) is None


async def test_a_day_passes_on_whatsapp_for_one_person(box: Sandbox) -> None:
    ana = box.everyone[0].whatsapp
    assert not box.twilio.is_open(ana)
    box.twilio.type(ana, "hello")
    assert box.twilio.is_open(ana)
    box.twilio.let_a_day_pass(ana)
    assert not box.twilio.is_open(ana)
    box.twilio.block(ana)
    with pytest.raises(SandboxError):
        box.twilio.type(ana, "hello")


async def test_it_serves_on_loopback_only() -> None:
    for host in ("0.0.0.0", "192.0.2.1", "::", "example.org"):  # noqa: S104 (refused)
        with pytest.raises(NotLoopback):
            async with Sandbox.start(host=host):
                pass


@pytest.mark.parametrize("program", [["answerback_sandbox"], ["answerback.cli", "sandbox"]], ids=" ".join)
async def test_alone_it_prints_what_to_connect_to_and_ends_when_told_to(program: list[str]) -> None:
    ports = ["--listen", "127.0.0.1:0", "--smtp-port", "0", "--imap-port", "0"]
    process = await asyncio.create_subprocess_exec(
        sys.executable, "-m", *program, "--json", "--person", "Ben", *ports, stdout=asyncio.subprocess.PIPE
    )
    found = json.loads(await process.stdout.readline())
    assert [each["name"] for each in found["people"]] == ["Ana", "Ben"]
    async with aiohttp.ClientSession() as session:
        assert (await get(session, found["control"]))["phone"] == found["phone"]
    process.send_signal(signal.SIGINT)
    assert await process.wait() == 0
    assert await process.stdout.read() == b""


async def test_for_a_person_it_prints_the_same_in_lines(box: Sandbox) -> None:
    told = "\n".join(lines(endpoints(box)))
    for word in (
        box.url,
        box.token,
        box.twilio.account_sid,
        box.mail.address,
        "Ana       1001  +15550001001",
    ):
        assert word in told
    assert max(map(len, told.splitlines())) < 80
