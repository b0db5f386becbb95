"""In-process wake-ups: who must act, at once, on what has just been committed."""

import asyncio
import contextlib
from collections.abc import Awaitable, Callable, Iterator
from dataclasses import dataclass
from typing import Any, TypeVar

from answerback.model import Interaction
from answerback.store import Row
from answerback.store.leases import Lease

T = TypeVar("T")


@dataclass(frozen=True, slots=True)
class Handed:
    """A completed interaction whose thread's lease was taken in the same transaction."""

    record: Interaction
    lease: Lease
    again: bool  # an earlier attempt was begun


ANY = ""  # instead of an interaction's id: whichever


def _nobody(_: Any) -> None:
    return None


class Signals:
    """The composition root connects the ends; what nobody hears is found by the next sweep."""

    def __init__(self) -> None:
        self.deliver: Callable[[list[Row]], None] = _nobody
        self.resume: Callable[[Handed], None] = _nobody
        self.stop: Callable[[tuple[str, str]], None] = _nobody  # (agent, thread) whose run was cancelled
        self.rearm: Callable[[], None] = lambda: None
        self.elsewhere: Callable[[str], None] = _nobody  # tells other processes that an interaction changed
        self.ended = False  # nobody begins to wait any more
        self._waiting: dict[str, set[asyncio.Event]] = {}

    def changed(self, interaction_id: str) -> None:
        """Wake those who wait for this interaction, here and in other processes."""
        self.woken(interaction_id)
        self.elsewhere(interaction_id)

    def woken(self, interaction_id: str) -> None:
        """Wake those who wait for it in this process."""
        for event in (*self._waiting.get(interaction_id, ()), *self._waiting.get(ANY, ())):
            event.set()

    def end(self) -> None:
        """The gateway stops: wake those who follow all that happens."""
        self.ended = True
        self.woken(ANY)

    @contextlib.contextmanager
    def hearing(self, interaction_id: str) -> Iterator[asyncio.Event]:
        """Set whenever it (ANY: whichever) changes while the block runs.

        Whoever clears it, looks, and waits for it then, misses no change that came as they looked.
        """
        event = asyncio.Event()
        self._waiting.setdefault(interaction_id, set()).add(event)
        try:
            yield event
        finally:
            waiting = self._waiting[interaction_id]
            waiting.discard(event)
            if not waiting:
                del self._waiting[interaction_id]

    async def until(
        self,
        interaction_id: str,
        is_done: Callable[[T], bool],
        look: Callable[[], Awaitable[T]],
        timeout: float,
        look_again: float,
    ) -> T:
        """What `look` finds as soon as that is done, or after `timeout` seconds.

        It looks whenever the interaction changes, and every `look_again` seconds: another process may have
        changed it, and told nobody.
        """
        now = asyncio.get_running_loop().time
        end = now() + timeout
        with self.hearing(interaction_id) as changed:
            while True:
                changed.clear()
                found = await look()
                left = end - now()
                if is_done(found) or left <= 0:
                    return found
                await heard(changed, min(left, look_again))


async def heard(changed: asyncio.Event, timeout: float) -> None:
    """Until something has changed since it was cleared, or `timeout` seconds passed."""
    with contextlib.suppress(TimeoutError):
        async with asyncio.timeout(timeout):
            await changed.wait()
