"""Faults on demand: the next calls of a service fail the way real ones do."""

from collections.abc import Callable
from dataclasses import dataclass, replace
from enum import StrEnum

from answerback_sandbox.errors import SandboxError

LONGEST = 600.0  # seconds of a pause


class FaultKind(StrEnum):
    """What goes wrong."""

    DOWN = "down"
    """Answered with 500 before anything is done."""
    REFUSED = "refused"
    """The connection is cut before anything is done."""
    RATE_LIMITED = "rate_limited"
    """Answered with 429 and `retry_after`, nothing is done."""
    DROPPED = "dropped"
    """The call is carried out, then the connection is cut: the caller cannot know."""
    SLOW = "slow"
    """The call is carried out after `seconds`."""
    DUPLICATE = "duplicate"
    """Updates, webhooks and mails arrive twice; counts these, not calls."""
    SHUFFLED = "shuffled"
    """Receipts come out of order: the newest of those that wait is posted first (WhatsApp)."""


class ServiceName(StrEnum):
    """Whose calls go wrong."""

    TELEGRAM = "telegram"
    WHATSAPP = "whatsapp"
    MAIL = "mail"


GRAVITY = {
    FaultKind.REFUSED: 0,
    FaultKind.DOWN: 1,
    FaultKind.RATE_LIMITED: 2,
    FaultKind.DROPPED: 3,
    FaultKind.SLOW: 4,
}


@dataclass(frozen=True, slots=True)
class Fault:
    """One fault: for how many more calls (None: until healed), of which method (None: any), its seconds."""

    kind: FaultKind
    calls: int | None = 1
    method: str | None = None
    seconds: float = 0.0

    def concerns(self, method: str) -> bool:
        """Whether a call of `method` (lower case) meets this fault."""
        return self.method is None or self.method.lower() == method


class Faults:
    """The faults that lie ahead, oldest first."""

    def __init__(self) -> None:
        self._ahead: list[Fault] = []

    def add(self, fault: Fault) -> None:
        """Put a fault behind those already there."""
        if fault.calls is None or fault.calls > 0:
            self._ahead.append(fault)

    def heal(self) -> None:
        """Everything works again."""
        self._ahead.clear()

    @property
    def ahead(self) -> tuple[Fault, ...]:
        """What is still to go wrong."""
        return tuple(self._ahead)

    def take(self, method: str, *kinds: FaultKind) -> Fault | None:
        """The fault that a call of `method` meets now, if any; its count goes down by one.

        With `kinds`: only if it is one of these. The oldest counts; of several that are switched on, the
        gravest, and what is switched on lets those with a count go first.
        """
        return self._take(lambda fault: fault.kind in GRAVITY and fault.concerns(method), kinds)

    def take_duplicate(self) -> bool:
        """Whether the update now handed out is to be handed out twice."""
        return self._take(lambda fault: fault.kind is FaultKind.DUPLICATE) is not None

    def switch(self, kind: FaultKind, on: bool, seconds: float = 1.0) -> None:
        """Let this go wrong from now on, for any method, or no longer."""
        self._ahead = [fault for fault in self._ahead if (fault.kind, fault.calls) != (kind, None)]
        if on:
            self._ahead.append(Fault(kind, None, None, seconds))

    def is_on(self, kind: FaultKind) -> bool:
        """Whether this goes wrong until it is healed, for any method."""
        return any((fault.kind, fault.calls, fault.method) == (kind, None, None) for fault in self._ahead)

    def _take(self, matches: Callable[[Fault], bool], kinds: tuple[FaultKind, ...] = ()) -> Fault | None:
        found = [fault for fault in self._ahead if matches(fault)]
        fault = next((each for each in found if each.calls is not None), None)
        fault = fault or min(found, key=lambda each: GRAVITY.get(each.kind, 0), default=None)
        if fault is None or (kinds and fault.kind not in kinds):
            return None
        if fault.calls is not None:
            index = self._ahead.index(fault)
            self._ahead[index : index + 1] = (
                [replace(fault, calls=fault.calls - 1)] if fault.calls > 1 else []
            )
        return fault


def switches(service: ServiceName) -> tuple[FaultKind, ...]:
    """What can go wrong at a service: receipts, which can be out of order, are WhatsApp's."""
    return tuple(
        kind for kind in FaultKind if kind is not FaultKind.SHUFFLED or service is ServiceName.WHATSAPP
    )


def require(service: ServiceName, kind: FaultKind, seconds: float) -> None:
    """Raises SandboxError if that cannot go wrong there."""
    if kind not in switches(service):
        raise SandboxError(f"{service} cannot be {kind}")
    if not 0 <= seconds <= LONGEST:
        raise SandboxError(f"seconds is a number from 0 to {LONGEST:g}")
