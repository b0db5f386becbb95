"""The steps that a hazard is made of, and what a hazard is."""

from dataclasses import dataclass, field
from typing import Any


@dataclass(frozen=True, slots=True)
class Start:
    """Run the graph; see `Driver.start`."""

    how: dict[str, Any] = field(default_factory=dict)


@dataclass(frozen=True, slots=True)
class Answer:
    """`who` answers a question, in process `at` (0, or 1 after `Join`); `key` names the event for `Again`."""

    question: str
    answer: str
    who: str = "alice"
    via: str = ""
    nth: int = -1
    key: str = ""
    at: int = 0
    stranger: bool = False


@dataclass(frozen=True, slots=True)
class Again:
    """The service delivers the event once more, byte for byte."""

    key: str
    at: int = 0


@dataclass(frozen=True, slots=True)
class Do:
    """Something else that a driver can do: `say`, `respond`, `forge`, `expire`, `cancel`, `crash`, …"""

    what: str
    args: tuple[Any, ...] = ()
    at: int = 0


@dataclass(frozen=True, slots=True)
class Respond:
    """Raw JSON as the answer to a question."""

    question: str
    response: Any


@dataclass(frozen=True, slots=True)
class Decide:
    """A review's decisions, one a call; each as `Driver.decide` takes them. "" is whatever waits."""

    question: str
    decisions: tuple[dict[str, Any], ...]


@dataclass(frozen=True, slots=True)
class Together:
    """At the same moment."""

    steps: tuple[Any, ...]


@dataclass(frozen=True, slots=True)
class Restart:
    """The process ends in good order, or has been killed, and another begins."""


@dataclass(frozen=True, slots=True)
class Join:
    """A second process beside the first."""


@dataclass(frozen=True, slots=True)
class Hazard:
    name: str
    why: str
    graph: str
    steps: tuple[Any, ...]
    holds: tuple[frozenset[str], ...]
    per_node: int = 1  # questions in one node: some systems allow one only
    foreign: bool = (
        False  # it asks by an interrupt of LangChain's or LangGraph's own, not by the system's call
    )
    ends_twice: bool = False  # a crash may make the node after the last checkpoint run again


def lines(*told: str) -> frozenset[str]:
    return frozenset(told)
