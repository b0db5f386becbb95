"""Connections on which nothing is at work: how long they are kept; and what every response has."""

import asyncio
import datetime
import email.utils
import re
from collections.abc import Callable
from typing import Any

import pytest
import uvicorn
from uvicorn.server import ServerState

from answerback.cli.heads import HEAD_SECONDS, LONGEST_HEAD, BoundedHeads

ASK = b"GET / HTTP/1.1\r\nHost: a\r\n"


class Timer:
    """What asyncio gives for something that is to be done later."""

    def __init__(self, due: float, act: Callable[[], object]) -> None:
        self.due, self.act = due, act

    def cancel(self) -> None:
        self.due = float("inf")


class Loop:
    """The running loop, with a clock that is set by hand."""

    def __init__(self) -> None:
        self.now, self.timers = 0.0, list[Timer]()
        self.create_task = asyncio.get_running_loop().create_task

    def call_later(self, seconds: float, act: Callable[[], object]) -> Timer:
        self.timers.append(Timer(self.now + seconds, act))
        return self.timers[-1]

    def pass_by(self, seconds: float) -> None:
        self.now += seconds
        for timer in [timer for timer in self.timers if timer.due <= self.now]:
            timer.cancel()
            timer.act()


class Transport(asyncio.Transport):
    """A connection that keeps what is written to it."""

    def __init__(self) -> None:
        super().__init__()
        self.wrote, self.closed = b"", False

    def write(self, data: Any) -> None:
        self.wrote += bytes(data)

    def is_closing(self) -> bool:
        return self.closed

    def close(self) -> None:
        self.closed = True

    def pause_reading(self) -> None: ...

    def resume_reading(self) -> None: ...


class Caller:
    """Somebody who has just connected."""

    def __init__(self) -> None:
        self.answers = asyncio.Event()
        self.answers.set()
        self.loop, self.transport = Loop(), Transport()
        config = uvicorn.Config(self._app, log_config=None, lifespan="off", ws="none", interface="asgi3")
        config.load()
        self.protocol = BoundedHeads(config=config, server_state=ServerState(), app_state={}, _loop=self.loop)
        self.protocol.connection_made(self.transport)

    async def _app(self, scope: Any, receive: Any, send: Any) -> None:
        await self.answers.wait()
        await send({"type": "http.response.start", "status": 204, "headers": []})
        await send({"type": "http.response.body"})

    async def send(self, data: bytes) -> None:
        self.protocol.data_received(data)
        for _ in range(10):
            await asyncio.sleep(0)

    async def trickle(self, data: bytes) -> None:
        """One byte a second, until we hang up."""
        for byte in data:
            if self.transport.closed:
                return
            await self.send(bytes([byte]))
            self.loop.pass_by(1)


async def test_who_connects_and_says_nothing_is_hung_up_on() -> None:
    caller = Caller()
    caller.loop.pass_by(HEAD_SECONDS - 1)
    assert not caller.transport.closed
    caller.loop.pass_by(1)
    assert caller.transport.closed


async def test_who_sends_a_head_byte_by_byte_is_hung_up_on() -> None:
    caller = Caller()
    await caller.trickle(ASK + b"x: " + b"a" * 100)
    assert caller.transport.closed and caller.loop.now == HEAD_SECONDS


async def test_the_second_request_of_a_connection_has_no_more_time_than_the_first() -> None:
    caller = Caller()
    await caller.send(ASK + b"\r\n")
    assert b" 204 " in caller.transport.wrote
    await caller.trickle(ASK + b"x: " + b"a" * 100)
    assert caller.transport.closed and caller.loop.now == HEAD_SECONDS


async def test_a_body_that_goes_on_behind_its_answer_is_not_waited_for() -> None:
    caller = Caller()
    await caller.send(b"POST / HTTP/1.1\r\nHost: a\r\nContent-Length: 100\r\n\r\n")
    await caller.trickle(b"a" * 99)
    assert caller.transport.closed and caller.loop.now == HEAD_SECONDS


@pytest.mark.parametrize("further", [b"", ASK + b"\r\n"], ids=["one", "two in a row"])
async def test_an_answer_that_takes_an_hour_is_waited_for(further: bytes) -> None:
    caller = Caller()
    caller.answers.clear()
    await caller.send(ASK + b"\r\n" + further)
    caller.loop.pass_by(3600)
    assert not caller.transport.closed
    caller.answers.set()
    await caller.send(b"")
    assert caller.transport.wrote.count(b" 204 ") == (2 if further else 1)
    assert not caller.transport.closed


async def test_a_connection_that_is_gone_is_not_looked_at_again() -> None:
    caller = Caller()
    caller.protocol.connection_lost(None)
    assert [timer for timer in caller.loop.timers if timer.due < float("inf")] == []


async def test_a_head_that_is_too_long_is_refused() -> None:
    caller = Caller()
    await caller.send(ASK + b"x: " + b"a" * (LONGEST_HEAD + 1))
    assert caller.transport.closed and b" 400 " in caller.transport.wrote


def date_in(response: bytes) -> datetime.datetime:
    (found,) = re.findall(rb"\r\ndate: ([^\r]+)\r\n", response)
    return email.utils.parsedate_to_datetime(found.decode())


@pytest.mark.parametrize("said", [ASK + b"\r\n", b"rubbish\r\n\r\n"], ids=["answered", "refused"])
async def test_every_response_has_its_date_and_nobody_wakes_up_for_it(said: bytes) -> None:
    caller = Caller()
    await caller.send(said)
    began = datetime.datetime.now(datetime.UTC) - datetime.timedelta(minutes=1)
    assert began < date_in(caller.transport.wrote) <= datetime.datetime.now(datetime.UTC)


async def test_the_date_goes_on() -> None:
    caller, dates = Caller(), set[datetime.datetime]()
    async with asyncio.timeout(30):
        while len(dates) < 2:
            await caller.send(ASK + b"\r\n")
            dates.add(date_in(caller.transport.wrote))
            caller.transport.wrote = b""
            await asyncio.sleep(0.05)
