"""Webhooks: what providers are given, and what their services hear."""

import pytest

from answerback.errors import StoreUnavailable, TryLater, Unverified
from tests.unit.web.fakes import PUBLIC, World
from tests.unit.web.test_api import is_problem


async def test_a_provider_gets_the_bytes_as_they_came():
    world = World()
    async with world.client("") as client:
        response = await client.post(
            "/in/telegram?b=2&a=1&a=%20", content=b"\xff\x00{", headers={"X-Signature": "s1"}
        )
    assert (response.status_code, response.content) == (200, b"<Response/>")
    assert response.headers["content-type"] == "text/xml"
    [inbound] = world.receiver.events
    assert inbound.body == b"\xff\x00{" and inbound.method == "POST"
    assert inbound.query == (("b", "2"), ("a", "1"), ("a", " "))
    assert inbound.headers["x-signature"] == "s1"
    assert inbound.received_at > 0


async def test_the_url_is_the_public_one_with_path_and_query_untouched_whatever_the_host_says():
    world = World()
    async with world.client("") as client:
        await client.post("/in/%74elegram?a=%2B+b&&c", headers={"host": "evil.example.net"})
    [inbound] = world.receiver.events
    assert inbound.url == f"{PUBLIC}/in/%74elegram?a=%2B+b&&c"


async def test_a_second_signature_never_replaces_the_first():
    world = World()
    async with world.client("") as client:
        await client.post("/in/telegram", headers=[("x-signature", "one"), ("X-Signature", "two")])
    assert world.receiver.events[0].headers["x-signature"] == "one, two"


async def test_who_is_refused_by_a_header_has_no_byte_of_the_body_read():
    world, read = World(), list[int]()

    async def body():
        read.append(1)
        yield b"{}"

    async with world.client("") as client:
        response = await client.post("/in/telegram", content=body(), headers={"x-stranger": "1"})
    is_problem(response, 403)
    assert world.receiver.screened[0].body == b"" and world.receiver.events == []


async def test_a_handshake_is_answered_and_stores_nothing():
    world = World()
    async with world.client("") as client:
        response = await client.get("/in/telegram?challenge=abc")
    assert response.text == "abc" and world.receiver.events == []


@pytest.mark.parametrize("path", ["/in/unknown", "/in/a%20b", "/in/" + "x" * 65, "/in/%00"])
async def test_an_unknown_provider_is_404(path):
    async with World().client("") as client:
        is_problem(await client.post(path), 404)
        is_problem(await client.get(path), 404)


@pytest.mark.parametrize(
    ("error", "status"),
    [
        (Unverified("the secret is wrong"), 403),
        (Unverified("no webhooks", status=404), 404),
        (StoreUnavailable("gone"), 503),
        (TryLater(30), 503),
    ],
)
async def test_what_was_not_stored_is_never_acknowledged(error, status):
    world = World()
    world.receiver.refusal = error
    async with world.client("") as client:
        response = await client.post("/in/telegram", content=b"{}")
    is_problem(response, status)
    assert "secret" not in response.text
    assert ("retry-after" in response.headers) == (status == 503)


async def test_too_much_is_413_and_reaches_no_provider():
    world = World(body_bytes=1000)
    async with world.client("") as client:
        is_problem(await client.post("/in/telegram", content=b"x" * 1001), 413)
        assert (await client.post("/in/telegram", content=b"x" * 1000)).status_code == 200
    assert len(world.receiver.events) == 1
