"""Tasks: which of the functional API's tasks the steps of one run of ours call, and with what.

LangGraph tells the calls of a step apart by their number. Here each is known by what it is called with, so
that one that comes in another order is the same one, and one that had asked is not another one.
"""

import contextlib
import threading
from collections import Counter
from collections.abc import Callable, Collection, Iterator, Mapping
from dataclasses import dataclass
from types import MappingProxyType
from typing import Any

# Of each call, by its number: the digest of what it was called with, and whether it has asked.
Numbered = dict[int, tuple[str, bool]]
MOST = 1000  # calls of a step that are told apart


@dataclass(slots=True)
class Made:
    """A call of a step, by the id of its task, which this try of it has made, and what comes of it."""

    step: str
    called: str = ""
    attempt: object = None
    number: int | None = None
    future: Any = None


class Tasks:
    """The calls of each step, by the id of its task. Steps may call in threads.

    `before`: those that the steps which go on have made before. `anew`: whether one that had asked was called
    with something else, so that it asks anew.
    """

    def __init__(self, before: Mapping[str, Numbered] = MappingProxyType({})) -> None:
        self._before, self.anew = dict(before), False
        self._made: dict[str, dict[int, str]] = {}
        self._within: dict[str, object] = {}
        self._ids: dict[tuple[str, int], str] = {}
        self._places: dict[str, str] = {}
        self._waiting = dict[str, Counter[str]]()
        self._tried: dict[str, list[Made]] = {}
        self._lock = threading.Lock()

    def number(
        self, step: str, place: str, number: int, called: str, within: object, asked: Callable[[], set[str]]
    ) -> int:
        """The number of a call which LangGraph would give `number`, and whose digest is `called`.

        `within`: the run of the step's graph. In another one the step, which is the same, begins again.
        `asked`: the ids of the tasks that have asked.
        """
        with self._lock:
            self._places[step] = place
            if self._within.setdefault(step, within) is not within:
                self._within[step] = within
                before = self._numbered(step, self._made.pop(step, {}), asked())
                self._before[step] = {**self._before.get(step, {}), **before}
            made = self._made.setdefault(step, {})
            chosen = self._chosen(number, called, made, self._before.get(step, {}))
            made[chosen] = called
            return chosen

    def _chosen(self, number: int, called: str, made: dict[int, str], before: Numbered) -> int:
        known, has_asked = before.get(number, (called, False))
        if known == called and number not in made:
            return number
        same = (each for each, (digest, _) in sorted(before.items()) if digest == called and each not in made)
        if (found := next(same, None)) is not None:
            return found
        if not has_asked and number not in made:
            return number  # whatever it is called with: what asked nothing does not run again
        self.anew = True
        return max((number, *made, *before)) + 1

    def make(self, step: str, attempt: object, called: str) -> Made:
        """A call of a step that may try again: one that an earlier try has made, if there is one."""
        with self._lock:
            tried = self._tried.setdefault(step, [])
            for made in tried:
                if made.called == called and made.attempt is not attempt:
                    made.attempt = attempt
                    return made
            tried.append(Made(step, called, attempt))
            return tried[-1]

    def runs(self, step: str, number: int, task: str) -> None:
        """That call is this task."""
        with self._lock:
            self._ids[step, number] = task

    @contextlib.contextmanager
    def waits(self, graph: str, step: str, most: float) -> Iterator[bool]:
        """Whether a step may wait for a task of its own, where so many of its graph's steps may.

        `graph`: the namespace of its graph.
        """
        with self._lock:
            waiting = self._waiting.setdefault(graph, Counter())
            may_wait = waiting[step] > 0 or len(+waiting) < most
            waiting[step] += may_wait
        try:
            yield may_wait
        finally:
            with self._lock:
                waiting[step] -= may_wait

    def made(self, going_on: Collection[str], asked: Collection[str]) -> dict[str, Numbered]:
        """Those of steps that go on: whose task, or one around it, is among these. `asked`: who has asked."""
        with self._lock:
            return {
                step: {**self._before.get(step, {}), **self._numbered(step, made, asked)}
                for step, made in self._made.items()
                if set(going_on) & {part.rpartition(":")[2] for part in self._places[step].split("|")}
            }

    def _numbered(self, step: str, made: dict[int, str], asked: Collection[str]) -> Numbered:
        before = self._before.get(step, {})
        return {
            number: (called, self._ids.get((step, number)) in asked or before.get(number, ("", False))[1])
            for number, called in sorted(made.items())[:MOST]
        }
