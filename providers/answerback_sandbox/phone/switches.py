"""What can be broken from the page: the switches of each service, in words."""

from typing import Protocol

from answerback_sandbox.faults import FaultKind, Faults, ServiceName, switches
from answerback_sandbox.phone.http import Json

TITLES = {ServiceName.TELEGRAM: "Telegram", ServiceName.WHATSAPP: "WhatsApp", ServiceName.MAIL: "Mail"}
SLOW_SECONDS, PAUSE_SECONDS = 3.0, 5.0
# The label of a switch, and what the page says while it is on; {0} is the service.
WORDS = {
    FaultKind.DOWN: ("{0} is down", "{0} is down."),
    FaultKind.REFUSED: ("Nobody answers: connections are cut", "{0} cuts connections."),
    FaultKind.RATE_LIMITED: ("Too many requests", "{0} says “too many requests”."),
    FaultKind.SLOW: ("Everything takes 3 seconds longer", "{0} is slow."),
    FaultKind.DROPPED: ("Does its work, but the answer is lost", "{0} loses its answers."),
    FaultKind.DUPLICATE: ("Duplicates everything", "{0} duplicates everything."),
    FaultKind.SHUFFLED: ("Receipts come out of order", "{0} mixes up its receipts."),
}
SECONDS = {FaultKind.SLOW: SLOW_SECONDS, FaultKind.RATE_LIMITED: PAUSE_SECONDS}


class Breakable(Protocol):
    """What is needed of the sandbox; a switch is turned by its control interface, /sandbox/faults."""

    def faults_of(self, service: ServiceName) -> Faults: ...


def panel(box: Breakable) -> list[Json]:
    """Every service with its switches, as the page shows them; `seconds` goes with a switch."""
    return [
        {"name": str(name), "title": TITLES[name], "switches": _switches(name, box.faults_of(name))}
        for name in ServiceName
    ]


def _switches(service: ServiceName, faults: Faults) -> list[Json]:
    possible = switches(service)
    return [
        {
            "name": str(kind),
            "label": label.format(TITLES[service]),
            "says": says.format(TITLES[service]),
            "seconds": SECONDS.get(kind, 1.0),
            "on": faults.is_on(kind),
        }
        for kind, (label, says) in WORDS.items()
        if kind in possible
    ]
