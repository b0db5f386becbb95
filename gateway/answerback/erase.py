"""erase: takes what was said out of what has ended, after `retention` or at once; agents forget it."""

import asyncio
import logging
from collections import Counter
from collections.abc import Callable, Mapping
from functools import partial

from answerback.agent import Agent
from answerback.background import Background
from answerback.context import Context
from answerback.errors import AgentUnavailable, AnswerbackError, Conflict, NotFound, StoreUnavailable
from answerback.model import Interaction
from answerback.states import is_to_be_posted
from answerback.store import Row, Tx, erasing, interactions, leases, meta, runs, stops
from answerback.store.erasing import Kind
from answerback.store.leases import Lease
from answerback.threads import kept

log = logging.getLogger("answerback.erase")
NEXT = "erase.next"  # when the next sweep is due, of whatever process
DAY, HOUR = 86_400_000_000, 3_600_000_000  # microseconds
FOREVER = 1 << 62  # microseconds: later than anything ends
LOOK = 600.0  # seconds between two looks whether a sweep is due
ROWS = 100  # looked at in one transaction: what else is written takes its turn in between
PAUSE = 0.02  # seconds between two of them
PATIENCE = 60.0  # seconds for an agent to forget a thread: its worker may be blocked
ENOUGH = 3  # threads that an agent could not forget one after the other; a sweep asks it no more then
NAMES = {
    Kind.INTERACTION: "questions",
    Kind.RUN: "runs",
    Kind.NOTICE: "notices",
    Kind.DELIVERY: "messages",
    Kind.REPLY: "events",
}


