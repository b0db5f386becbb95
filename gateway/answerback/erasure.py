"""erasure: all that is kept of one person is taken out, table by table; it goes on where it was cut short.

How far it is stands in the database: it survives a kill, and two gateways that do it at once share the work.
"""

import asyncio
import logging
from collections.abc import Mapping
from dataclasses import dataclass, replace

from answerback import unfinished
from answerback.background import Background
from answerback.context import Context
from answerback.erase import Eraser
from answerback.errors import AgentUnavailable, Conflict, NotFound, StoreUnavailable
from answerback.provider import Provider
from answerback.store import Row, Tx, audit, contacts, effacing, personal, unnamed
from answerback.store.personal import Step
from answerback.stretches import stretch
from answerback.unfinished import Job
from answerback.whose import Events, Seen

log = logging.getLogger("answerback.erasure")
LOOK = 600.0  # seconds between two looks whether one was cut short
ROWS = 200  # looked at in one transaction: what else is written takes its turn in between
PAUSE = 0.01  # seconds between two of them
BUSY = 1.0  # seconds until a message that is just being sent is looked at again
MOST = 20  # questions that are named


@dataclass(frozen=True, slots=True)
class Erased:
    """How far it is: `step` is what is gone through now, "" once it is `done`, at `at`.

    `erased` is how much of each kind there was: rows, by the name of the step. `waits` are the agents that
    could not forget their part just now: nothing else is left, and they are told again by themselves.
    """

    id: str
    done: bool
    at: int | None
    step: str
    erased: Mapping[str, int]
    waits: tuple[str, ...] = ()


class Erasure(Background):
    """Of who is no contact any more."""

    def __init__(
        self,
        context: Context,
        providers: Mapping[str, Provider],
        eraser: Eraser,
        pause: float = PAUSE,
        rows: int = ROWS,
    ) -> None:
        super().__init__()
        self._context, self._eraser, self._pause, self._rows = context, eraser, pause, rows
        self._events = Events(context, providers)
        self._at_work: dict[str, asyncio.Task[None]] = {}

    def start(self) -> None:
        """Go on with what was cut short, here or in another process."""
        self._spawn(self._watch())

    async def _watch(self) -> None:
        while True:
            try:
                await self.resume()
            except StoreUnavailable as error:
                log.warning("who is to be erased has to wait: %s", error)
            except Exception as error:
                log.warning("an erasure was cut short and is tried again: %s", _why(error))
            await asyncio.sleep(LOOK)

    async def resume(self) -> None:
        """Finish all that were begun and not finished. Raises what the last one that failed raised."""
        failed: Exception | None = None
        for id in await self._context.store.read(unfinished.all_of_them):
            try:
                await asyncio.shield(self._task(id))
            except StoreUnavailable:
                raise
            except Exception as error:  # the others are erased all the same
                failed = error
        if failed is not None:
            raise failed

    async def contact(self, id: str, by: str, wait: float | None = None) -> Erased:
        """Erase somebody; how far that is after at most `wait` seconds, None: when it is done.

        Again, it says how far it is, or that nothing is left. Raises `NotFound`; `Conflict`, with what to do
        first. Agents that cannot forget now are named (`waits`), and all else is erased.
        """
        found = await self.of(id)
        if found is None or found.done:
            if await self._is_nobody(id):
                if found is None:
                    raise NotFound(f"There is no contact {id!r}, and nobody was who is called so.")
                return found
            await self._begin(id, by)
        elif found.step == Step.RUNS and await self._came_back(id):
            await self._begin(id, by, anew=True)
        task = self._task(id)
        await asyncio.wait({task}, timeout=wait)
        if task.done() and not task.cancelled():
            task.result()
        found = await self.of(id)
        assert found is not None
        return found

    async def of(self, id: str) -> Erased | None:
        """How far somebody's erasure is; None: there was none."""

        def tx_(tx: Tx) -> Erased | None:
            job, ended = unfinished.job(tx, id), unfinished.ended(tx, id)
            if job is not None:
                return Erased(id, False, None, job.step, job.erased, job.waits)
            return Erased(id, True, ended.at, "", ended.erased) if ended is not None else None

        return await self._context.store.read(tx_)

    async def _is_nobody(self, id: str) -> bool:
        if id in self._context.settings.contacts:
            return False
        return await self._context.store.read(lambda tx: contacts.person(tx, id) is None)

    async def _came_back(self, id: str) -> bool:
        """Whether somebody was a contact once more since their erasure began, and is none now."""
        if id in self._context.settings.contacts:
            return False
        return await self._context.store.read(
            lambda tx: contacts.person(tx, id) is not None and _is_gone(tx, id)
        )

    async def _begin(self, id: str, by: str, *, anew: bool = False) -> None:
        if id in self._context.settings.contacts:
            raise Conflict(
                f"{id!r} stands in the configuration. Take them out of the file, start the gateway again, "
                "and then erase."
            )
        # Not where it begins: that takes a while, and who was removed is asked nothing new.
        await self._context.store.read(lambda tx: _require_over(tx, id))

        def tx_(tx: Tx) -> None:
            tx.one(contacts.HELD, id=id)
            name = _name(tx, id)
            unnamed.make_key(tx)
            (unfinished.anew if anew else unfinished.begin)(tx, id, Job(by, tx.now, name))

        await self._context.store.write(tx_)
        self._context.faults.reach("erase.begun")

    def _task(self, id: str) -> asyncio.Task[None]:
        """What works on it until it is done; whoever else waits for it in this process waits for the same."""
        task = self._at_work.get(id)
        if task is None:
            task = self._at_work[id] = asyncio.create_task(self._work(id))
            self._tasks.add(task)
            task.add_done_callback(lambda done: self._over(id, done))
        return task

    def _over(self, id: str, task: asyncio.Task[None]) -> None:
        self._tasks.discard(task)
        self._at_work.pop(id, None)
        if not task.cancelled() and (error := task.exception()) is not None:
            log.warning("an erasure was cut short and is tried again: %s", _why(error))

    async def _work(self, id: str) -> None:
        store = self._context.store
        while True:
            job = await store.read(lambda tx: unfinished.job(tx, id))
            if job is None:
                return
            match job.step:
                case Step.EVENTS:
                    busy = await self._received(id, job)
                case Step.RUNS:
                    if not await self._runs(id, job):
                        return
                    busy = False
                case _:
                    busy = await store.write(lambda tx: stretch(tx, self._context, id, self._rows))
            self._context.faults.reach("erase.after-batch")
            await asyncio.sleep(BUSY if busy else self._pause)

    async def _received(self, id: str, job: Job) -> bool:
        """A stretch of what came in: read first, then taken out."""
        seen: Seen = await self._events.behind(id, job.behind, job.accounts, job.began, self._rows)
        newer = seen.behind is None and await self._context.store.read(
            lambda tx: tx.one(personal.NEWER, contact=id, began=job.began) is not None
        )

        def tx_(tx: Tx) -> bool:
            current = unfinished.held(tx, id)
            if current is None or current.step is not Step.EVENTS or current.behind != job.behind:
                return False  # another process has gone on meanwhile
            for row in seen.theirs:
                effacing.event(tx, row, job.by)
            for provider, message in seen.about:
                effacing.waiting(tx, provider, message)
            # Who came back meanwhile and went again is still known by that, to be erased once more.
            if seen.behind is None and not newer and contacts.person(tx, id) is not None and _is_gone(tx, id):
                effacing.person(tx, id)
            unfinished.keep(tx, id, current.plus(len(seen.theirs)), seen.behind)
            return False

        return await self._context.store.write(tx_)

    async def _runs(self, id: str, job: Job) -> bool:
        """Those that they started, and those that asked nobody else; their agents forget them.

        False when it has to be gone on with later, because an agent is away.
        """
        at = job.behind or personal.start(Step.RUNS)
        rows, behind = await self._context.store.read(
            lambda tx: personal.look(tx, Step.RUNS, at, self._rows, contact=id, began=job.began)
        )
        before = set(job.waits) if job.behind is not None else set()
        done, away = await self._forgotten([row for row in rows if row["due"]])
        waits = tuple(sorted(before | away))

        def tx_(tx: Tx) -> bool:
            current = unfinished.held(tx, id)
            if current is None or current.step is not Step.RUNS or current.behind != job.behind:
                return True
            current = replace(current.plus(done), waits=waits)
            if behind is not None:
                unfinished.keep(tx, id, current, behind)
                return True
            if waits:
                unfinished.again(tx, id, current)
                return False
            audit.add(tx, f"contact:{id}", effacing.ERASED, actor=current.by)
            unfinished.end(tx, id, current)
            return True

        goes_on = await self._context.store.write(tx_)
        if not goes_on:
            log.warning("an erasure waits for agents that cannot forget now: %s", ", ".join(waits))
        elif behind is None:
            log.info("erased what was kept of a contact", extra={"contact": id})
        return goes_on

    async def _forgotten(self, due: list[Row]) -> tuple[int, set[str]]:
        """How many runs were erased, and the agents that could not forget theirs."""
        done, away = 0, set[str]()
        for run in due:
            try:
                await self._eraser.run(run["id"])
                done += 1
            except AgentUnavailable:
                away.add(run["agent"])
        return done, away


