"""metrics: how often something happened, counted in memory; read by whoever asks the metrics listener.

Labels hold names from the configuration, states and status codes: never an id, a text or an address of a
person, and nothing that a stranger can choose.
"""

from collections import Counter
from collections.abc import Iterator
from enum import StrEnum
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from prometheus_client.metrics_core import CounterMetricFamily

CONTENT_TYPE = "text/plain; version=0.0.4; charset=utf-8"


class Metric(StrEnum):
    """What is counted; `/metrics` adds `_total` to each name."""

    EVENTS = "answerback_events"
    REFUSED = "answerback_refused"
    DELIVERIES = "answerback_deliveries"
    DEAD_ADDRESSES = "answerback_dead_addresses"
    UNREACHED = "answerback_unreached"


ABOUT: dict[Metric, tuple[str, tuple[str, ...]]] = {
    Metric.EVENTS: ("Events that came in and were stored, by what became of them.", ("provider", "outcome")),
    Metric.REFUSED: (
        "What came in and was refused before it was stored: the HTTP status, or poll.",
        ("intake", "why"),
    ),
    Metric.DELIVERIES: ("Attempts to send a message, by how they ended.", ("provider", "kind", "result")),
    Metric.DEAD_ADDRESSES: ("Addresses that turned out to be dead.", ("provider",)),
    Metric.UNREACHED: ("People who could not be asked at any of their addresses.", ("provider",)),
}


class Metrics:
    """The counters of one gateway; counted in its event loop only, after what they count was committed."""

    def __init__(self) -> None:
        self._counts: Counter[tuple[Metric, tuple[str, ...]]] = Counter()

    def count(self, metric: Metric, *labels: str, by: int = 1) -> None:
        """Once more; `labels` in the order of `ABOUT`."""
        self._counts[metric, labels] += by

    def of(self, metric: Metric, *labels: str) -> int:
        """How often so far, with labels that begin like this."""
        return sum(
            number
            for (counted, given), number in self._counts.items()
            if counted is metric and given[: len(labels)] == labels
        )

    def exposition(self) -> bytes:
        """All of it in Prometheus' text format, `CONTENT_TYPE`."""
        from prometheus_client import CollectorRegistry, generate_latest

        registry = CollectorRegistry(auto_describe=False)
        registry.register(self)
        return generate_latest(registry)

    def collect(self) -> "Iterator[CounterMetricFamily]":
        """What prometheus_client asks a collector for."""
        from prometheus_client.metrics_core import CounterMetricFamily

        for metric, (about, names) in ABOUT.items():
            family = CounterMetricFamily(metric, about, labels=names)
            for (counted, labels), number in sorted(self._counts.items()):
                if counted is metric:
                    family.add_metric(labels, number)
            yield family
