"""Group commit: a thread with one connection, and what waits for it shares a commit.

One call that fails spoils none of those beside it, and nobody hears of a call before it is durable.
"""

import asyncio
import concurrent.futures
import contextlib
import logging
import queue
import threading
from collections.abc import Callable, Iterator, Sequence
from typing import Any, Protocol, TypeVar

from answerback.errors import AgentUnavailable

log = logging.getLogger("answerback.agents.langgraph")
T = TypeVar("T")
GROUP = 64  # calls that are enough for a commit: what waits behind them waits for the next one


class Connection(Protocol):
    """What is used by the committer's thread alone. All of it raises what the driver raises."""

    def ready(self) -> None:
        """Connect, if that is lost."""

    def together(self, calls: Sequence[Callable[[], object]]) -> None:
        """Run these in one transaction; what they did is durable when this returns."""

    def alone(self, call: Callable[[], object]) -> None:
        """Run one that has transactions of its own."""

    def undo(self) -> bool:
        """After something was raised: nothing of it is left. Whether the connection was lost with it."""

    def close(self) -> None: ...


class _Call:
    """What is to be done, and who waits for it: in a loop, or in a thread."""

    __slots__ = ("alone", "error", "function", "future", "loop", "result")

    def __init__(
        self,
        function: Callable[[], Any],
        future: "asyncio.Future[Any] | concurrent.futures.Future[Any]",
        loop: asyncio.AbstractEventLoop | None,
        alone: bool,
    ) -> None:
        self.function, self.future, self.loop, self.alone = function, future, loop, alone
        self.result: Any = None
        self.error: BaseException | None = None

    def __call__(self) -> None:
        self.result = self.function()


class Committer:
    """One thread. Calls are done in the order in which they come, and answered when they are durable."""

    def __init__(self, connection: Connection) -> None:
        self._connection = connection
        self._calls: queue.SimpleQueue[list[_Call] | None] = queue.SimpleQueue()
        self._gathered: dict[asyncio.AbstractEventLoop, list[_Call]] = {}
        self._turn = threading.Lock()  # for what is gathered, and for the end
        self._closed = False
        self._thread = threading.Thread(target=self._work, name="checkpoints", daemon=True)
        self._thread.start()

    async def do(self, function: Callable[[], T], *, alone: bool = False) -> T:
        """What `function` returns, once it is durable. `alone`: outside of any transaction of ours."""
        return await self.begin(function, alone=alone)

    def begin(self, function: Callable[[], T], *, alone: bool = False) -> "asyncio.Future[T]":
        """The same without waiting; what is asked for after this comes after it."""
        loop = asyncio.get_running_loop()
        future: asyncio.Future[T] = loop.create_future()
        self._gather(_Call(function, future, loop, alone), loop)
        return future

    def wait_for(self, function: Callable[[], T], *, alone: bool = False) -> T:
        """The same for a thread that waits."""
        future: concurrent.futures.Future[T] = concurrent.futures.Future()
        with self._open():
            self._calls.put([_Call(function, future, None, alone)])
        return future.result()

    async def close(self) -> None:
        """Do what waits, then end."""
        with self._turn:
            self._closed = True
            for loop in [*self._gathered]:
                self._pass_on(loop)
            self._calls.put(None)
        await asyncio.to_thread(self._thread.join)

    @contextlib.contextmanager
    def _open(self) -> Iterator[None]:
        with self._turn:
            if self._closed:
                raise AgentUnavailable("the agent is closed: its checkpoints cannot be used any more")
            yield

    def _gather(self, call: _Call, loop: asyncio.AbstractEventLoop) -> None:
        """What one step of a graph asks for comes in one pass of the loop, and goes over together."""
        with self._open():
            calls = self._gathered.setdefault(loop, [])
            calls.append(call)
        if len(calls) == 1:
            loop.call_soon(self._hand_over, loop)

    def _hand_over(self, loop: asyncio.AbstractEventLoop) -> None:
        with self._turn:
            self._pass_on(loop)

    def _pass_on(self, loop: asyncio.AbstractEventLoop) -> None:
        calls = self._gathered.pop(loop, [])  # nothing, if it was closed meanwhile
        for start in range(0, len(calls), GROUP):
            self._calls.put(calls[start : start + GROUP])

    # -- in the thread

    def _work(self) -> None:
        while (calls := self._calls.get()) is not None:
            group, last = self._waiting(calls)
            self._do(group)
            _answer(group)
            if last:
                break
        self._connection.close()

    def _waiting(self, group: list[_Call]) -> tuple[list[_Call], bool]:
        """With all that waits behind it; and whether that is the last."""
        while len(group) < GROUP:
            try:
                following = self._calls.get_nowait()
            except queue.Empty:
                break
            if following is None:
                return group, True
            group += following
        return group, False

    def _do(self, group: list[_Call]) -> None:
        """In order: those in a row that may share a transaction do."""
        together: list[_Call] = []
        for call in group:
            if not call.alone:
                together.append(call)
                continue
            self._commit(together)
            self._commit([call])
            together = []
        self._commit(together)

    def _commit(self, calls: list[_Call]) -> None:
        """One that fails is found by doing each by itself; what a lost connection spoilt is done once more.

        All that a saver does may be done twice: it writes what it wrote.
        """
        for attempt in (1, 2) if calls else ():
            try:
                self._connection.ready()
            except BaseException as error:
                _refuse(calls, error)
                return
            try:
                self._run(calls)
            except BaseException as error:
                lost = self._undone()
                if lost and attempt == 1:
                    continue
                if lost or len(calls) == 1:
                    _refuse(calls, error)
                    return
                break
            else:
                return
        for call in calls:
            self._commit([call])

    def _undone(self) -> bool:
        """Whether the connection was lost. Whatever goes wrong here, this thread goes on."""
        try:
            return self._connection.undo()
        except BaseException:
            log.exception("what was not committed could not be undone")
            return True

    def _run(self, calls: list[_Call]) -> None:
        if calls[0].alone:
            self._connection.alone(calls[0])
        else:
            self._connection.together(calls)


def _refuse(calls: list[_Call], error: BaseException) -> None:
    for call in calls:
        call.error = error


def _answer(calls: list[_Call]) -> None:
    for loop in dict.fromkeys(call.loop for call in calls):
        theirs = [call for call in calls if call.loop is loop]
        if loop is None:
            _settle(theirs)
            continue
        with contextlib.suppress(RuntimeError):  # that loop is closed: nobody waits any more
            loop.call_soon_threadsafe(_settle, theirs)


def _settle(calls: list[_Call]) -> None:
    for call in calls:
        if call.future.done():  # whoever waited was cancelled
            continue
        if call.error is not None:
            call.future.set_exception(call.error)
        else:
            call.future.set_result(call.result)
