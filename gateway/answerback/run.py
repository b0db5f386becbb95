"""run: what is asked of runs: to start, retry, re-ask, cancel, show or list them; and which are due."""

from collections.abc import Mapping
from dataclasses import dataclass

from answerback.again import revived
from answerback.agent import Agent
from answerback.background import Background
from answerback.closing import cancel_run, cancelled
from answerback.context import Context
from answerback.errors import Conflict, NotFound
from answerback.model import Json, RunStatus
from answerback.paging import Page
from answerback.routing import require_people, route_of
from answerback.stop import Stopper
from answerback.store import Row, Tx, interactions, leases, runs, stops
from answerback.store.leases import Lease
from answerback.store.runs import Run
from answerback.turns import Turns
from answerback.values import check
from answerback.work import Order, Work, given_up, order_of

WORKS = "This thread is working right now. Wait until it pauses or ends."

__all__ = ["Run", "RunRequest", "Runner"]


@dataclass(frozen=True, slots=True)
class RunRequest:
    """What to start. Without a `thread_id` a new thread is made; `replace` ends what waits on it.

    `expires_in`, in seconds, is the deadline of each of its questions, instead of the route's; `user` is for
    whom they are asked.
    """

    agent: str
    input: Json = None
    thread_id: str = ""
    route: str = ""
    ask: tuple[str, ...] = ()
    expires_in: float | None = None
    replace: bool = False
    user: str = ""


