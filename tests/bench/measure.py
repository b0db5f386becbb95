"""Ratios of two things done in turn: alternations, medians, percentiles. Pure: it measures nothing itself."""

import math
import statistics
from collections.abc import Awaitable, Callable, Iterable, Sequence
from dataclasses import dataclass
from typing import TypeVar

Ours = TypeVar("Ours")
Theirs = TypeVar("Theirs")


@dataclass(frozen=True, slots=True)
class Figure:
    """One key of the report, what each alternation gave for it, and the (ours, theirs) behind that."""

    key: str
    samples: tuple[float, ...]
    measured: tuple[tuple[float, float], ...] = ()

    @property
    def value(self) -> float:
        """The median: one alternation that something else disturbed does not move it."""
        return statistics.median(self.samples)

    @property
    def spread(self) -> tuple[float, float]:
        """The lowest and the highest alternation."""
        return min(self.samples), max(self.samples)

    @property
    def absolute(self) -> tuple[float, float] | None:
        """The medians of what was divided, ours and theirs; None where nothing was."""
        if not self.measured:
            return None
        ours, theirs = zip(*self.measured, strict=True)
        return statistics.median(ours), statistics.median(theirs)


@dataclass(frozen=True, slots=True)
class Target:
    """What a figure must reach: at least `bound`, or at most."""

    bound: float
    at_least: bool = False

    def met(self, value: float) -> bool:
        return value >= self.bound if self.at_least else value <= self.bound

    def __str__(self) -> str:
        return f"{'≥' if self.at_least else '≤'} {self.bound:g}"


def percentile(values: Iterable[float], share: float) -> float:
    """The nearest-rank percentile: the smallest value that `share` (0 to 1) of all do not exceed."""
    ordered = sorted(values)
    if not ordered:
        raise ValueError("a percentile of nothing")
    return ordered[max(0, math.ceil(share * len(ordered)) - 1)]


def ratio(ours: float, theirs: float) -> float:
    """Ours over theirs; raises `ValueError` where there is nothing to compare with."""
    if theirs <= 0:
        raise ValueError("nothing was measured to compare with")
    return ours / theirs


def figure(key: str, pairs: Iterable[tuple[float, float]]) -> Figure:
    """A figure of (ours, theirs), one ratio an alternation."""
    measured = tuple(pairs)
    return Figure(key, tuple(ratio(ours, theirs) for ours, theirs in measured), measured)


def figures_of_latency(key: str, pairs: Sequence[tuple[Sequence[float], Sequence[float]]]) -> list[Figure]:
    """`key.p50` and `key.p95`: each percentile of ours over the same percentile of theirs."""
    return [
        figure(f"{key}.{name}", [(percentile(a, share), percentile(b, share)) for a, b in pairs])
        for name, share in (("p50", 0.50), ("p95", 0.95))
    ]


async def alternate(
    rounds: int, ours: Callable[[], Awaitable[Ours]], theirs: Callable[[], Awaitable[Theirs]]
) -> list[tuple[Ours, Theirs]]:
    """Measure both in turn, `rounds` times; who goes first changes, so that a drift favours neither.

    One alternation before them is not counted: it fills caches and compiles statements.
    """
    pairs = []
    for number in range(rounds + 1):
        if number % 2:
            first = await ours()
            pair = (first, await theirs())
        else:
            second = await theirs()
            pair = (await ours(), second)
        pairs.append(pair)
    return pairs[1:]


async def interleave(
    rounds: int, times: int, ours: Callable[[], Awaitable[Ours]], theirs: Callable[[], Awaitable[Theirs]]
) -> list[tuple[list[Ours], list[Theirs]]]:
    """`rounds` of `times` calls, call by call in turn, so that what disturbs one disturbs the other as well.

    One round before them is not counted.
    """
    pairs = await alternate((rounds + 1) * times, ours, theirs)
    starts = range(times, len(pairs), times)
    chunks = [pairs[start : start + times] for start in starts]
    return [([a for a, _ in chunk], [b for _, b in chunk]) for chunk in chunks]