class Eraser(Background):
    """Sweeps once a day, in one process of all; nothing at all without `retention`."""

    def __init__(
        self,
        context: Context,
        agents: Mapping[str, Agent],
        pause: float = PAUSE,
        patience: float = PATIENCE,
    ) -> None:
        super().__init__()
        self._context, self._agents, self._pause = context, agents, pause
        self._patience = patience
        self._failed: Counter[str] = Counter()  # threads in a row that an agent could not forget

    def start(self) -> None:
        """Begin to look whether a sweep is due."""
        if self._context.settings.retention is not None:
            self._spawn(self._watch())

    async def _watch(self) -> None:
        while True:
            try:
                await self.look()
            except StoreUnavailable as error:
                log.warning("what is to be erased has to wait: %s", error)
            except Exception:
                log.exception("erasing failed; it is tried again")
            await asyncio.sleep(LOOK)

    async def look(self) -> bool:
        """Sweep if that is due; whether it was. One that was cut short is due again after an hour."""
        store = self._context.store
        if not await store.write(lambda tx: meta.due(tx, NEXT, again_at=tx.now + HOUR)):
            return False
        await self.sweep()
        await store.write(lambda tx: meta.put(tx, NEXT, tx.now + DAY))
        return True

    async def sweep(self) -> Counter[Kind]:
        """Erase all that ended longer ago than `retention`; how much of each kind there was."""
        seconds = self._context.settings.retention
        erased: Counter[Kind] = Counter()
        if seconds is None:
            return erased
        self._failed.clear()
        ended = await self._context.store.read(lambda tx: tx.now) - round(seconds * 1e6)
        for kind in Kind:
            erased[kind] = await self._walk(kind, ended)
        if found := [f"{number} {NAMES[kind]}" for kind, number in erased.items() if number]:
            log.info("erased what was said in %s", ", ".join(found))
        return erased

    async def now(self, id: str, by: str) -> Interaction:
        """Erase a question that has ended at once, with the run that asked it and all that this run asked.

        The agent forgets the thread, unless that has other runs. Raises `NotFound`; `Conflict` while it, or
        the run, goes on; `AgentUnavailable` if the agent cannot forget now: then the rest is erased.
        """

        def tx_(tx: Tx) -> tuple[Row | None, list[Row]]:
            run, asked = _ended(tx, id)
            for row in asked:
                erasing.erase(tx, Kind.INTERACTION, row, by)
            if run is None or run["erased_at"] is not None:
                return None, asked
            return self._left(tx, run), asked

        remembered, asked = await self._context.store.write(tx_)
        for row in asked:
            await self._wipe(row)
        if remembered is not None:
            agent = remembered["agent"]
            if not await self._forget(agent, remembered["thread_id"], lambda tx: _is_alone(tx, remembered)):
                raise AgentUnavailable(f"It is erased here, but {agent} cannot forget it now. Try again.")
        return await self._context.store.read(lambda tx: _known(interactions.get(tx, id)))

    async def run(self, id: str) -> None:
        """Erase what went into one run that is over, and what came out of it.

        The agent forgets the thread, unless that has other runs. Raises `AgentUnavailable` if it cannot now.
        """

        def tx_(tx: Tx) -> Row | None:
            run = tx.one(runs.GET, id=id)
            if run is None or run["erased_at"] is not None:
                return None
            return self._left(tx, run)

        run = await self._context.store.write(tx_)
        if run is None:
            return
        if await self._forget(run["agent"], run["thread_id"], lambda tx: _is_alone(tx, run)):
            return
        known = await self._context.store.read(lambda tx: tx.one(runs.GET, id=id))
        if known is not None and known["erased_at"] is None:  # or another gateway has just done it
            raise AgentUnavailable(f"{run['agent']} cannot forget a thread now. Try again.")

    def _left(self, tx: Tx, run: Row) -> Row | None:
        """The run, if its agent must forget the thread first; otherwise it is erased."""
        erasing.hold_thread(tx, run)
        if self._has_memory(tx, run, FOREVER) and not erasing.is_shared(tx, run):
            return run
        erasing.erase(tx, Kind.RUN, run)
        return None

    async def _wipe(self, asked: Row) -> None:
        """The messages and events of a question that is erased."""
        found = await self._context.store.read(lambda tx: erasing.traces(tx, asked["id"], asked["run_id"]))
        for start in range(0, len(found), ROWS):
            some = found[start : start + ROWS]
            await self._context.store.write(partial(_erase, found=some))

    async def _walk(self, kind: Kind, ended: int) -> int:
        """Through one table in the order of its key."""
        behind: Row | None = erasing.start(kind)
        erased = 0
        while behind is not None:
            at = behind

            def tx_(tx: Tx, at: Row = at) -> tuple[Row | None, int, list[Row]]:
                seen = erasing.look(tx, kind, at, ended, ROWS)
                waiting = [row for row in seen.due if kind is Kind.RUN and self._has_memory(tx, row, ended)]
                done = sum(erasing.erase(tx, kind, row) for row in seen.due if row not in waiting)
                return seen.behind, done, waiting

            behind, done, waiting = await self._context.store.write(tx_)
            erased += done
            for row in waiting:
                if self._failed[row["agent"]] < ENOUGH:  # else it is asked again tomorrow
                    may = partial(_is_left, row, ended)
                    erased += await self._forget(row["agent"], row["thread_id"], may)
            await asyncio.sleep(self._pause)
        return erased

    def _has_memory(self, tx: Tx, run: Row, ended: int) -> bool:
        """Whether the agent must forget the run's thread first: one of ours that is used no more."""
        known = run["agent"] in self._agents or run["agent"] in self._context.settings.agents
        ours = known and not run["intent"].startswith(runs.ADOPTED)
        return ours and not erasing.is_in_use(tx, run["agent"], run["thread_id"], ended)

    async def _forget(self, agent: str, thread: str, may: Callable[[Tx], bool]) -> int:
        """Let an agent forget a thread, then erase its runs, all under the thread's lease; how many."""

        def take(tx: Tx) -> Lease | None:
            return leases.take(tx, agent, thread, self._context.owner) if may(tx) else None

        lease = await self._context.store.write(take)
        if lease is None:
            return 0
        forgotten = await self._is_forgotten(lease, may)
        return await self._context.store.write(lambda tx: _conclude(tx, lease, forgotten))

    async def _is_forgotten(self, lease: Lease, may: Callable[[Tx], bool]) -> bool:
        if lease.agent not in self._agents:
            log.warning(
                "a thread could not be forgotten: its agent cannot be used", extra={"agent": lease.agent}
            )
            return False
        try:
            with kept(self._context, lease):
                async with asyncio.timeout(self._patience):
                    forgotten = await self._forgets(self._agents[lease.agent], lease, may)
        except Exception as error:  # an adapter may raise anything; tomorrow is another day
            why = str(error) if isinstance(error, AnswerbackError) else type(error).__name__
            log.warning("a thread could not be forgotten: %s", why, extra={"agent": lease.agent})
            taken_up = isinstance(error, Conflict)  # by somebody: the agent is well
            self._failed[lease.agent] += not taken_up
            return False
        del self._failed[lease.agent]
        return forgotten

    async def _forgets(self, agent: Agent, lease: Lease, may: Callable[[Tx], bool]) -> bool:
        """False if the thread is not ours to forget any more.

        First what it ends with, then whether nobody has taken it up: whatever happens on it from then on, an
        agent that is told to forget only that does not delete, however late it hears of it.
        """
        tip = await agent.tip(lease.thread_id)
        if not await self._context.store.write(lambda tx: leases.renew(tx, lease) and may(tx)):
            return False
        if tip is None:
            await agent.forget(lease.thread_id)
        else:
            await agent.forget(lease.thread_id, tip)
        return True


