"""In-process wake-ups: who must act, at once, on what has just been committed."""

import asyncio
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

from answerback.model import Interaction
from answerback.store import Row
from answerback.store.leases import Lease


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

    async def wait_for_any(self, timeout: float) -> None:
        """Until some interaction changed, or `timeout` seconds passed."""
        await self.wait(ANY, timeout)

    async def wait(self, interaction_id: str, timeout: float) -> None:
        """Until it changed, or `timeout` seconds passed."""
        event = asyncio.Event()
        self._waiting.setdefault(interaction_id, set()).add(event)
        try:
            async with asyncio.timeout(timeout):
                await event.wait()
        except TimeoutError:
            return
        finally:
            waiting = self._waiting[interaction_id]
            waiting.discard(event)
            if not waiting:
                del self._waiting[interaction_id]
