"""The clock: one APScheduler job, re-armed to the next moment that something in the database falls due."""

import asyncio
import datetime
import logging
from collections.abc import Awaitable, Callable, Sequence

from apscheduler.schedulers.asyncio import AsyncIOScheduler

from answerback.errors import StoreUnavailable
from answerback.store import Store, Tx, due

log = logging.getLogger("answerback.clock")
SOON = 0.05  # seconds: a burst of commits shares one look
AT_LEAST = 0.015  # seconds between two looks: what has its turn at a moment must not be late by much more
RETRY = 5.0  # seconds to the next look while the database is away
AT_MOST = 60_000_000  # microseconds to the next look, whatever happens
AWAY = 30_000_000  # microseconds that a look is late: the machine was asleep, or the database was away
Pump = Callable[[], Awaitable[int]]
CatchUp = Callable[[], Awaitable[None]]


def next_due(tx: Tx) -> tuple[int, int]:
    """(database time, when the next thing falls due), at most a minute apart."""
    return tx.now, _next(due.look(tx))


def _next(look: due.Look) -> int:
    return min([*look.times, look.now + AT_MOST])


class Clock:
    """Wakes the pumps. It decides nothing: deadlines live in rows, and database time decides.

    `catch_up` comes before what fell due while nobody looked.
    """

    def __init__(self, store: Store, pumps: Sequence[Pump], catch_up: CatchUp | None = None) -> None:
        self._store, self._pumps, self._catch_up = store, pumps, catch_up
        self._catching_up: asyncio.Task[None] | None = None
        self._planned: int | None = None  # when the next look was to be, database time
        # Three instances: a wake that comes while one is ending must not be dropped; `_busy` lets one work.
        self._scheduler = AsyncIOScheduler(
            timezone=datetime.UTC,
            job_defaults={"coalesce": True, "max_instances": 3, "misfire_grace_time": None},
        )
        self._busy = asyncio.Lock()
        self._again = False
        self._stopped = False
        self._wake: datetime.datetime | None = None
        self._beat: asyncio.TimerHandle | None = None
        self._put_back = 0  # the last event, by the time before the database's was put back

    def start(self) -> None:
        """Begin; the first look is at once."""
        self._scheduler.start()
        self._arm(0)
        self._check()

    async def stop(self) -> None:
        """Let a look that is under way end, then stop."""
        self._stopped = True
        if self._beat is not None:
            self._beat.cancel()
        if self._catching_up is not None:
            self._catching_up.cancel()
        if self._scheduler.running:
            self._scheduler.pause()
            await asyncio.sleep(0)  # what was begun a moment ago comes to wait for its turn, before us
            async with self._busy:
                self._scheduler.shutdown(wait=False)

    def rearm(self) -> None:
        """Something was committed that may fall due earlier than what we wait for: look again."""
        self._again = True
        if self._scheduler.running and not self._stopped and not self._busy.locked():
            soon = _in(SOON)
            if self._wake is None or soon < self._wake:  # an earlier wake stays: commits must not push it on
                self._arm_at(soon)

    def _check(self) -> None:
        """Where this machine's time was set back, the next look would be late by as much: by a clock that

        nobody sets, none is further away than it can be.
        """
        if self._wake is not None and self._wake > _in(2 * AT_MOST / 1e6) and not self._busy.locked():
            self._arm(0)
        self._beat = asyncio.get_running_loop().call_later(AT_MOST / 1e6, self._check)

    async def tick(self) -> None:
        """Look; let every pump work if something is due; then sleep until the next moment."""
        async with self._busy:
            if self._stopped:
                return
            self._again, self._wake = False, None
            seconds = await self._left(is_first=True)
            if self._catching_up is not None:
                seconds = AT_MOST / 1e6  # its end begins the next look
            elif seconds <= 0:
                fine = await self._pump()
                seconds = max(AT_LEAST if fine else RETRY, await self._left())
        if not self._stopped:
            self._arm(SOON if self._again else seconds)

    async def _pump(self) -> bool:
        """Whether all of them worked; one that fails stops no other."""
        fine = True
        for pump in self._pumps:
            try:
                await pump()
            except StoreUnavailable as error:
                log.warning("a sweep has to wait: %s", error)
                fine = False
            except Exception:
                log.exception("a sweep failed; it is tried again")
                fine = False
        return fine

    async def _left(self, *, is_first: bool = False) -> float:
        """Seconds until something falls due; 0 or less when it has. `is_first`: after having slept."""
        try:
            look = await self._store.read(due.look)
            if look.is_put_back and look.newest != self._put_back:
                await self._go_on_from(look)
                look = await self._store.read(due.look)
        except Exception as error:
            known = isinstance(error, StoreUnavailable)
            log.warning("nobody knows what is due: %s", error, exc_info=None if known else error)
            return RETRY
        at, planned = _next(look), self._planned
        self._planned = max(at, look.now)
        if is_first and planned is not None and look.now - planned > AWAY:
            self._begin_to_catch_up((look.now - planned) / 1e6)
        return (at - look.now) / 1e6

    def _begin_to_catch_up(self, late: float) -> None:
        """What was said in time while nobody looked is heard before what fell due meanwhile is done."""
        if self._catch_up is None or self._catching_up is not None:
            return
        log.info("nobody looked for %.0f s longer than planned; what was said meanwhile is heard first", late)
        self._catching_up = asyncio.ensure_future(self._catch_up())
        self._catching_up.add_done_callback(self._caught_up)

    def _caught_up(self, done: "asyncio.Future[None]") -> None:
        self._catching_up = self._planned = None  # however long that took, what fell due is done now
        if not done.cancelled() and (error := done.exception()) is not None:
            log.error("what was said meanwhile could not be heard first", exc_info=error)
        if not self._stopped:
            self._arm(0)

    async def _go_on_from(self, look: due.Look) -> None:
        """Go by the database's new time, once for each time that it is put back."""
        await self._store.write(due.put_back)
        self._put_back = look.newest
        seconds = round((look.newest - look.now) / 1e6)
        log.warning("the time of the database was put back by %s s or more: what waited goes on", seconds)

    def _arm(self, seconds: float) -> None:
        self._arm_at(_in(seconds))

    def _arm_at(self, when: datetime.datetime) -> None:
        self._wake = when
        self._scheduler.add_job(self.tick, "date", run_date=when, id="wake", replace_existing=True)


def _in(seconds: float) -> datetime.datetime:
    return datetime.datetime.now(datetime.UTC) + datetime.timedelta(seconds=seconds)


__all__ = ["Clock", "next_due"]
