"""Beside: graphs that a step calls at the same time pause together, so that all they ask is asked at once.

LangGraph ends a step by the first of its calls that pauses, as `asyncio.gather` does, and shows what that one
asks. What the others ask comes to light only when the step runs again, and hides what the first one asked:
a question that somebody was asked seems to be gone each time that one beside it is answered.
"""

import asyncio
import threading
import time
from collections import Counter
from collections.abc import Iterable

from langgraph.types import Interrupt

POLLED, PATIENCE = 0.01, 3.0  # seconds; steps run in threads too


class Beside:
    """The graphs that each step has running, and what those ask that have paused. Steps may run in threads.

    `patience`: for how many seconds what has paused waits for the others. `held`: whether one has paused
    without asking anything, as a breakpoint has it.
    """

    def __init__(self) -> None:
        self.patience, self.held = PATIENCE, False
        self._running, self._waiting = Counter[str](), Counter[str]()
        self._asked: dict[str, dict[str, Interrupt]] = {}
        self._is_over = False
        self._lock = threading.Lock()

    def begins(self, step: str) -> None:
        """A step runs one graph more; `step` names this try of it."""
        with self._lock:
            self._running[step] += 1

    def ends(self, step: str) -> None:
        """One has ended, or the task knows what it asks."""
        with self._lock:
            self._running[step] -= 1
            if not self._running[step]:
                self._asked.pop(step, None)

    def over(self) -> None:
        """From now on nothing waits: somebody waits for the step to end."""
        self._is_over = True

    async def pauses(self, step: str, asks: Iterable[Interrupt]) -> tuple[Interrupt, ...]:
        """One has paused, and asks this; what all ask once the others have paused or ended too."""
        end = self._begin_to_wait(step, asks)
        try:
            while self._waits(step, end):  # noqa: ASYNC110 (it is seen in threads)
                await asyncio.sleep(POLLED)
            return self._all(step)
        finally:
            self._end_to_wait(step)

    def pauses_in_thread(self, step: str, asks: Iterable[Interrupt]) -> tuple[Interrupt, ...]:
        """The same where a step may be held up. What would hold up an event loop does not wait."""
        end = self._begin_to_wait(step, asks)
        try:
            while not is_in_loop() and self._waits(step, end):
                time.sleep(POLLED)
            return self._all(step)
        finally:
            self._end_to_wait(step)

    def _begin_to_wait(self, step: str, asks: Iterable[Interrupt]) -> float:
        asks = tuple(asks)
        with self._lock:
            self._waiting[step] += 1
            self.held = self.held or not asks
            self._asked.setdefault(step, {}).update({interrupt.id: interrupt for interrupt in asks})
        return time.monotonic() + self.patience

    def _end_to_wait(self, step: str) -> None:
        with self._lock:
            self._waiting[step] -= 1

    def _waits(self, step: str, end: float) -> bool:
        with self._lock:
            is_alone = self._waiting[step] >= self._running[step]
        return not (is_alone or self._is_over or time.monotonic() >= end)

    def _all(self, step: str) -> tuple[Interrupt, ...]:
        with self._lock:
            return tuple(self._asked.get(step, {}).values())


def is_in_loop() -> bool:
    """Whether this thread runs an event loop now."""
    try:
        asyncio.get_running_loop()
    except RuntimeError:
        return False
    return True
