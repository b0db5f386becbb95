"""Intake: opens the providers, and reads those that are polled, each in a loop of its own."""

import asyncio
import contextlib
import logging
from collections.abc import Awaitable, Callable, Mapping
from functools import partial

from answerback.background import break_off
from answerback.backoff import jitter
from answerback.context import Context
from answerback.errors import ConfigurationError, ProviderError, StoreUnavailable, TryLater
from answerback.metrics import Metric
from answerback.model import StandsIn
from answerback.provider import Batch, Inbound, Provider
from answerback.receive import Receiver
from answerback.store import leases
from answerback.store.leases import Lease
from answerback.threads import kept

log = logging.getLogger("answerback.intake")
PAUSE_MAX = 60.0
TURN = 10.0  # seconds between two looks of a process that is not the reader
WATCH = 120.0  # seconds between two questions whether a service still brings what people say
BEHIND = 0.5  # seconds between two questions whether a service has brought all that waited there
BEHIND_AT_MOST = 120  # such questions
CLOSE = 5.0  # seconds for a provider to release what it holds
POLLING = "poll:"  # leases of providers stand beside those of threads, under a name no agent can have


class Intake:
    """One task a provider: a provider that is away is tried again, and says so in `state`."""

    def __init__(
        self,
        context: Context,
        receiver: Receiver,
        providers: Mapping[str, Provider],
        turn: float = TURN,
        close: float = CLOSE,
        sleep: Callable[[float], Awaitable[None]] = asyncio.sleep,
    ) -> None:
        self._context, self._receiver, self._providers = context, receiver, providers
        self.turn, self._close_seconds, self._sleep = turn, close, sleep
        self._failures = dict.fromkeys(providers, 0)  # since something of it was last taken in
        self._drained = {name: asyncio.Event() for name in providers}
        self._polls: dict[str, asyncio.Timeout] = {}
        self._tasks: list[asyncio.Task[None]] = []
        self.state = dict.fromkeys(providers, "starting")

    def start(self) -> None:
        """Begin to open and to read."""
        self._tasks = [asyncio.create_task(self._run(name)) for name in self._providers]

    async def drained(self, timeout: float) -> None:
        """Until everything that waited at the services has been read once, or `timeout` seconds passed."""
        waiting = [asyncio.create_task(event.wait()) for event in self._drained.values()]
        try:
            if waiting:
                await asyncio.wait(waiting, timeout=timeout)
        finally:
            for task in waiting:
                task.cancel()

    async def drained_anew(self, timeout: float) -> None:
        """The same once more, after a time in which nobody looked: a poll of before may wait for nothing."""
        for name, provider in self._providers.items():
            self._begin_to_be_brought(name, provider)
            if not _is_posted(provider) and provider.stand_in is not StandsIn.TERMINAL:
                self._drained[name].clear()
                if (poll := self._polls.get(name)) is not None and not poll.expired():
                    poll.reschedule(0)
        await self.drained(timeout)

    async def halt(self) -> None:
        """Stop reading. What goes out still can."""
        await break_off(self._tasks)

    async def close(self) -> None:
        """Stop reading, and close the providers."""
        await self.halt()
        await asyncio.gather(*map(self._closed, self._providers))

    async def _closed(self, name: str) -> None:
        try:
            async with asyncio.timeout(self._close_seconds):
                await self._providers[name].close()
        except (Exception, SystemExit):  # user code may be a script, and end itself
            log.warning("the provider %s could not be closed", name)

    async def _run(self, name: str) -> None:
        provider, opened = self._providers[name], False
        while True:
            try:
                if not opened:
                    await provider.open()
                    opened = True
                    self._begin_to_be_brought(name, provider)
                if _is_posted(provider):
                    if type(provider).can("hears"):
                        await self._watch(name, provider)
                    self._is_well(name)
                    if provider.listens:
                        await provider.listen(partial(self._handed, name))
                    return
                if provider.stand_in is StandsIn.TERMINAL:  # each process has its own
                    await self._read(name, provider, None)
                else:
                    await self._read_while_ours(name, provider)
            except (Exception, SystemExit) as error:  # user code may be a script, and end itself
                self._failures[name] += 1
                await self._sleep(self._pause(name, error))

    def _begin_to_be_brought(self, name: str, provider: Provider) -> None:
        """What waits at a service that posts it comes by itself, if the service knows of any."""
        if not _is_posted(provider):
            return
        if not type(provider).can("behind"):
            self._drained[name].set()
            return
        self._drained[name].clear()
        self._tasks = [task for task in self._tasks if not task.done()]
        self._tasks.append(asyncio.create_task(self._be_brought(name, provider)))

    async def _be_brought(self, name: str, provider: Provider) -> None:
        for _ in range(BEHIND_AT_MOST):
            try:
                if not await provider.behind():
                    break
            except (Exception, SystemExit) as error:  # user code may be a script, and end itself
                log.debug("the provider %s does not say what waits there: %r", name, type(error))
            await self._sleep(BEHIND)
        self._drained[name].set()

    async def _watch(self, name: str, provider: Provider) -> None:
        """Ask it, for ever, whether what people say gets here: nobody else would notice that it does not."""
        while True:
            trouble = await provider.hears()
            self._failures[name] = 0
            if trouble:
                self._is_not(name, trouble)
            else:
                self._is_well(name)
            await self._sleep(WATCH)

    async def _handed(self, name: str, inbound: Inbound) -> None:
        await self._receiver.handed(name, inbound)
        self._failures[name] = 0

    async def _read_while_ours(self, name: str, provider: Provider) -> None:
        """One process reads a polled provider; the others look now and then whether it is their turn."""
        store, lease = self._context.store, None
        if not await store.read(lambda tx: leases.is_held(tx, POLLING, name)):
            lease = await store.write(lambda tx: leases.take(tx, POLLING, name, self._context.owner))
        if lease is None:
            self._is_well(name)
            self._failures[name] = 0
            await self._sleep(self.turn)
            return
        try:
            with kept(self._context, lease):
                while await store.write(lambda tx: leases.renew(tx, lease)):
                    await self._read(name, provider, lease)
        finally:
            with contextlib.suppress(StoreUnavailable):
                await store.write(lambda tx: leases.release(tx, lease))

    async def _read(self, name: str, provider: Provider, lease: Lease | None) -> None:
        cursor = await self._receiver.cursor(name)
        drained = self._drained[name].is_set()
        batch = await self._polled(name, provider, cursor, None if drained else 0)
        if batch is None:
            return
        self._is_well(name)
        if batch.events or batch.cursor != cursor:
            await self._receiver.polled(name, batch, lease)
        self._failures[name] = 0
        if not batch.events and not drained:
            self._drained[name].set()

    async def _polled(self, name: str, provider: Provider, cursor: str, wait: float | None) -> Batch | None:
        """What is new; None if it is to be read anew instead."""
        try:
            async with asyncio.timeout(None) as self._polls[name]:
                return await provider.poll(cursor, wait)
        except TimeoutError:
            if not self._polls[name].expired():
                raise
            return None
        finally:
            del self._polls[name]

    def _is_well(self, name: str) -> None:
        if self.state[name] not in ("", "starting"):
            log.info("the provider %s answers again", name)
        self.state[name] = ""

    def _is_not(self, name: str, text: str, error: BaseException | None = None) -> None:
        if self.state[name] != text:
            log.warning("the provider %s is not working: %s", name, text, exc_info=error)
        self.state[name] = text

    def _pause(self, name: str, error: BaseException) -> float:
        """Seconds to wait, and what to say meanwhile."""
        known = isinstance(error, ProviderError | StoreUnavailable | ConfigurationError)
        text = str(error) if known else f"{type(error).__name__} in the provider"
        self._is_not(name, text, None if known else error)
        self._context.metrics.count(Metric.REFUSED, name, "poll")
        asked = error.seconds if isinstance(error, TryLater) else 0.0
        return max(asked, min(PAUSE_MAX, 2.0 ** min(self._failures[name], 6)) * jitter())


def _is_posted(provider: Provider) -> bool:
    """Whether what people say is brought here, instead of being fetched."""
    return not provider.polls or provider.listens
