"""Our savers: LangGraph's sync ones, done by one thread in which what waits shares a commit.

LangGraph's own async savers hand every statement to a thread (SQLite) or wait for it (PostgreSQL), and commit
each call by itself. Here a call goes to the thread once, and comes back when it is durable.
"""

import asyncio
import copy
from collections.abc import AsyncIterator, Callable, Collection, Iterator, Mapping, Sequence
from functools import partial
from typing import Any, TypeVar, cast

from langchain_core.runnables import RunnableConfig
from langgraph.checkpoint.base import CheckpointTuple
from langgraph.checkpoint.serde.base import SerializerProtocol

from answerback_agents.langgraph.committer import Committer
from answerback_agents.langgraph.faces import Face, Saver, asked_for

T = TypeVar("T")
PAGE = 100  # checkpoints that are read at once


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
        self.inputs: dict[str, asyncio.Future[RunnableConfig]] | None = None

    def of_one_run(self) -> "Grouped":
        """A copy for one run, in which nobody waits for the checkpoint of the input before there is another.

        LangGraph lets no step of the graph wait for that one either: only for the one after it, which comes
        right behind it here and so shares its commit. Nothing is durable later than it would be with
        `durability="sync"`, and what goes wrong is raised by the next call that LangGraph makes.
        """
        once = copy.copy(self)
        once.inputs = {}
        return once

    async def _do(self, function: Callable[[], T]) -> T:
        return await self.committer.do(function)

    def with_allowlist(self, extra_allowlist: Collection[tuple[str, ...]]) -> "Grouped":
        clone = cast("Grouped", super(Face, self).with_allowlist(extra_allowlist))
        if clone is not self:
            clone.saver = copy.copy(self.saver)
            clone.saver.serde = _Stores(clone.serde)
        return clone

    async def aput(self, config: Any, checkpoint: Any, metadata: Any, new_versions: Any) -> RunnableConfig:
        kept = self.committer.begin(partial(self.saver.put, config, checkpoint, metadata, new_versions))
        wanted = config["configurable"]
        if self.inputs is not None and metadata.get("source") == "input":
            self.inputs[wanted["checkpoint_ns"]] = kept
            kept.add_done_callback(_heard)
            return {"configurable": wanted | {"checkpoint_id": checkpoint["id"]}}
        found = await kept
        await self._input(wanted["checkpoint_ns"])
        return found

    @asked_for
    async def aput_writes(
        self, config: Any, writes: Sequence[tuple[str, Any]], task_id: str, task_path: str = ""
    ) -> None:
        await super().aput_writes(config, self._dumped(writes), task_id, task_path)
        await self._input(config["configurable"]["checkpoint_ns"])

    async def _input(self, namespace: str) -> None:
        """Raises what became of the input's checkpoint, which went to the thread before whoever asks."""
        if self.inputs and (kept := self.inputs.get(namespace)):
            await asyncio.shield(kept)

    async def alist(
        self, config: RunnableConfig | None, *, before: Any = None, limit: int | None = None, **filters: Any
    ) -> AsyncIterator[CheckpointTuple]:
        """A thread's in pages: all of a long one is too much to hold, and whoever asks may stop early."""
        paged = (
            config is not None and "thread_id" in config["configurable"]
        )  # ids are unique in a thread only
        while limit is None or limit > 0:
            most = min(PAGE, limit or PAGE) if paged else limit
            page = await self._do(partial(self._page, config, before=before, limit=most, **filters))
            for found in page:
                yield found
            if most is None or len(page) < most:
                return
            before, limit = page[-1].config, None if limit is None else limit - most

    def _page(self, config: RunnableConfig | None, **options: Any) -> Sequence[CheckpointTuple]:
        return [*self.saver.list(config, **options)]

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


def _heard(kept: "asyncio.Future[RunnableConfig]") -> None:
    """A run that was cancelled makes no next call: then nobody asks what became of this one."""
    if not kept.cancelled():
        kept.exception()
