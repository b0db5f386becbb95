"""Group commit for our savers: one thread with one connection, and what waits for it shares a commit.

LangGraph's own async savers hand every statement to a thread (SQLite) or wait for it (PostgreSQL), and commit
each call by itself. Here a call goes to the thread once, LangGraph's sync saver does it there, and it comes
back when it is durable. One that fails spoils none of those beside it.
"""

import asyncio
import concurrent.futures
import contextlib
import copy
import logging
import queue
import threading
from collections.abc import Callable, Collection, Iterator, Mapping, Sequence
from functools import partial
from typing import Any, Protocol, TypeVar, cast

from langchain_core.runnables import RunnableConfig
from langgraph.checkpoint.base import CheckpointTuple
from langgraph.checkpoint.serde.base import SerializerProtocol

from answerback.errors import AgentUnavailable
from answerback_agents.langgraph.faces import Face, Saver

log = logging.getLogger("answerback.agents.langgraph")
T = TypeVar("T")
GROUP = 64  # the most calls that share a commit


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
        self._calls: queue.SimpleQueue[_Call | None] = queue.SimpleQueue()
        self._closed = False
        self._thread = threading.Thread(target=self._work, name="checkpoints", daemon=True)
        self._thread.start()

    async def do(self, function: Callable[[], T], *, alone: bool = False) -> T:
        """What `function` returns, once it is durable. `alone`: outside of any transaction of ours."""
        loop = asyncio.get_running_loop()
        future: asyncio.Future[T] = loop.create_future()
        self._hand_over(_Call(function, future, loop, alone))
        return await future

    def wait_for(self, function: Callable[[], T], *, alone: bool = False) -> T:
        """The same for a thread that waits."""
        future: concurrent.futures.Future[T] = concurrent.futures.Future()
        self._hand_over(_Call(function, future, None, alone))
        return future.result()

    async def close(self) -> None:
        """Do what waits, then end."""
        self._closed = True
        self._calls.put(None)
        await asyncio.to_thread(self._thread.join)

    def _hand_over(self, call: _Call) -> None:
        if self._closed:
            raise AgentUnavailable("the agent is closed: its checkpoints cannot be used any more")
        self._calls.put(call)

    # -- in the thread

    def _work(self) -> None:
        while (call := self._calls.get()) is not None:
            group, last = self._waiting(call)
            self._do(group)
            _answer(group)
            if last:
                break
        self._connection.close()

    def _waiting(self, call: _Call) -> tuple[list[_Call], bool]:
        """With all that waits behind it; and whether that is the last."""
        group = [call]
        while len(group) < GROUP:
            try:
                following = self._calls.get_nowait()
            except queue.Empty:
                break
            if following is None:
                return group, True
            group.append(following)
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


class _Dumped:
    """A value as it is stored."""

    __slots__ = ("typed",)

    def __init__(self, typed: tuple[str, bytes]) -> None:
        self.typed = typed


class _Stores:
    """A serializer that takes what is dumped already as it is."""

    def __init__(self, serde: SerializerProtocol) -> None:
        self._serde = serde

    def dumps_typed(self, value: Any) -> tuple[str, bytes]:
        return value.typed if isinstance(value, _Dumped) else self._serde.dumps_typed(value)

    def loads_typed(self, data: tuple[str, bytes]) -> Any:
        return self._serde.loads_typed(data)


class Grouped(Face):
    """LangGraph's sync saver with a committer. Its sync methods are for threads, and for other loops' too."""

    def __init__(self, saver: Saver, committer: Committer) -> None:
        """`saver` uses the connection of `committer`, and is used in its thread only from now on."""
        super().__init__(saver)
        self.committer = committer
        saver.serde = _Stores(saver.serde)

    async def _do(self, function: Callable[[], T]) -> T:
        return await self.committer.do(function)

    def with_allowlist(self, extra_allowlist: Collection[tuple[str, ...]]) -> "Grouped":
        clone = cast("Grouped", super(Face, self).with_allowlist(extra_allowlist))
        if clone is not self:
            clone.saver = copy.copy(self.saver)
            clone.saver.serde = _Stores(clone.serde)
        return clone

    async def aput_writes(
        self, config: Any, writes: Sequence[tuple[str, Any]], task_id: str, task_path: str = ""
    ) -> None:
        await super().aput_writes(config, self._dumped(writes), task_id, task_path)

    async def aprune(self, thread_ids: Sequence[str], *, strategy: str = "keep_latest") -> None:
        prune = partial(self.saver.prune, thread_ids, strategy=strategy)
        await self.committer.do(prune, alone=True)

    def _dumped(self, writes: Sequence[tuple[str, Any]]) -> list[tuple[str, Any]]:
        """As they are now: beside this the steps go on, and may change what they have given."""
        return [(channel, _Dumped(self.serde.dumps_typed(value))) for channel, value in writes]

    def get_tuple(self, config: RunnableConfig) -> CheckpointTuple | None:
        return self.committer.wait_for(partial(self.saver.get_tuple, config))

    def list(self, config: RunnableConfig | None, **options: Any) -> Iterator[CheckpointTuple]:
        yield from self.committer.wait_for(lambda: [*self.saver.list(config, **options)])

    def put(self, config: Any, checkpoint: Any, metadata: Any, new_versions: Any) -> RunnableConfig:
        put = partial(self.saver.put, config, checkpoint, metadata, new_versions)
        return self.committer.wait_for(put)

    def put_writes(
        self, config: Any, writes: Sequence[tuple[str, Any]], task_id: str, task_path: str = ""
    ) -> None:
        dumped = self._dumped(writes)
        self.committer.wait_for(partial(self.saver.put_writes, config, dumped, task_id, task_path))

    def delete_thread(self, thread_id: str) -> None:
        self.committer.wait_for(partial(self.saver.delete_thread, thread_id))

    def prune(self, thread_ids: Sequence[str], *, strategy: str = "keep_latest") -> None:
        prune = partial(self.saver.prune, thread_ids, strategy=strategy)
        self.committer.wait_for(prune, alone=True)

    def get_delta_channel_history(
        self, *, config: RunnableConfig, channels: Sequence[str]
    ) -> Mapping[str, Any]:
        found = partial(self.saver.get_delta_channel_history, config=config, channels=channels)
        return self.committer.wait_for(found)
