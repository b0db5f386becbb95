"""metrics: how often something happened and how long it took, counted in memory, read by a listener.

Labels hold names from the configuration, states and status codes: never an id, a text or an address of a
person, and nothing that a stranger can choose.
"""

from bisect import bisect_left
from collections import Counter
from collections.abc import Collection, Iterator, Mapping
from dataclasses import dataclass
from enum import StrEnum
from itertools import accumulate
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from prometheus_client.metrics_core import Metric as Family

CONTENT_TYPE = "text/plain; version=0.0.4; charset=utf-8"
MINUTE, HOUR, DAY = 60, 3600, 86_400
BUCKETS = (
    5,
    15,
    MINUTE,
    5 * MINUTE,
    15 * MINUTE,
    HOUR,
    4 * HOUR,
    12 * HOUR,
    DAY,
    3 * DAY,
    7 * DAY,
)  # seconds
AGENT = "agent"


class Metric(StrEnum):
    """What is counted; `/metrics` adds `_total` to each name."""

    EVENTS = "answerback_events"
    REFUSED = "answerback_refused"
    DELIVERIES = "answerback_deliveries"
    DEAD_ADDRESSES = "answerback_dead_addresses"
    UNREACHED = "answerback_unreached"
    ASKED = "answerback_interactions_asked"
    ANSWERED = "answerback_interactions_answered"
    EXPIRED = "answerback_interactions_expired"
    CANCELLED = "answerback_interactions_cancelled"
    RUNS = "answerback_runs"


class Time(StrEnum):
    """What is timed, in seconds."""

    ANSWER = "answerback_answer_seconds"


class Gauge(StrEnum):
    """What is looked up when it is read."""

    PENDING = "answerback_interactions_pending"


About = tuple[str, tuple[str, ...]]
ABOUT: dict[Metric, About] = {
    Metric.EVENTS: ("Events that came in and were stored, by what became of them.", ("provider", "outcome")),
    Metric.REFUSED: (
        "What came in and was refused before it was stored: the HTTP status, or poll.",
        ("intake", "why"),
    ),
    Metric.DELIVERIES: ("Attempts to send a message, by how they ended.", ("provider", "kind", "result")),
    Metric.DEAD_ADDRESSES: ("Addresses that turned out to be dead.", ("provider",)),
    Metric.UNREACHED: ("People who could not be asked at any of their addresses.", ("provider",)),
    Metric.ASKED: ("Interactions that were asked.", (AGENT,)),
    Metric.ANSWERED: ("Interactions that were answered, by what kind of answerer.", (AGENT, "by")),
    Metric.EXPIRED: ("Interactions that ended without an answer.", (AGENT,)),
    Metric.CANCELLED: ("Interactions that were withdrawn.", (AGENT,)),
    Metric.RUNS: ("Runs that ended, by how.", (AGENT, "outcome")),
}
TIMES: dict[Time, About] = {
    Time.ANSWER: ("Seconds from the question to the answer that counted.", (AGENT, "by")),
}
GAUGES: dict[Gauge, str] = {
    Gauge.PENDING: "Interactions that wait for an answer now, in the whole database; counted up to 10000.",
}


@dataclass(frozen=True, slots=True)
class Happened:
    """One thing to count, or to time, once its transaction is committed; `labels` in the order of `ABOUT`."""

    what: Metric | Time
    labels: tuple[str, ...]
    seconds: float = 0


class Metrics:
    """The counters of one gateway; counted in its event loop only, after what they count was committed.

    `agents` are the configured ones: whoever asks over the API may call its agent anything, and what is in
    none of these names counts under "".
    """

    def __init__(self, agents: Collection[str] = ()) -> None:
        self._agents = frozenset(agents)
        self._counts: Counter[tuple[Metric, tuple[str, ...]]] = Counter()
        self._times: dict[tuple[Time, tuple[str, ...]], _Times] = {}

    def count(self, metric: Metric, *labels: str, by: int = 1) -> None:
        """Once more; `labels` in the order of `ABOUT`."""
        self._counts[metric, self._known(ABOUT[metric], labels)] += by

    def time(self, time: Time, seconds: float, *labels: str) -> None:
        """One that took so long; `labels` in the order of `TIMES`."""
        self._times.setdefault((time, self._known(TIMES[time], labels)), _Times()).add(seconds)

    def happened(self, happened: Collection[Happened]) -> None:
        """What a transaction that is committed now has noted."""
        for each in happened:
            if isinstance(each.what, Time):
                self.time(each.what, each.seconds, *each.labels)
            else:
                self.count(each.what, *each.labels)

    def of(self, metric: Metric, *labels: str) -> int:
        """How often so far, with labels that begin like this."""
        return sum(
            number
            for (counted, given), number in self._counts.items()
            if counted is metric and given[: len(labels)] == labels
        )

    def exposition(self, gauges: Mapping[Gauge, int] | None = None) -> bytes:
        """All of it in Prometheus' text format, `CONTENT_TYPE`; a gauge that is not given is left out."""
        from prometheus_client import CollectorRegistry, generate_latest

        registry = CollectorRegistry(auto_describe=False)
        registry.register(_Collected([*self._families(), *_gauges(gauges or {})]))
        return generate_latest(registry)

    def _known(self, about: About, labels: tuple[str, ...]) -> tuple[str, ...]:
        if about[1][0] == AGENT and labels[0] not in self._agents:
            return ("", *labels[1:])
        return labels

    def _families(self) -> "Iterator[Family]":
        from prometheus_client.metrics_core import CounterMetricFamily, HistogramMetricFamily

        for metric, (about, names) in ABOUT.items():
            counter = CounterMetricFamily(metric, about, labels=names)
            for (counted, labels), number in sorted(self._counts.items()):
                if counted is metric:
                    counter.add_metric(labels, number)
            yield counter
        for time, (about, names) in TIMES.items():
            histogram = HistogramMetricFamily(time, about, labels=names)
            for (timed, labels), times in sorted(self._times.items(), key=lambda item: item[0]):
                if timed is time:
                    histogram.add_metric(labels, times.buckets(), times.sum)
            yield histogram


class _Times:
    """How many took up to how long."""

    def __init__(self) -> None:
        self.sum = 0.0
        self._numbers = [0] * (len(BUCKETS) + 1)

    def add(self, seconds: float) -> None:
        self.sum += seconds
        self._numbers[bisect_left(BUCKETS, seconds)] += 1

    def buckets(self) -> list[tuple[str, float]]:
        """Each limit with how many took no longer, as Prometheus has it."""
        limits = [*(f"{limit:.1f}" for limit in BUCKETS), "+Inf"]
        return list(zip(limits, accumulate(self._numbers), strict=True))


class _Collected:
    """What prometheus_client asks a collector for."""

    def __init__(self, families: "list[Family]") -> None:
        self._families = families

    def collect(self) -> "list[Family]":
        return self._families


def _gauges(given: Mapping[Gauge, int]) -> "Iterator[Family]":
    from prometheus_client.metrics_core import GaugeMetricFamily

    for gauge, number in given.items():
        yield GaugeMetricFamily(gauge, GAUGES[gauge], value=number)