def _name(tx: Tx, id: str) -> str:
    """What somebody was called. Raises `NotFound`, or `Conflict` while they are a contact."""
    person = contacts.person(tx, id)
    if person is None:
        raise NotFound(f"There is no contact {id!r}, and nobody was who is called so.")
    if not _is_gone(tx, id):
        raise Conflict(f"{id} is still a contact. First: answerback contacts remove {id}")
    return person.name


def _require_over(tx: Tx, id: str) -> None:
    """Raise `NotFound`, or `Conflict` while they are a contact or still play a part in something."""
    _name(tx, id)
    waiting = personal.still_open(tx, id)
    if waiting:
        raise Conflict(_waits(id, waiting))


def _is_gone(tx: Tx, id: str) -> bool:
    """Removed; or out of the configuration since a start, and nothing was linked for them since."""
    if not contacts.is_there(tx, id):
        return True
    row = tx.one(contacts.CONTACT, id=id)
    configured = row is not None and row["source"] == "config"
    return configured and not tx.all(contacts.ADDRESSES, contact_id=id)


def _waits(id: str, waiting: list[Row]) -> str:
    """Where they still play a part, and what to do about it."""
    listed = ", ".join(_place(row) for row in waiting[:MOST])
    more = f" and {len(waiting) - MOST} more" if len(waiting) > MOST else ""
    return (
        f"{id} still plays a part in: {listed}{more}. Answer or cancel open questions, cancel runs that go "
        "on or failed, deal with dead letters, wait for what is on its way, and then erase."
    )


def _place(row: Row) -> str:
    code = f" #{row['code']}" if row["code"] else ""
    return f"{row['agent'] or 'asked over HTTP'}{code} {row['id']} ({row['why']})"


def _why(error: BaseException) -> str:
    return str(error) if isinstance(error, StoreUnavailable) else type(error).__name__


__all__ = ["Erased", "Erasure"]
