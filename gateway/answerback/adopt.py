"""adopt: follows threads that others reach too: asks what they leave waiting, withdraws what they answer."""

import asyncio
import contextlib
import logging
from collections.abc import Iterable, Mapping

from answerback.agent import Agent, Change, Paused, State
from answerback.background import break_off
from answerback.backoff import pause
from answerback.context import Context
from answerback.errors import AgentUnavailable, AnswerbackError, NotFound, NotPending, StoreUnavailable
from answerback.model import Json
from answerback.routing import route_of
from answerback.store import Row, Tx, adopted, interactions, leases, replies, runs, stops
from answerback.store.leases import Lease
from answerback.threads import Concluded, announce, conclude, kept

log = logging.getLogger("answerback.adopt")
LOOK = "look:"  # cursors of looks stand beside those of providers, under a name that none of these can have


class Adopter:
    """One task an agent, for as long as there is something to look at.

    A look decides nothing. What it finds is read again while the thread's lease is held, and written down as
    after a run of our own; a thread that nobody here follows becomes a run first.
    """

    def __init__(self, context: Context, agents: Mapping[str, Agent]) -> None:
        self._context, self._agents = context, agents
        self._hints: dict[str, asyncio.Event] = {}
        self._tasks: list[asyncio.Task[None]] = []

    def start(self) -> None:
        """Begin to look."""
        self._hints = {name: asyncio.Event() for name in self._agents}
        self._tasks = [asyncio.create_task(self._watch(name)) for name in self._agents]

    async def close(self) -> None:
        """Stop looking."""
        await break_off(self._tasks)

    def hint(self, agent: str) -> None:
        """Somebody says that there is something to see: look now. Raises `NotFound`."""
        if agent not in self._agents:
            raise NotFound(f"There is no agent {agent!r}.")
        if agent in self._hints:
            self._hints[agent].set()

    async def _watch(self, name: str) -> None:
        failures = 0
        while True:
            seconds: float | None
            try:
                seconds, failures = await self.look(name), 0
            except Exception as error:
                failures += 1
                seconds = pause(failures)
                known = isinstance(error, AnswerbackError)
                why = str(error) if known else type(error).__name__
                log.warning(
                    "the agent %s cannot be looked at: %s", name, why, exc_info=None if known else error
                )
            if seconds is None:
                return
            with contextlib.suppress(TimeoutError):
                async with asyncio.timeout(seconds):
                    await self._hints[name].wait()
            self._hints[name].clear()

    async def look(self, name: str) -> float | None:
        """Look once; seconds until the next look, None if there is never anything to see.

        How far it has looked is kept only after everything that was found is written down. A thread that
        cannot be read now keeps none of the others waiting; raises `AgentUnavailable` after these.
        """
        store, agent = self._context.store, self._agents[name]
        cursor = await store.read(lambda tx: replies.position(tx, LOOK + name))
        look = await agent.look(cursor)
        route = route_of(self._context.settings, "", (), agent=name)
        done, unread = True, None
        for change in look.changes:
            try:
                done = await self._follow(name, agent, change, route) and done
            except AgentUnavailable as error:
                unread = unread or error
        if unread is not None:
            raise unread
        if look.cursor != cursor and done:
            await store.write(lambda tx: replies.move(tx, LOOK + name, look.cursor))
        return look.again_in

    async def _follow(self, name: str, agent: Agent, change: Change, route: Json) -> bool:
        """Whether it is written down where the thread stands, as far as that concerns us."""
        store = self._context.store
        if not await store.read(lambda tx: _concerns_us(tx, name, change)):
            return True
        taken = await store.write(lambda tx: self._take(tx, name, change))
        if taken is None:  # whoever has it writes down where the thread stands, unless they die
            return not await store.read(lambda tx: _concerns_us(tx, name, change))
        lease, run = taken
        try:
            await self._write_down(agent, lease, route, run)
        except StoreUnavailable:  # the lease will lapse
            raise
        except (AgentUnavailable, NotPending) as error:
            await store.write(lambda tx: leases.release(tx, lease))
            if isinstance(error, AgentUnavailable):
                raise
            log.info("a thread has been deleted meanwhile", extra={"agent": name})
        except Exception as error:
            log.exception("a thread could not be followed", extra={"agent": name})
            why = f"What waits on this thread could not be read: {type(error).__name__}."
            await store.write(lambda tx: _set_aside(tx, lease, route, why))
        return True

    async def _write_down(self, agent: Agent, lease: Lease, route: Json, run: str) -> None:
        with kept(self._context, lease):
            state = await agent.stands(lease.thread_id)
        concluded = await self._context.store.write(lambda tx: self._conclude(tx, lease, state, route, run))
        if concluded is not None:
            announce(self._context, concluded, lease)

    def _take(self, tx: Tx, name: str, change: Change) -> tuple[Lease, str] | None:
        """The thread's lease, and the run that follows it now; "" if none does."""
        lease = leases.take(tx, name, change.thread, self._context.owner)
        if lease is None:
            return None
        if not _concerns_us(tx, name, change) or stops.of(tx, name, change.thread):
            leases.release(tx, lease)  # what is still to be stopped may work on: it is looked at after that
            return None
        run = tx.one(runs.OF_THREAD, agent=name, thread_id=change.thread)
        return lease, run["id"] if run is not None else ""

    def _conclude(self, tx: Tx, lease: Lease, state: State | None, route: Json, run: str) -> Concluded | None:
        """Write down where the thread stands; one that works says so later, when it has changed again.

        `run` followed it when it was looked at. Was that cancelled since, nobody is asked what it waits for.
        """
        interactions.hold_live(tx, lease.agent, lease.thread_id)
        if state is None or not _is_followed(tx, lease, state, route, run):
            leases.release(tx, lease)
            return None
        return conclude(tx, self._context, lease, state)


