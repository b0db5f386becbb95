"""Calls: which inner graphs run in one run of ours, and which of them may not ask.

A graph that keeps one history for a whole thread (`checkpointer=True`), run by two steps at the same time,
leaves one history for the two: both would go on with the answer to either. And what asks in a graph that
keeps none (`checkpointer=False`) is somebody new each time it runs, whom no answer reaches.
"""

import asyncio
import threading
import time
from collections import Counter
from collections.abc import Callable, Mapping

from answerback_agents.langgraph.beside import POLLED, Beside, is_in_loop


class OneHistory(RuntimeError):
    """A graph with one history for a whole thread asks while it runs twice."""

    def __init__(self, namespace: str) -> None:
        super().__init__(
            f"“{_step(namespace)}” runs twice at the same time with one history (checkpointer=True), and "
            "asks: one answer would answer both. Compile the graph in it without checkpointer=True, or have "
            "it run once at a time"
        )


class NoHistory(RuntimeError):
    """A graph that keeps no checkpoints asks."""

    def __init__(self, namespace: str) -> None:
        super().__init__(
            f"“{_step(namespace)}” asks in a graph that keeps nothing (checkpointer=False), so no answer "
            "would reach it. Compile that graph without checkpointer=False"
        )


class Over(RuntimeError):
    """What a step has left running, as `asyncio.gather` does once one part has raised, comes too late."""

    def __init__(self) -> None:
        super().__init__("This thread is at work again, without what the step before has left running.")


class Calls:
    """The runs of inner graphs, by the namespace of their history. Steps may run in threads.

    `anew`: whether a step called a graph that had asked with something else, so that it started anew.
    `beside`: those that each step runs at the same time.
    """

    def __init__(self) -> None:
        self.anew, self.beside = False, Beside()
        self._running = Counter[str]()
        self._is_over = False
        self._taken: dict[tuple[str, str], object] = {}
        self._counts: dict[str, tuple[object, int]] = {}
        self._begun: dict[str, tuple[str, Mapping[str, str], object]] = {}
        self._tries: dict[str, object] = {}
        self._at_once: set[str] = set()
        self._unkept: set[str] = set()
        self._asking: set[str] = set()
        self._lock = threading.Lock()

    def begin(self, namespace: str, task: str, around: Mapping[str, str], attempt: object) -> None:
        """A task runs a graph, in this try, which is an object.

        `around`: the checkpoints, by namespace, at which the graphs around it stand. Raises `OneHistory` if
        another of the same time has asked there.
        """
        with self._lock:
            self.must_go_on()
            other, then, _ = self._begun.get(namespace, (task, around, attempt))
            self._begun[namespace], self._tries[task] = (task, around, attempt), attempt
            follows = any(around[graph] != then[graph] for graph in around.keys() & then.keys())
            if other != task and not follows:
                self._at_once.add(namespace)
                self._check(self._asking)

    def take(self, task: str, namespace: str, attempt: object) -> bool:
        """Whether no other call of this task has gone on there in this try, which is an object, or runs."""
        with self._lock:
            taken = self._taken.get((task, namespace))
            free = taken is None or (taken is not attempt and not self._running[namespace])
            if free:
                self._taken[task, namespace] = attempt
            return free

    def has_begun(self, namespace: str) -> bool:
        """Whether a task has run a graph there in its last try."""
        with self._lock:
            task, _, attempt = self._begun.get(namespace, ("", {}, None))
            return attempt is not None and self._tries[task] is attempt

    def are_several(self) -> bool:
        """Whether more than one graph has run, or runs."""
        with self._lock:
            return len(self._begun) > 1

    def is_left(self, task: str, attempt: object) -> bool:
        """Whether another try of this task has left a graph running, as `asyncio.gather` does."""
        with self._lock:
            if self._tries.get(task, attempt) is attempt:
                return False
            return any(
                by == task and then is not attempt and self._running[namespace] > 0
                for namespace, (by, _, then) in self._begun.items()
            )

    def count(self, task: str, attempt: object) -> int:
        """How many graphs this task has called before in this try, which is an object."""
        with self._lock:
            last, count = self._counts.get(task, (attempt, 0))
            count = count if last is attempt else 0
            self._counts[task] = (attempt, count + 1)
            return count

    def begin_unkept(self, namespace: str) -> None:
        """A task runs a graph that keeps no checkpoints."""
        with self._lock:
            self.must_go_on()
            self._unkept.add(namespace)

    def ask(self, place: str) -> None:
        """A task asks; `place` is its namespace. Raises `OneHistory`, `NoHistory`."""
        with self._lock:
            self._asking.add(place)
            self._check({place})

    def asking(self) -> set[str]:
        """The ids of the tasks that have asked, and of those around them."""
        with self._lock:
            return {part.rpartition(":")[2] for place in self._asking for part in place.split("|")}

    def runs(self, namespace: str, more: int) -> None:
        """So many graphs more have begun to run there, or have ended."""
        with self._lock:
            self._running[namespace] += more

    def is_running(self) -> bool:
        with self._lock:
            return self._running.total() > 0

    def over(self) -> None:
        """From now on nothing begins to run, and nothing asks that has no answer yet."""
        with self._lock:
            self._is_over = True
        self.beside.over()

    def must_go_on(self) -> None:
        """Raises `Over` from then on."""
        if self._is_over:
            raise Over

    def _check(self, places: set[str]) -> None:
        for refused, namespaces in ((OneHistory, self._at_once), (NoHistory, self._unkept)):
            for namespace in namespaces:
                if any(place.startswith(f"{namespace}|") for place in places):
                    raise refused(namespace)


async def soon(happens: Callable[[], bool], patience: float) -> bool:
    """Whether this is so within `patience` seconds."""
    now = asyncio.get_running_loop().time
    end = now() + patience
    while not happens():
        if now() > end:
            return False
        await asyncio.sleep(POLLED)
    return True


def soon_in_thread(happens: Callable[[], bool], patience: float) -> bool:
    """The same where a step may be held up. What would hold up an event loop does not wait."""
    end = time.monotonic() + patience
    while not happens():
        if is_in_loop() or time.monotonic() > end:
            return False
        time.sleep(POLLED)
    return True


def _step(namespace: str) -> str:
    """The name of the step that runs a graph with this namespace: `step:id`, `step:id|1` for its second."""
    parts = [part for part in namespace.split("|") if not part.isdigit()]
    return parts[-1].partition(":")[0]
