"""A call that is cancelled: the worker is told to stop it only while its reply has not come."""

import asyncio
import sys
from typing import Any

import pytest

from answerback.workers import Patience
from answerback.workers.frames import Decoder
from answerback.workers.process import Worker

SECONDS = 60.0  # for which a stop would be waited


class Line:
    """In place of a worker's socket: keeps what is sent. `then` follows once the first has gone out."""

    def __init__(self) -> None:
        self.then: Any = None
        self.sent: list[dict[str, Any]] = []

    def send(self, frame: bytes) -> None:
        ((_, body),) = Decoder().feed(frame)
        assert isinstance(body, dict)
        self.sent.append(body)
        if self.then is not None:
            asyncio.get_running_loop().call_soon(self.then)
            self.then = None


@pytest.fixture
def line() -> Line:
    return Line()


@pytest.fixture
async def worker(line: Line) -> Worker:
    made = Worker("bench", sys.executable, Patience(stop=SECONDS))
    made._line = line  # type: ignore[assignment]
    return made


async def called(worker: Worker) -> asyncio.Task[Any]:
    task = asyncio.create_task(worker.call("start", {"thread": "t"}))
    await asyncio.sleep(0)
    return task


async def test_one_whose_reply_has_just_come_is_not_stopped_any_more(worker: Worker, line: Line) -> None:
    def just_then() -> None:
        worker._arrived(1, {"value": "done"})
        task.cancel()

    line.then = just_then
    task = await called(worker)
    async with asyncio.timeout(SECONDS / 2):
        with pytest.raises(asyncio.CancelledError):
            await task
    assert [*map(set, line.sent)] == [{"call", "with"}]


async def test_one_that_is_under_way_is_stopped_and_its_end_is_waited_for(worker: Worker, line: Line) -> None:
    task = await called(worker)
    task.cancel()
    await asyncio.sleep(0)
    await asyncio.sleep(0)
    assert line.sent[1:] == [{"stop": True}]
    assert not task.done()
    worker._arrived(1, {"stopped": True})
    async with asyncio.timeout(SECONDS / 2):
        with pytest.raises(asyncio.CancelledError):
            await task


async def test_what_comes_after_a_call_has_ended_disturbs_no_other(worker: Worker, line: Line) -> None:
    first = await called(worker)
    worker._arrived(1, {"value": 1})
    assert await first == 1
    second = await called(worker)
    worker._arrived(1, {"value": "late"})
    worker._arrived(2, {"value": 2})
    assert await second == 2