def _is_followed(tx: Tx, lease: Lease, state: State, route: Json, before: str) -> bool:
    """Whether a run follows the thread, from now on if need be; or one did (`before`), now cancelled."""
    if not leases.renew(tx, lease):
        return False
    run = tx.one(runs.HELD_OF_THREAD, agent=lease.agent, thread_id=lease.thread_id)
    if run["status"] != "failed" if run is not None else before:
        return True
    waiting = state.pending if isinstance(state, Paused) else ()
    keys = [(each.interrupt_id, each.digest) for each in waiting]
    if not _is_new(tx, lease.agent, lease.thread_id, keys):
        return False
    id = _add_run(tx, lease, route)
    log.info("what somebody else left waiting is asked", extra={"agent": lease.agent, "run": id})
    return True


def _set_aside(tx: Tx, lease: Lease, route: Json, why: str) -> None:
    """As a failed run with its reason: that can be tried again, and holds up none of the others."""
    live = tx.one(runs.OF_THREAD, agent=lease.agent, thread_id=lease.thread_id)
    if leases.release(tx, lease) and live is None:
        runs.fail(tx, _add_run(tx, lease, route), why)


def _add_run(tx: Tx, lease: Lease, route: Json) -> str:
    id = interactions.new_id()
    runs.add(tx, id, lease.agent, lease.thread_id, None, route, None, runs.ADOPTED)
    return id


def _concerns_us(tx: Tx, agent: str, change: Change) -> bool:
    """Whether what waits on a thread is not what we ask."""
    run = tx.one(runs.OF_THREAD, agent=agent, thread_id=change.thread)
    if run is None or run["status"] == "failed":
        foreign = not change.started or adopted.is_known(tx, agent, change.thread)
        return foreign and _is_new(tx, agent, change.thread, change.waiting)
    if run["status"] != "waiting":  # its own worker writes down where it stands
        return False
    asked = tx.all(interactions.OF_THREAD, agent=agent, thread_id=change.thread)
    return _keys(asked) != set(change.waiting)


def _keys(rows: list[Row]) -> set[tuple[str, str]]:
    return {(row["interrupt_id"], row["digest"]) for row in rows}


def _is_new(tx: Tx, agent: str, thread: str, waiting: Iterable[tuple[str, str]]) -> bool:
    """Whether anything waits that was never asked here: what was cancelled is not asked again."""
    return any(not adopted.was_asked(tx, agent, thread, *key) for key in waiting)


__all__ = ["Adopter"]
