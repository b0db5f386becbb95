"""Bodies are counted while they arrive."""

import asyncio

import pytest
from starlette.requests import ClientDisconnect, Request

from answerback.web.limits import read_body
from answerback.web.problems import Problem
from tests.unit.web.fakes import World
from tests.unit.web.test_api import is_problem


def request(*chunks: bytes | None, length: str | None = None) -> Request:
    """A request whose body comes in chunks; None: the client hangs up; after the last: silence."""
    left = list(chunks)

    async def receive():
        if not left:
            await asyncio.Event().wait()
        chunk = left.pop(0)
        if chunk is None:
            return {"type": "http.disconnect"}
        return {"type": "http.request", "body": chunk, "more_body": chunk != b""}

    headers = [] if length is None else [(b"content-length", length.encode())]
    return Request({"type": "http", "method": "POST", "headers": headers}, receive)


async def test_a_body_is_put_together_from_its_chunks():
    assert await read_body(request(b"ab", b"c", b""), 3) == b"abc"


async def test_a_body_without_a_length_is_counted():
    with pytest.raises(Problem) as refused:
        await read_body(request(b"ab", b"cd", b""), 3)
    assert refused.value.status == 413


async def test_a_length_that_lies_does_not_help():
    with pytest.raises(Problem) as refused:
        await read_body(request(b"abcd", b"", length="2"), 3)
    assert refused.value.status == 413


@pytest.mark.parametrize("length", ["4", "9" * 5000])
async def test_a_length_that_says_too_much_is_refused_before_anything_is_read(length):
    with pytest.raises(Problem) as refused:
        await read_body(request(length=length), 3)
    assert refused.value.status == 413


@pytest.mark.parametrize("length", ["-1", "x", "²", ""])
async def test_a_length_that_says_nothing_is_ignored(length):
    latin = length.encode("latin-1").decode("latin-1")
    assert await read_body(request(b"abc", b"", length=latin), 3) == b"abc"


async def test_a_body_that_never_ends_times_out():
    with pytest.raises(Problem) as refused:
        await read_body(request(b"a"), 3, seconds=0.001)
    assert refused.value.status == 408
    assert refused.value.headers == {"Connection": "close"}


async def test_a_client_that_hangs_up_is_no_error_of_ours():
    with pytest.raises(ClientDisconnect):
        await read_body(request(b"a", None), 3)


async def test_a_streamed_body_is_counted_on_its_way_in():
    async def stream():
        for _ in range(1000):
            yield b"x" * 1000

    world = World()
    async with world.client() as client:
        headers = {"content-type": "application/json"}
        is_problem(await client.post("/v1/runs", content=stream(), headers=headers), 413)
        is_problem(await client.post("/in/telegram", content=stream()), 413)
    assert world.runner.started == [] and world.receiver.events == []
