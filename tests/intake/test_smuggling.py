"""Requests made so that two programs read them differently, on a real socket: one reading, or none."""

import asyncio
import logging
from pathlib import Path
from urllib.parse import urlsplit

import pytest

from answerback.metrics import Metric
from answerback.model import InteractionStatus
from tests.intake.doors import KEY, SECRETS, World, world_in
from tests.support.serving import served

pytestmark = pytest.mark.needs_extra("telegram", "whatsapp")
LATE = 3.0  # seconds until a server that waits for more is taken to have refused

SECOND = (
    b"POST /v1/interactions/%(id)s/respond HTTP/1.1\r\nHost: x\r\nAuthorization: Bearer %(key)s\r\n"
    b"Connection: close\r\n"
    b"Content-Type: application/json\r\nContent-Length: 17\r\n\r\n"
    b'{"response": "x"}'
)
START = b"POST /in/telegram HTTP/1.1\r\nHost: x\r\n"
SMUGGLED = {
    "a length and chunks": START
    + b"Content-Length: %(length)d\r\nTransfer-Encoding: chunked\r\n\r\n0\r\n\r\n%(second)s",
    "two lengths": START + b"Content-Length: 0\r\nContent-Length: %(length)d\r\n\r\n%(second)s",
    "a length that is none": START + b"Content-Length: +0\r\n\r\n%(second)s",
    "chunks spelled oddly": START + b"Transfer-Encoding: xchunked\r\n\r\n0\r\n\r\n%(second)s",
    "a blank before the colon": START + b"Content-Length : 0\r\n\r\n%(second)s",
    "NUL in a header": START + b"X-Odd: a\x00b\r\nContent-Length: 0\r\n\r\n%(second)s",
    "a header without end": START + b"X-Long: " + b"a" * 300_000,
    "blank lines without end": b"\r\n" * 100_000,
    "not HTTP": b"\x16\x03\x01\x02\x00\x01\x00\x01\xfc\x03\x03" + b"\x00" * 200,
}


async def talk(url: str, sent: bytes) -> bytes:
    """All that comes back until the server hangs up, or falls silent."""
    reader, writer = await asyncio.open_connection("127.0.0.1", urlsplit(url).port)
    found = b""
    try:
        async with asyncio.timeout(LATE):
            writer.write(sent)
            await writer.drain()
            while more := await reader.read(65536):
                found += more
    except (TimeoutError, OSError):
        pass
    finally:
        writer.close()
    return found


def filled(template: bytes, world: World) -> bytes:
    second = SECOND % {b"id": world.interaction.encode(), b"key": KEY.encode()}
    return template.replace(b"%(second)s", second).replace(b"%(length)d", b"%d" % len(second))


@pytest.mark.parametrize("template", SMUGGLED.values(), ids=SMUGGLED)
async def test_what_can_be_read_in_two_ways_opens_no_door(
    tmp_path: Path, template: bytes, caplog: pytest.LogCaptureFixture
) -> None:
    """What is hidden would answer the question, and has a key: if it is read as a request, it is seen."""
    async with world_in(tmp_path) as world, served(world.app) as url:
        said = await talk(url, filled(template, world))
        assert b" 200 " not in said and b"HTTP/1.1" in said  # refused, not left to wait
        assert await world.status() is InteractionStatus.PENDING
        assert world.app.context.metrics.of(Metric.EVENTS) == 0
        healthy = await talk(url, b"GET /-/healthy HTTP/1.1\r\nHost: x\r\nConnection: close\r\n\r\n")
        assert b" 200 " in healthy


async def test_two_requests_behind_one_another_are_two(tmp_path: Path) -> None:
    """What the tests above would have seen, had one of them been read like this."""
    async with world_in(tmp_path) as world, served(world.app) as url:
        await talk(url, filled(START + b"Content-Length: 0\r\n\r\n%(second)s", world))
        await world.app.idle()
        assert await world.status() is InteractionStatus.COMPLETED


async def test_headers_of_a_proxy_that_nobody_configured_change_nothing(
    tmp_path: Path, caplog: pytest.LogCaptureFixture
) -> None:
    caplog.set_level(logging.INFO)
    odd = {
        "x-forwarded-host": "evil.example.net",
        "x-forwarded-proto": "gopher",
        "x-original-url": f"/v1/interactions?key={KEY}",
        "x-http-method-override": "DELETE",
        "forwarded": "host=evil.example.net",
        "host": "evil.example.net",
    }
    async with world_in(tmp_path) as world:
        answer = await world.client.get(world.form, headers=odd)
        assert answer.status_code == 200 and "evil.example.net" not in answer.text
        refused = await world.client.post("/in/telegram", content=b"{}", headers=odd)
        assert refused.status_code == 403
    ours = [record for record in caplog.records if record.name.startswith("answerback")]
    assert [secret for secret in SECRETS if any(secret in str(vars(record)) for record in ours)] == []
