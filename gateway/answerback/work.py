"""work: has an agent do what a run's order says on its thread, and writes down how far that came."""

import logging
from collections.abc import Callable, Mapping
from contextlib import AbstractContextManager, AsyncExitStack
from dataclasses import dataclass

from answerback.agent import Agent, State
from answerback.background import Leaving
from answerback.backoff import AWAY, pause
from answerback.context import Context
from answerback.errors import (
    AgentUnavailable,
    AnswerbackError,
    Conflict,
    NotPending,
    Refused,
    StoreUnavailable,
)
from answerback.model import Json, RunStatus
from answerback.store import Row, Tx, leases, runs
from answerback.store.codec import loads
from answerback.store.leases import Lease
from answerback.threads import DATABASE_AWAY, announce, conclude, kept
from answerback.turns import NoTurn, Turns

log = logging.getLogger("answerback.run")
GIVE_UP = 10  # attempts


@dataclass(frozen=True, slots=True)
class Order:
    """What is to be done on a run's thread: start, replace, retry or reask."""

    id: str
    intent: str
    input: Json = None


def order_of(row: Row, intent: str = "") -> Order:
    """What a run's row says is to be done, or `intent` instead. Raises `Conflict` if that cannot be read."""
    said = row["intent"].removeprefix(runs.ADOPTED).strip() or "retry"
    if intent == "reask":
        return Order(row["id"], intent)
    try:
        return Order(row["id"], intent or said, loads(row["input"]))
    except (ValueError, TypeError):
        raise Conflict("The record of this run is damaged. Start another.") from None


class Work:
    """What is done on threads that are held for it. `in_line`: around whatever waits for its turn."""

    def __init__(
        self,
        context: Context,
        agents: Mapping[str, Agent],
        turns: Turns,
        in_line: Callable[[], AbstractContextManager[None]],
    ) -> None:
        self._context, self._agents, self._turns, self._in_line = context, agents, turns, in_line

    async def on(self, order: Order, lease: Lease) -> None:
        """Once it is its turn: to its end, or until it is to be tried again."""
        try:
            async with AsyncExitStack() as stack:
                with self._in_line():
                    waited = await stack.enter_async_context(self._turns.of(lease.agent))
                if waited and not await self._context.store.write(lambda tx: _still_begins(tx, order, lease)):
                    return
                with kept(self._context, lease):
                    self._context.faults.reach("run.before-agent")
                    state = await self._step(order, lease)
            self._context.faults.reach("run.after-agent")
            concluded = await self._context.store.write(lambda tx: conclude(tx, self._context, lease, state))
            self._context.faults.reach("run.after-commit")
            announce(self._context, concluded, lease)
        except NoTurn:
            await self._give_back(order.id, lease, leases.SPAN // 2)
        except Leaving:
            await self._give_back(order.id, lease, 0)
        except StoreUnavailable as error:
            log.warning("how far a run has come has to wait: %s", error)
            await self._later(order.id, lease, DATABASE_AWAY, away=True)
        except Exception as error:
            if not isinstance(error, AgentUnavailable | Refused):
                log.exception("run failed", extra={"run": order.id})
            ours = isinstance(error, AnswerbackError) and str(error)  # another's words may hold a secret
            why = ours or type(error).__name__
            await self._later(order.id, lease, why, final=isinstance(error, Refused))

    async def _step(self, order: Order, lease: Lease) -> State:
        agent = self._agents.get(lease.agent)
        if agent is None:
            raise AgentUnavailable(f"The agent {lease.agent} is not configured here, or cannot be used.")
        if order.intent == "retry":
            return await self._retried(agent, order, lease)
        if order.intent == "reask":
            return await agent.reask(lease.thread_id)
        if order.intent == "replace":
            await agent.cancel(lease.thread_id)
            await self._context.store.write(lambda tx: tx.run(runs.REPLACED, key=order.id))
        return await agent.start(lease.thread_id, order.input, order.id)

    async def _retried(self, agent: Agent, order: Order, lease: Lease) -> State:
        """Its failed step again; what had no thread yet when it failed begins now."""
        try:
            return await agent.retry(lease.thread_id)
        except NotPending:
            if await self._has_asked(order.id):
                raise
            return await agent.start(lease.thread_id, order.input, order.id)

    async def _has_asked(self, id: str) -> bool:
        run = await self._context.store.read(lambda tx: runs.get(tx, id))
        return run is not None and bool(run.interactions)

    async def _give_back(self, id: str, lease: Lease, after: int) -> None:
        """It was no attempt: whoever has a turn for it, here or elsewhere, begins it.

        Not before so many microseconds.
        """

        def tx_(tx: Tx) -> None:
            if leases.release(tx, lease):
                tx.run(runs.NOT_BEGUN, key=id, at=tx.now + after)

        await self._context.store.write(tx_)
        self._context.signals.rearm()

    async def _later(
        self, id: str, lease: Lease, why: str, *, final: bool = False, away: bool = False
    ) -> None:
        """Try again after a while; `final`, or after many tries, it has failed.

        `away`: our own database cannot be used. That is waited for, for days: whoever started it was told so.
        """

        def tx_(tx: Tx) -> list[Row]:
            if not leases.release(tx, lease):
                return []
            row = tx.one(runs.GET, id=id)
            if row is None or final or _is_over(tx, row, away):
                return given_up(tx, self._context, row, why)
            tx.run(runs.POSTPONE, key=id, at=tx.now + round(pause(row["attempts"]) * 1e6), why=why)
            return []

        self._context.dispatch(await self._context.store.write(tx_))
        self._context.signals.rearm()


def _is_over(tx: Tx, run: Row, away: bool) -> bool:
    return bool(tx.now - run["updated_at"] > AWAY if away else run["attempts"] >= GIVE_UP)


def _still_begins(tx: Tx, order: Order, lease: Lease) -> bool:
    """Whether what had to wait for its turn is still to be done; if not, nothing is held."""
    if not leases.renew(tx, lease):
        return False
    row = tx.one(runs.GET, id=order.id)
    if row is not None and row["status"] == RunStatus.RUNNING:
        return True
    leases.release(tx, lease)
    return False


def given_up(tx: Tx, context: Context, run: Row | None, why: str) -> list[Row]:
    """It failed: whoever was asked in it, or started it by a message, is told."""
    if run is None or not runs.finish(tx, run["id"], RunStatus.FAILED, error=why):
        return []
    content = {"kind": "failed", "agent": run["agent"], "error": why}
    return context.outbox.notices(tx, run["id"], content, run["told"])