def _ended(tx: Tx, id: str) -> tuple[Row | None, list[Row]]:
    """The run that asked a question, None if none did, and all that was asked with it; all of it is over."""
    row = tx.one(interactions.GET, id=id)
    if row is None:
        raise NotFound("There is no interaction with this id.")
    run = tx.one(runs.GET, id=row["run_id"]) if row["run_id"] else None
    if run is not None and run["status"] not in ("completed", "cancelled"):
        raise Conflict(f"Its run {run['id']} is {run['status']}: the agent needs it. Cancel the run first.")
    if run is not None and stops.is_given_up(run):
        raise Conflict(
            "Its agent was never told that the run is cancelled, and may work on: "
            f"replay or discard the dead letter {run['id']} first."
        )
    if run is not None and run["stop_at"] is not None:
        raise Conflict("Its agent has still to be told that the run is cancelled. Try again after that.")
    asked = tx.all(interactions.OF_RUN, run_id=run["id"]) if run is not None else [row]
    if any(each["status"] == "pending" for each in asked):
        raise Conflict("This question is still open. Cancel it first.")
    if any(each["resume_next_at"] is not None for each in asked):
        raise Conflict("Its answer is on its way to the agent. Try again in a moment.")
    if any(is_to_be_posted(tx, each["id"]) for each in asked):
        raise Conflict("How it ended has still to be posted to its callback_url. Try again after that.")
    return run, asked


def _erase(tx: Tx, found: list[tuple[Kind, Row]]) -> None:
    for kind, row in found:
        erasing.erase(tx, kind, row)


def _known(record: Interaction | None) -> Interaction:
    assert record is not None
    return record


def _is_left(run: Row, ended: int, tx: Tx) -> bool:
    """Whether a run's thread has not been used since a moment."""
    return not erasing.is_in_use(tx, run["agent"], run["thread_id"], ended)


def _is_alone(tx: Tx, run: Row) -> bool:
    """Whether a run has its thread for itself."""
    return _is_left(run, FOREVER, tx) and not erasing.is_shared(tx, run)


def _conclude(tx: Tx, lease: Lease, forgotten: bool) -> int:
    """Give the lease back; how many runs of a forgotten thread were erased, none if it was lost."""
    held = leases.release(tx, lease)
    return erasing.thread(tx, lease.agent, lease.thread_id) if held and forgotten else 0


__all__ = ["Eraser"]
