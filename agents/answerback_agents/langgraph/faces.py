"""An async face for LangGraph's sync savers: what it waits for is done by another thread, not in the loop."""

import asyncio
import copy
import inspect
from abc import ABC, abstractmethod
from collections.abc import AsyncIterator, Callable, Collection, Mapping, Sequence
from functools import partial
from typing import Any, TypeVar

from langchain_core.runnables import RunnableConfig
from langgraph.checkpoint.base import BaseCheckpointSaver, CheckpointTuple

Saver = BaseCheckpointSaver[Any]
T = TypeVar("T")
F = TypeVar("F", bound=Callable[..., Any])


def asked_for(method: F) -> F:
    """With its signature at hand. LangGraph asks for that at every run, and finding it out takes a fiftieth

    of the processor time of a run.
    """
    method.__signature__ = inspect.signature(method)  # type: ignore[attr-defined]
    return method


class Face(BaseCheckpointSaver[Any], ABC):
    """Each async method does what the sync one of `saver` does; `_do` says where."""

    def __init__(self, saver: Saver) -> None:
        super().__init__(serde=saver.serde)
        self.saver = saver

    @abstractmethod
    async def _do(self, function: Callable[[], T]) -> T: ...

    @property
    def config_specs(self) -> list[Any]:
        return list(self.saver.config_specs)

    def with_allowlist(self, extra_allowlist: Collection[tuple[str, ...]]) -> "Face":
        clone = copy.copy(self)
        clone.saver = self.saver.with_allowlist(extra_allowlist)
        clone.serde = clone.saver.serde
        return clone

    def get_next_version(self, current: Any, channel: None) -> Any:
        return self.saver.get_next_version(current, channel)

    async def aget_tuple(self, config: RunnableConfig) -> CheckpointTuple | None:
        return await self._do(partial(self.saver.get_tuple, config))

    async def alist(self, config: RunnableConfig | None, **options: Any) -> AsyncIterator[CheckpointTuple]:
        for found in await self._do(lambda: list(self.saver.list(config, **options))):
            yield found

    async def aput(self, config: Any, checkpoint: Any, metadata: Any, new_versions: Any) -> RunnableConfig:
        return await self._do(partial(self.saver.put, config, checkpoint, metadata, new_versions))

    @asked_for
    async def aput_writes(
        self, config: Any, writes: Sequence[tuple[str, Any]], task_id: str, task_path: str = ""
    ) -> None:
        await self._do(partial(self.saver.put_writes, config, writes, task_id, task_path))

    async def adelete_thread(self, thread_id: str) -> None:
        await self._do(partial(self.saver.delete_thread, thread_id))

    async def aprune(self, thread_ids: Sequence[str], *, strategy: str = "keep_latest") -> None:
        await self._do(partial(self.saver.prune, thread_ids, strategy=strategy))

    async def aget_delta_channel_history(
        self, *, config: RunnableConfig, channels: Sequence[str]
    ) -> Mapping[str, Any]:
        found = partial(self.saver.get_delta_channel_history, config=config, channels=channels)
        return await self._do(found)


class InThreads(Face):
    """For a graph's own saver that only has sync methods."""

    async def _do(self, function: Callable[[], T]) -> T:
        return await asyncio.to_thread(function)
