"""stop: tells an agent that its run is cancelled, until it has heard or must not hear it any more."""

import asyncio
import contextlib
import logging
from collections import Counter
from collections.abc import AsyncIterator, Callable, Coroutine, Mapping
from dataclasses import dataclass
from typing import Any

from answerback.agent import Agent
from answerback.backoff import AWAY, pause
from answerback.context import Context
from answerback.errors import AgentCrashed, AgentUnavailable, AnswerbackError, StoreUnavailable
from answerback.model import Json
from answerback.store import Row, Tx, leases, runs, stops
from answerback.store.leases import Lease
from answerback.threads import renewed

log = logging.getLogger("answerback.run")
GIVE_UP = 10  # attempts, unless the agent is only away
AT_ONCE = 16  # threads of one agent that it hears of at the same time
Spawn = Callable[[Coroutine[Any, Any, None]], object]


@dataclass(frozen=True, slots=True)
class _Told:
    """What is being told: the marks that we claimed, of the newest run first; the thread, if we have it."""

    agent: str
    thread: str
    marks: tuple[tuple[str, int], ...]  # (run, number of the attempt)
    lease: Lease | None


class Stopper:
    """Tells agents, after the commit. `spawn` begins what is done in the background."""

    def __init__(self, context: Context, agents: Mapping[str, Agent], spawn: Spawn) -> None:
        self._context, self._agents, self._spawn = context, agents, spawn
        self._gates = {name: asyncio.Semaphore(AT_ONCE) for name in agents}
        self._turns: dict[tuple[str, str], asyncio.Lock] = {}  # by thread
        self._under_way: Counter[tuple[str, str]] = Counter()

    def soon(self, thread: tuple[str, str]) -> None:
        """Tell an agent, in the background, that its run on (agent, thread) is cancelled."""
        self._spawn(self.stop(*thread))

    def due(self, thread: tuple[str, str]) -> None:
        """The same, unless that is under way here."""
        if thread not in self._under_way:
            self.soon(thread)

    async def stop(self, agent: str, thread: str) -> None:
        """Tell an agent that its run on a thread is cancelled; keep what it had finished.

        Not if a later run has the thread by now: that one is not to be stopped. Until the agent has heard,
        none begins there, but for one that tells it first. What cannot be told now is told later.
        """
        try:
            async with self._turn((agent, thread)), self._gates.get(agent, contextlib.nullcontext()):
                while await self._tell(agent, thread):
                    continue
        except StoreUnavailable as error:
            log.warning("an agent has to wait to hear that its run is cancelled: %s", error)
        except Exception:
            log.exception("an agent was not told that its run is cancelled", extra={"agent": agent})

    @contextlib.asynccontextmanager
    async def _turn(self, thread: tuple[str, str]) -> AsyncIterator[None]:
        """One at a time on each thread: whoever comes second finds what is left to tell."""
        turn = self._turns.setdefault(thread, asyncio.Lock())
        self._under_way[thread] += 1
        try:
            async with turn:
                yield
        finally:
            self._under_way[thread] -= 1
            if not self._under_way[thread]:
                del self._under_way[thread], self._turns[thread]

    async def _tell(self, agent: str, thread: str) -> bool:
        """Whether it was told too early: its run began to wait only then."""
        store = self._context.store
        self._context.faults.reach("stop.before-agent")
        told = await store.write(lambda tx: self._begin(tx, agent, thread))
        if told is None:
            return False
        try:
            with renewed(self._context, lambda tx: self._renew(tx, told)):
                finished = await self._cancel(told)
            self._context.faults.reach("stop.after-agent")
        except Exception as error:  # the run is cancelled all the same: nothing will be resumed
            await self._later(told, error)
            return False
        return await store.write(lambda tx: self._heard(tx, told, finished))

    async def _cancel(self, told: _Told) -> Json:
        agent = self._agents.get(told.agent)
        if agent is None:
            raise AgentUnavailable(f"The agent {told.agent} is not configured here, or cannot be used.")
        return await agent.cancel(told.thread)

    def _begin(self, tx: Tx, agent: str, thread: str) -> _Told | None:
        """Claim what is marked, and the thread unless somebody works on it; None: it is not ours to tell."""
        lease = leases.take(tx, agent, thread, self._context.stopper) or self._lease(tx, agent, thread)
        marks = stops.of(tx, agent, thread)
        if marks and runs.goes_on_there(tx, agent, thread):
            stops.drop(tx, agent, thread)
            marks = []
        claimed = tuple((mark["id"], mark["stop_attempts"] + 1) for mark in marks if self._claims(tx, mark))
        if not claimed and lease is not None:
            leases.release(tx, lease)
        return _Told(agent, thread, claimed, lease) if claimed else None

    def _claims(self, tx: Tx, mark: Row) -> bool:
        """Whether nobody else tells it now. Of two that find it due at once, one does."""
        stopper = self._context.stopper
        if mark["stop_by"] != stopper and stops.is_claimed(tx, mark):
            return False
        return stops.claim(tx, mark, stopper)

    def _lease(self, tx: Tx, agent: str, thread: str) -> Lease | None:
        """Ours, since the run was cancelled, or since whoever worked for it wrote down where it stands."""
        lease = leases.of(tx, agent, thread, self._context.stopper)
        return lease if lease is not None and leases.renew(tx, lease) else None

    def _renew(self, tx: Tx, told: _Told) -> None:
        if told.lease is not None:
            leases.renew(tx, told.lease)
        for id, attempts in told.marks:
            tx.run(
                stops.RENEW,
                key=id,
                attempts=attempts,
                whose=self._context.stopper,
                until=tx.now + leases.SPAN,
            )

    def _heard(self, tx: Tx, told: _Told, finished: Json) -> bool:
        """It has; whether it has to hear it again."""
        stopper = self._context.stopper
        lease = self._lease(tx, told.agent, told.thread)
        for id, attempts in told.marks:
            tx.run(stops.HEARD, key=id, attempts=attempts, whose=stopper)
        if finished is not None:
            stops.keep(tx, told.marks[0][0], finished)
        again = any(mark["stop_by"] == stopper for mark in stops.of(tx, told.agent, told.thread))
        if lease is not None and not again:
            leases.release(tx, lease)
        return again

    async def _later(self, told: _Told, error: Exception) -> None:
        """Tell it again after a while; after many tries, or days of an agent that is away, no more."""
        why = str(error) if isinstance(error, AnswerbackError) else type(error).__name__
        unknown = None if isinstance(error, AnswerbackError) else error
        away = isinstance(error, AgentUnavailable) and not isinstance(error, AgentCrashed)
        over = await self._context.store.write(lambda tx: self._put_off(tx, told, why, away=away))
        about = {"agent": told.agent, "run": told.marks[0][0]}
        if over:
            log.error(
                "%s was not told that its run is cancelled, and may work on, see answerback dead-letters: %s",
                told.agent,
                why,
                exc_info=unknown,
                extra=about,
            )
        else:
            log.warning(
                "%s could not be told that its run is cancelled; it is told again: %s",
                told.agent,
                why,
                exc_info=unknown,
                extra=about,
            )
        self._context.signals.rearm()

    def _put_off(self, tx: Tx, told: _Told, why: str, *, away: bool) -> bool:
        """Whether it was given up."""
        lease = self._lease(tx, told.agent, told.thread)
        if lease is not None:
            leases.release(tx, lease)
        given_up = False
        since = {mark["id"]: mark["updated_at"] for mark in stops.of(tx, told.agent, told.thread)}
        for id, attempts in told.marks:
            over = tx.now - since.get(id, tx.now) > AWAY if away else attempts >= GIVE_UP
            whose = self._context.stopper
            if over:
                given_up |= stops.set_aside(tx, id, attempts, whose, why)
            else:
                at = tx.now + round(pause(attempts) * 1e6)
                tx.run(stops.LATER, key=id, attempts=attempts, whose=whose, at=at)
        return given_up


__all__ = ["Stopper"]