class Runner(Background):
    """One execution of an agent at a time on each thread."""

    def __init__(self, context: Context, agents: Mapping[str, Agent], turns: Turns) -> None:
        super().__init__()
        self._context, self._agents = context, agents
        self._work = Work(context, agents, turns, self._in_line)
        self.stopper = Stopper(context, agents, self._spawn)

    async def start(self, request: RunRequest) -> Run:
        """Store a run and begin it. Raises `NotFound` (agent) or `Conflict` (the thread waits)."""
        if request.agent not in self._agents:
            known = ", ".join(sorted(self._agents)) or "none"
            raise NotFound(f"There is no agent {request.agent!r}. Known: {known}.")
        check(request.input)
        route = route_of(self._context.settings, request.route, request.ask, agent=request.agent)
        if request.expires_in is not None:
            route["expires_in"] = request.expires_in
        thread = request.thread_id or interactions.new_id()
        run, order, lease, rows = await self._context.store.write(
            lambda tx: self._start(tx, request, thread, route)
        )
        self._context.dispatch(rows)
        self._begin(order, lease)
        return run

    def _start(
        self, tx: Tx, request: RunRequest, thread: str, route: Json
    ) -> tuple[Run, Order, Lease, list[Row]]:
        require_people(tx, self._context.settings, request.ask)
        rows: list[Row] = []
        if request.replace:
            interactions.hold_asked(tx, request.agent, thread)
        # The lease comes before the run: whoever had the thread has written down by then whether it waits.
        lease = leases.take(tx, request.agent, thread, self._context.owner)
        before = tx.all(runs.OR_TO_STOP, agent=request.agent, thread_id=thread)
        for earlier in before:
            if earlier["status"] == RunStatus.CANCELLED:
                if stops.is_claimed(tx, earlier):
                    raise Conflict(WORKS)
                continue
            if not request.replace:
                raise Conflict(_occupied(earlier))
            rows += cancel_run(tx, self._context, earlier["id"], "replaced by a new run")
        if lease is None:
            raise Conflict(WORKS)
        if before:  # whoever has to be told that they are cancelled is told before this one begins
            stops.drop(tx, request.agent, thread)
        intent = "replace" if before or (request.replace and request.thread_id) else "start"
        id = interactions.new_id()
        due_at = tx.now + leases.SPAN
        user = request.user
        runs.add(tx, id, request.agent, thread, request.input, route, due_at, intent, user=user)
        run = Run(id, request.agent, thread, RunStatus.RUNNING, None, "", (), tx.now, tx.now, user=user)
        return run, Order(id, intent, request.input), lease, rows

    async def get(self, id: str) -> Run:
        """A run, or `NotFound`."""
        run = await self._context.store.read(lambda tx: runs.get(tx, id))
        if run is None:
            raise NotFound("There is no run with this id.")
        return run

    async def list(self, status: str | None = None, limit: int = 50, after: str | None = None) -> Page[Run]:
        """Runs, oldest first; fewer than `limit` where their results are large."""
        items, more = await self._context.store.read(lambda tx: runs.page(tx, status, limit, after or ""))
        return Page(items, items[-1].id if more else None)

    async def cancel(self, id: str) -> Run:
        """End a run; what it asks is withdrawn. A run that has ended stays as it is (`Conflict`)."""
        await self.get(id)

        def tx_(tx: Tx) -> tuple[Row, list[Row]]:
            rows = cancelled(tx, self._context, id, "cancelled")
            row = tx.one(runs.GET, id=id)
            assert row is not None  # runs are never deleted
            if rows is None:
                raise Conflict(f"This run is {row['status']} already.")
            return row, rows

        row, rows = await self._context.store.write(tx_)
        self._context.dispatch(rows)
        await self.stopper.stop(row["agent"], row["thread_id"])
        after = await self.get(id)
        for interaction in after.interactions:
            self._context.signals.changed(interaction)
        return after

    async def retry(self, id: str) -> Run:
        """Try a failed run's step again with the same answer. `Conflict` when it has not failed."""
        return await self._again(id)

    async def reask(self, id: str) -> Run:
        """Ask a failed run's question anew, for another answer. `Conflict` when it has not failed."""
        return await self._again(id, reask=True)

    async def _again(self, id: str, *, reask: bool = False) -> Run:
        def tx_(tx: Tx) -> tuple[Lease, Order] | None:
            row = tx.one(runs.GET, id=id)
            if row is None:
                raise NotFound("There is no run with this id.")
            # Questions, then the thread, then the run, as everywhere: or two would wait for each other.
            interactions.hold_live(tx, row["agent"], row["thread_id"])
            lease = leases.take(tx, row["agent"], row["thread_id"], self._context.owner)
            row = tx.one(runs.HELD, id=id) or row
            if not reask and row["status"] == "failed" and revived(tx, id):
                if lease is not None:
                    leases.release(tx, lease)
                return None
            changed = tx.run(runs.REASK if reask else runs.RETRY, key=id, at=tx.now) == 1
            if not changed:
                raise Conflict(f"Only a failed run can be tried again; this one is {row['status']}.")
            if lease is None:
                raise Conflict("Its thread is working right now. Try again when it pauses or ends.")
            tx.run(runs.TAKE_UP, key=id, now=tx.now, at=tx.now + leases.SPAN)
            return lease, order_of(row, "reask" if reask else "")

        marked = await self._context.store.write(tx_)
        if marked is None:
            self._context.signals.rearm()
        else:
            lease, order = marked
            self._begin(order, lease)
        return await self.get(id)

    async def pump(self, limit: int = 20) -> int:
        """Take up runs that are to be tried again, or that were begun and whose worker has died; and tell

        the agents that have still to hear that their run is cancelled.
        """

        def tx_(tx: Tx) -> tuple[list[tuple[Order, Lease]], list[tuple[str, str]], list[Row]]:
            taken, told = [], list[Row]()
            for row in tx.all(runs.DUE, now=tx.now, limit=limit):
                lease = leases.take(tx, row["agent"], row["thread_id"], self._context.owner)
                due = {"key": row["id"], "now": tx.now, "at": tx.now + leases.SPAN}
                if lease is None:  # who has the thread is at work on it
                    tx.run(runs.LOOK_LATER, **due)
                elif tx.run(runs.TAKE_UP, **due) == 1:
                    try:
                        taken.append((order_of(row), lease))
                    except Conflict as damaged:
                        told += given_up(tx, self._context, row, damaged.detail)
                        leases.release(tx, lease)
                else:  # another process was quicker, and has done it
                    leases.release(tx, lease)
            return taken, stops.take_up(tx, self._context.stopper, limit), told

        taken, threads, told = await self._context.store.write(tx_)
        self._context.dispatch(told)
        for order, lease in taken:
            self._begin(order, lease)
        for thread in threads:
            self.stopper.due(thread)
        return len(taken) + len(threads)

    def _begin(self, order: Order, lease: Lease) -> None:
        self._spawn(self._work.on(order, lease))


def _occupied(run: Row) -> str:
    if run["status"] == "failed":
        return f"The last run on this thread failed ({run['id']}). Retry it, or start with replace: true."
    way = "Wait for its end" if run["status"] == "running" else "Answer it"
    return f"This thread is {run['status']} (run {run['id']}). {way}, or start with replace: true."
