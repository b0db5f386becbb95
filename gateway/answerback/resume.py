"""resume: the second outbox. Gives a recorded answer to exactly the interrupt it was given for."""

import asyncio
import contextlib
import logging
from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace

from answerback import failing
from answerback.agent import Agent, Failed, Finished, Paused, Pending, State, Target
from answerback.background import Background, Leaving
from answerback.backoff import AWAY, pause
from answerback.context import Context
from answerback.errors import AgentCrashed, AgentUnavailable, DoesNotFit, NotPending, NotYet, StoreUnavailable
from answerback.model import CHANGED, GONE, NOT_YET, Interaction, InteractionStatus
from answerback.signals import Handed
from answerback.store import Row, Tx, audit, interactions, leases, runs
from answerback.threads import (
    DATABASE_AWAY,
    Concluded,
    announce,
    held_back,
    kept,
    not_begun,
    still_goes_on,
    take_due,
    write_down,
)
from answerback.turns import NoTurn, Turns

log = logging.getLogger("answerback.resume")
GIVE_UP = 10  # attempts


class _Lost(Exception):
    """Another process has the thread by now: nothing is written."""


class Resumer(Background):
    """Works on interactions that are closed and not yet resumed, one at a time on each thread."""

    def __init__(self, context: Context, agents: Mapping[str, Agent], turns: Turns) -> None:
        super().__init__()
        self._context, self._agents, self._turns = context, agents, turns

    def take(self, handed: Handed) -> None:
        """Go on with a thread whose lease is ours."""
        self._spawn(self._go_on(handed))

    async def pump(self, limit: int = 50) -> int:
        """Take what is due, each thread in a transaction of its own; how many threads were taken."""
        store = self._context.store
        due = await store.read(lambda tx: tx.all(interactions.UNRESUMED, now=tx.now, limit=limit))
        taken = await asyncio.gather(*(store.write(self._taking(row)) for row in due), return_exceptions=True)
        for row, handed in zip(due, taken, strict=True):
            if isinstance(handed, Handed):
                self.take(handed)
            elif isinstance(handed, StoreUnavailable):
                raise handed
            elif isinstance(handed, BaseException):
                log.error(
                    "an answer could not be handed over", exc_info=handed, extra={"interaction": row["id"]}
                )
        return sum(isinstance(handed, Handed) for handed in taken)

    def _taking(self, due: Row) -> Callable[[Tx], Handed | None]:
        return lambda tx: take_due(tx, self._context, due)

    async def _go_on(self, handed: Handed) -> None:
        try:
            async with contextlib.AsyncExitStack() as stack:
                with self._in_line():
                    waited = await stack.enter_async_context(self._turns.of(handed.lease.agent))
                if waited and not await self._context.store.write(lambda tx: still_goes_on(tx, handed)):
                    return
                with kept(self._context, handed.lease):
                    self._context.faults.reach("resume.before-agent")
                    state, error = await self._resume(handed)
            self._context.faults.reach("resume.after-agent")
            await self._conclude(handed, state, error)
        except NoTurn:
            await self._give_back(handed, leases.SPAN // 2)
        except Leaving:
            await self._give_back(handed, 0)
        except AgentUnavailable as unavailable:
            away = not isinstance(unavailable, AgentCrashed)
            await self._later(handed, str(unavailable), away=away)
        except StoreUnavailable as error:
            log.warning("what became of an answer has to wait: %s", error)
            await self._later(handed, DATABASE_AWAY, away=True)
        except Exception as error:
            log.exception("resume failed", extra={"interaction": handed.record.id})
            await self._later(handed, f"{type(error).__name__} while resuming")

    async def _resume(self, handed: Handed) -> tuple[State, str]:
        record = handed.record
        agent = self._agents.get(record.agent)
        if agent is None:
            raise AgentUnavailable(f"The agent {record.agent} is not configured here, or cannot be used.")
        assert record.answer is not None
        target = Target(record.interrupt_id, record.digest, record.checkpoint)
        try:
            return await agent.resume(record.thread_id, target, record.answer, again=handed.again), ""
        except NotPending:
            pending = await agent.pending(record.thread_id)
            return Paused(pending) if pending else Failed(GONE), GONE
        except NotYet:
            return Paused(await agent.pending(record.thread_id)), NOT_YET
        except DoesNotFit as error:  # the agent refused the value and kept nothing: it is asked again
            if error.detail == CHANGED:
                return Paused(await agent.pending(record.thread_id)), CHANGED
            pending = _with_reason(await agent.pending(record.thread_id), record, error.detail)
            return Paused(pending), f"The agent refused it: {error.detail}"

    async def _conclude(self, handed: Handed, state: State, error: str) -> None:
        def tx_(tx: Tx) -> Concluded:
            # The questions before their thread, as who answers or ends the run takes them.
            live = interactions.hold_live(tx, handed.lease.agent, handed.lease.thread_id)
            if error == NOT_YET:
                held_back(tx, handed.record)
            else:
                interactions.resumed(tx, handed.record.id, at=None if error == GONE else tx.now, error=error)
            if not leases.release(tx, handed.lease):
                raise _Lost
            left = _left(live, handed.record.id, error)
            held = error == NOT_YET
            concluded = write_down(tx, self._context, handed.lease, state, left, holds_back=held)
            if error in (GONE, CHANGED) and isinstance(state, Paused):  # a run that has failed says so itself
                concluded[0].rows += self._in_vain(tx, handed.record, error)
            if error != NOT_YET:
                audit.add(tx, handed.record.id, "not resumed" if error else "resumed", content=_name(state))
            return concluded

        concluded: Concluded | None = None
        with contextlib.suppress(_Lost):
            concluded = await self._context.store.write(tx_)
        self._context.faults.reach("resume.after-commit")
        self._context.signals.changed(handed.record.id)
        announce(self._context, concluded, handed.lease)

    def _in_vain(self, tx: Tx, record: Interaction, why: str) -> list[Row]:
        """Tell whoever heard that the agent goes on that it did so without this answer, or asks anew."""
        if record.status is not InteractionStatus.COMPLETED:
            return []
        return self._context.outbox.told_again(tx, replace(record, resume_error=why))

    async def _give_back(self, handed: Handed, after: int) -> None:
        """It was no attempt: whoever has a turn for it, here or elsewhere, gives the answer.

        Not before so many microseconds.
        """

        def tx_(tx: Tx) -> None:
            tx.one(interactions.HELD, id=handed.record.id)
            if leases.release(tx, handed.lease):
                not_begun(tx, handed.record, after)

        await self._context.store.write(tx_)
        self._context.signals.rearm()

    async def _later(self, handed: Handed, why: str, *, away: bool = False) -> None:
        """Try again after a while; after many tries, set it aside with its reason (the dead letter).

        `away`: the agent or the database cannot be reached. That is waited for, for days: the answer was
        accepted.
        """

        def tx_(tx: Tx) -> list[Row]:
            row = tx.one(interactions.HELD, id=handed.record.id)
            assert row is not None
            if not leases.release(tx, handed.lease):
                return []
            since = row["answered_at"] or row["expires_at"] or row["created_at"]
            over = tx.now - since > AWAY if away else row["resume_attempts"] >= GIVE_UP
            at = None if over else tx.now + round(pause(row["resume_attempts"]) * 1e6)
            tx.run(interactions.POSTPONE, key=handed.record.id, at=at, error=why)
            return self._given_up(tx, handed.record, why) if over else []

        self._context.dispatch(await self._context.store.write(tx_))
        self._context.signals.rearm()

    def _given_up(self, tx: Tx, record: Interaction, why: str) -> list[Row]:
        """Say so: the run failed, and `runs retry` gives the agent the same answer again."""
        error = f"The answer could not be given to the agent: {why}"
        run = tx.one(runs.GET, id=record.run_id) if record.run_id else None
        if run is None or failing.has_ended(tx, run) or not runs.fail(tx, run["id"], error):
            return []
        content = {"kind": "failed", "agent": record.agent, "error": error}
        return self._context.outbox.notices(tx, run["id"], content, run["told"])


def _with_reason(pending: Sequence[Pending], refused: Interaction, why: str) -> tuple[Pending, ...]:
    """What waits now; above the question that somebody answered in vain stands why it is asked again."""
    if refused.answer is None or refused.answer.expired:
        return tuple(pending)
    return tuple(
        replace(each, context="\n".join(filter(None, (why, each.context))))
        if each.interrupt_id == refused.interrupt_id
        else each
        for each in pending
    )


def _left(live: list[Row], id: str, error: str) -> list[Row]:
    """What stands for the thread's interrupts now that this is written of one of them, which is not next."""
    if error not in (GONE, NOT_YET):
        return [row for row in live if row["id"] != id]
    written = {"resume_next_at": None, "resume_error": error}
    return [{**row, **written} if row["id"] == id else row for row in live]


def _name(state: State) -> str:
    return {Paused: "paused", Finished: "finished", Failed: "failed"}[type(state)]
