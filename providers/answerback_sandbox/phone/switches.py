"""What can be broken from the page: a few switches for each service, each a fault that lasts."""

from collections.abc import Callable
from dataclasses import dataclass

from answerback_sandbox.errors import SandboxError
from answerback_sandbox.faults import Fault, FaultKind, Faults
from answerback_sandbox.phone.http import Json, word


@dataclass(frozen=True, slots=True)
class Switch:
    """One thing that can go wrong: its name in the address, its label, what the page says while it is on."""

    name: str
    label: str
    says: str
    fault: Fault

    def is_on(self, faults: Faults) -> bool:
        return self.fault in faults.ahead


def _lasting(kind: FaultKind, seconds: float = 0.0, method: str | None = None) -> Fault:
    return Fault(kind, None, method, seconds)


def _switches(service: str, sending: str) -> tuple[Switch, ...]:
    """What goes wrong with every service; `sending` is the call by which it takes a message."""
    return (
        Switch("down", f"{service} is down", f"{service} is down.", _lasting(FaultKind.DOWN)),
        Switch("slow", "Every call takes 3 seconds", f"{service} is slow.", _lasting(FaultKind.SLOW, 3.0)),
        Switch(
            "dropped",
            "Takes messages, but its answers are lost",
            f"{service} loses its answers.",
            _lasting(FaultKind.DROPPED, method=sending),
        ),
        Switch(
            "duplicate",
            "Duplicates everything",
            f"{service} duplicates everything.",
            _lasting(FaultKind.DUPLICATE),
        ),
    )


@dataclass(frozen=True, slots=True)
class Service:
    """One service with its switches; `touch` tells everybody who looks that something changed."""

    name: str
    title: str
    sending: str
    faults: Faults
    touch: Callable[[], None]

    @property
    def switches(self) -> tuple[Switch, ...]:
        return _switches(self.title, self.sending)

    def shows(self) -> Json:
        """The service as the page shows it."""
        shown = [
            {"name": one.name, "label": one.label, "says": one.says, "on": one.is_on(self.faults)}
            for one in self.switches
        ]
        return {"name": self.name, "title": self.title, "switches": shown}

    def turn(self, name: str, *, on: bool) -> None:
        """Raises SandboxError if there is no such switch."""
        wanted = next((one for one in self.switches if one.name == name), None)
        if wanted is None:
            raise SandboxError(f"{self.title} has no switch {name!r}")
        if on and not wanted.is_on(self.faults):
            self.faults.add(wanted.fault)
        elif not on:
            self.faults.remove(wanted.fault)
        self.touch()


class Panel:
    """All services, by name."""

    def __init__(self, *services: Service) -> None:
        self._services = {service.name: service for service in services}

    def shows(self) -> list[Json]:
        """The panel as the page shows it."""
        return [service.shows() for service in self._services.values()]

    def turn(self, _: int, body: Json) -> Json:
        """The action: `{"service", "name", "on"}`. Raises SandboxError."""
        name, on = word(body, "service"), body["on"]
        if not isinstance(on, bool):
            raise TypeError
        if name not in self._services:
            raise SandboxError(f"there is no service {name!r}")
        self._services[name].turn(word(body, "name"), on=on)
        return {}
