"""stop: tells an agent that its run is cancelled."""

import contextlib
import logging
from collections.abc import Callable, Coroutine, Mapping
from typing import Any

from answerback.agent import Agent
from answerback.context import Context
from answerback.errors import StoreUnavailable
from answerback.store import leases, runs
from answerback.store.leases import Lease
from answerback.threads import kept

log = logging.getLogger("answerback.run")
Spawn = Callable[[Coroutine[Any, Any, None]], None]


class Stopper:
    """Tells agents, after the commit. `spawn` begins what is done in the background."""

    def __init__(self, context: Context, agents: Mapping[str, Agent], spawn: Spawn) -> None:
        self._context, self._agents, self._spawn = context, agents, spawn

    def soon(self, thread: tuple[str, str]) -> None:
        """Tell an agent, in the background, that its run on (agent, thread) is cancelled."""
        self._spawn(self.stop(*thread))

    async def stop(self, agent: str, thread: str) -> None:
        """Tell an agent that its run on a thread is cancelled; keep what it had finished.

        Not if a later run has the thread by now: that one is not to be stopped. Where the thread was free
        when the run was cancelled, none begins there until the agent has heard.
        """
        store, stopper = self._context.store, self._context.stopper
        lease: Lease | None = None
        try:
            lease = await store.read(lambda tx: leases.of(tx, agent, thread, stopper))
            if await store.read(lambda tx: runs.goes_on_there(tx, agent, thread)):
                return
            with kept(self._context, lease) if lease is not None else contextlib.nullcontext():
                finished = await self._agents[agent].cancel(thread)
            if finished is not None:
                await store.write(lambda tx: runs.keep(tx, agent, thread, finished))
        except Exception:  # the run is cancelled all the same: nothing will be resumed
            log.exception("the agent could not be told that its run is cancelled", extra={"agent": agent})
        finally:
            if lease is not None:
                held = lease
                with contextlib.suppress(StoreUnavailable):  # then it lapses
                    await store.write(lambda tx: leases.release(tx, held))


__all__ = ["Stopper"]
