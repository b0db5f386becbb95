"""Outgoing HTTP: which addresses may be called, and that nothing else is."""

import asyncio
import contextlib
import ipaddress
import threading
from collections.abc import AsyncIterator
from typing import Any

import pytest

from answerback.allowed import Allowed
from answerback.errors import TryLater
from answerback.http import HttpReply
from answerback.outgoing import Barred, Outgoing

PRIVATE = (
    "127.0.0.1", "10.0.0.8", "172.16.9.9", "192.168.1.1", "169.254.169.254", "100.64.0.1", "224.0.0.1",
    "0.0.0.0",  # noqa: S104 - nothing is bound
    "255.255.255.255", "::1", "::", "fe80::1", "fc00::1", "ff02::1", "::ffff:127.0.0.1", "::ffff:10.0.0.8",
    "64:ff9b::7f00:1", "64:ff9b::a9fe:a9fe", "64:ff9b:1::a00:8", "2002:7f00:1::", "2002:a00:8::",
)  # fmt: skip
PUBLIC = ("93.184.216.34", "8.8.8.8", "2606:2800:220:1::1", "64:ff9b::808:808", "::ffff:8.8.8.8")


@pytest.mark.parametrize("text", PRIVATE)
def test_without_a_list_no_private_address_is_reached_however_it_is_written(text: str) -> None:
    assert not Allowed().reaches("example.org", ipaddress.ip_address(text))


@pytest.mark.parametrize("text", PUBLIC)
def test_without_a_list_public_addresses_are_reached(text: str) -> None:
    assert Allowed().reaches("example.org", ipaddress.ip_address(text))


def test_a_host_that_is_named_may_be_private_but_not_a_cloud_s_metadata() -> None:
    allowed = Allowed(["hooks.intern", "*.corp.example"])
    inside, metadata = ipaddress.ip_address("10.0.0.8"), ipaddress.ip_address("169.254.169.254")
    assert allowed.reaches("hooks.intern", inside)
    assert allowed.reaches("HOOKS.intern.", inside)
    assert allowed.reaches("a.corp.example", inside)
    assert not allowed.reaches("corp.example", inside)
    assert not allowed.reaches("hooks.intern", metadata)
    assert Allowed(["169.254.0.0/16"]).reaches("hooks.intern", metadata)


def test_a_host_may_be_named_in_any_script() -> None:
    allowed, inside = Allowed(["häuser.example", "*.höfe.example"]), ipaddress.ip_address("10.0.0.8")
    assert allowed.reaches("xn--huser-gra.example", inside)
    assert allowed.reaches("a.xn--hfe-sna.example", inside)
    Outgoing(allowed).check("http://häuser.example/hook")


def test_with_a_list_nothing_else_is_reached() -> None:
    allowed = Allowed(["10.1.0.0/16"])
    assert allowed.reaches("any.example", ipaddress.ip_address("10.1.2.3"))
    assert allowed.reaches("any.example", ipaddress.ip_address("::ffff:10.1.2.3"))
    assert not allowed.reaches("any.example", ipaddress.ip_address("8.8.8.8"))


@pytest.mark.parametrize("entry", ["", "*.", "https://example.org", "10.0.0.0/99", "exa mple.org", "a..b"])
def test_an_entry_that_names_nothing_is_refused(entry: str) -> None:
    with pytest.raises(ValueError, match="host name"):
        Allowed([entry])


@pytest.mark.parametrize(
    "url",
    [
        "ftp://example.org/", "file:///etc/passwd", "http://example.org/", "https:///x", "https://[::1/",
        "https://user:secret@example.org/", "https://example.org:99999/", "https://127.0.0.1/", "https://[::1]/",
        "https://169.254.169.254/", "https://[::ffff:10.0.0.1]/", "https://[fe80::1%25eth0]/",
        "https://127。0。0。1/", "https://①②⑦.⓪.⓪.①/", "https://１６９.254.169.254/", "https://127.0.0.1./",
        "https://127.1/", "https://2130706433/", "https://0x7f.0.0.1/", "https://017700000001./",
    ],
)  # fmt: skip
async def test_what_cannot_be_right_is_refused_before_anything_is_resolved(url: str) -> None:
    def resolved(*_: object, **__: object) -> list[Any]:
        raise AssertionError("it was resolved")

    with pytest.raises(Barred) as failure:
        await Outgoing(look_up=resolved).call("POST", url)
    assert "secret" not in str(failure.value)
    assert "169.254" not in str(failure.value)


