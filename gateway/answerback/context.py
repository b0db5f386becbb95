"""What every use case is given: the store, and the few things that all of them share."""

from dataclasses import dataclass, field

from answerback.faults import Faults
from answerback.outbox import Outbox
from answerback.settings import Settings
from answerback.signals import Signals
from answerback.store import Row, Store
from answerback.tokens import Tokens


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

    def dispatch(self, rows: list[Row]) -> None:
        """After the commit: send what is ours to send now; what must wait for its turn is woken for."""
        ours = self.outbox.ours(rows)
        self.signals.deliver(ours)
        if len(ours) < len(rows):
            self.signals.rearm()
