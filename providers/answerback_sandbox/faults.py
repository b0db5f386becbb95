"""Faults on demand: the next calls of the Bot API fail the way real ones do."""

from collections.abc import Callable
from dataclasses import dataclass, replace
from enum import StrEnum


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
    """An update is handed out twice under the same update_id; counts updates, not calls."""


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

    def take(self, method: str) -> Fault | None:
        """The fault that a call of `method` meets now, if any; its count goes down by one."""
        return self._take(lambda fault: fault.kind is not FaultKind.DUPLICATE and fault.concerns(method))

    def take_duplicate(self) -> bool:
        """Whether the update now handed out is to be handed out twice."""
        return self._take(lambda fault: fault.kind is FaultKind.DUPLICATE) is not None

    def _take(self, matches: Callable[[Fault], bool]) -> Fault | None:
        for index, fault in enumerate(self._ahead):
            if matches(fault):
                left = None if fault.calls is None else fault.calls - 1
                self._ahead[index : index + 1] = [] if left == 0 else [replace(fault, calls=left)]
                return fault
        return None