async def test_a_name_that_means_this_machine_is_refused_when_it_is_resolved() -> None:
    outgoing = Outgoing()
    try:
        with pytest.raises(Barred):
            await outgoing.call("POST", "https://localhost:9/")
    finally:
        await outgoing.close()


@contextlib.asynccontextmanager
async def receiver(answer: bytes, *, hang: bool = False) -> AsyncIterator[tuple[str, list[bytes]]]:
    """A server that answers every request with these bytes, and what it got."""
    got: list[bytes] = []
    held = asyncio.Event()

    async def serve(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        got.append(await reader.readuntil(b"\r\n\r\n"))
        if hang:
            await held.wait()
        writer.write(answer)
        writer.close()

    server = await asyncio.start_server(serve, "127.0.0.1", 0)
    try:
        yield f"http://localhost:{server.sockets[0].getsockname()[1]}/hook", got
    finally:
        held.set()
        server.close()
        await server.wait_closed()


async def ask(url: str, **options: float) -> HttpReply:
    outgoing = Outgoing(Allowed(["localhost"]))
    try:
        return await outgoing.call("POST", url, body=b"{}", headers={"x": "1"}, **options)
    finally:
        await outgoing.close()


async def test_an_answer_comes_back_whatever_its_status() -> None:
    async with receiver(b"HTTP/1.1 503 x\r\nRetry-After: 7\r\nContent-Length: 2\r\n\r\nno") as (url, got):
        reply = await ask(url)
    assert (reply.status, reply.body, reply.retry_after) == (503, b"no", 7)
    assert got[0].startswith(b"POST /hook HTTP/1.1\r\n")


async def test_a_redirect_is_not_followed() -> None:
    async with receiver(b"HTTP/1.1 302 x\r\nLocation: http://localhost/x\r\nContent-Length: 0\r\n\r\n") as (
        url,
        got,
    ):
        assert (await ask(url)).status == 302
    assert len(got) == 1


async def test_an_answer_is_cut_where_it_is_too_long() -> None:
    async with receiver(b"HTTP/1.1 200 x\r\nContent-Length: 90000\r\n\r\n" + b"a" * 90_000) as (url, _):
        assert len((await ask(url, limit=1000)).body) == 1000


async def test_a_receiver_that_hangs_is_given_up_and_may_have_heard_us() -> None:
    async with receiver(b"", hang=True) as (url, _):
        with pytest.raises(TryLater) as failure:
            await ask(url, seconds=0.05)
    assert failure.value.maybe_sent


async def test_a_receiver_that_is_not_there_did_not_hear_us() -> None:
    async with receiver(b"") as (url, _):
        pass
    with pytest.raises(TryLater) as failure:
        await ask(url)
    assert not failure.value.maybe_sent
    assert "localhost" not in str(failure.value)


async def test_names_that_nobody_resolves_hold_up_nobody_else() -> None:
    answered = threading.Event()

    def look_up(*_: object, **__: object) -> list[object]:
        answered.wait(30)
        raise OSError("no such name")

    outgoing = Outgoing(Allowed(["*.example"]), look_up)
    calls = [
        asyncio.create_task(outgoing.call("POST", f"https://a{place}.example/", seconds=30))
        for place in range(12)
    ]
    await asyncio.sleep(0)
    try:  # what everything else is looked up with is free
        await asyncio.wait_for(asyncio.get_running_loop().getaddrinfo("localhost", 80), 10)
        assert not any(call.done() for call in calls)
    finally:
        answered.set()
        results = await asyncio.gather(*calls, return_exceptions=True)
        await outgoing.close()
    assert {type(result) for result in results} == {TryLater}
