"""What every use case is given: the store, and the few things that all of them share."""

import logging
from dataclasses import dataclass, field

from answerback.faults import Faults
from answerback.metrics import Metric, Metrics
from answerback.outbox import Follows, Outbox
from answerback.settings import Settings
from answerback.signals import Signals
from answerback.store import Row, Store
from answerback.tokens import Tokens

log = logging.getLogger("answerback.deliver")


@dataclass(frozen=True, slots=True)
class Context:
    """Built once, in `app`. `owner` names this process in leases and claims."""

    settings: Settings
    store: Store
    tokens: Tokens
    outbox: Outbox
    owner: str
    signals: Signals = field(default_factory=Signals)
    faults: Faults = field(default_factory=Faults)
    metrics: Metrics = field(default_factory=Metrics)

    @property
    def stopper(self) -> str:
        """Owns the thread of a run that is cancelled here, from then until its agent was told."""
        return f"{self.owner} stops it"

    def follow(self, follows: Follows) -> None:
        """After the commit: send what follows from what became of a message, say who is not reached, wake

        those who wait for what ended.
        """
        for provider in follows.dead:
            self.metrics.count(Metric.DEAD_ADDRESSES, provider)
        for row in follows.unreached:
            self.metrics.count(Metric.UNREACHED, row["provider"])
            about = {"interaction": row["interaction_id"], "contact": row["contact_id"]}
            log.warning("nobody was reached: no address is left, only the form", extra=about)
        self.dispatch(follows.rows)
        for id in follows.ended:
            self.signals.changed(id)

    def dispatch(self, rows: list[Row]) -> None:
        """After the commit: send what is ours to send now; what must wait for its turn is woken for."""
        ours = self.outbox.ours(rows)
        self.signals.deliver(ours)
        if len(ours) < len(rows):
            self.signals.rearm()
