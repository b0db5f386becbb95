"""What a sweep of kills came to: its summary line at the end of the run."""

import random
import secrets
from dataclasses import dataclass
from typing import TYPE_CHECKING

import pytest

if TYPE_CHECKING:
    from tests.faults.kill_audit import Findings

TALLIES = pytest.StashKey[dict[str, "Tally"]]()


@dataclass(slots=True)
class Tally:
    """Counts of one sweep. `repeated`: steps whose code ran again after a crash (law 12)."""

    kills: int = 0
    lost: int = 0
    wrong: int = 0
    stuck: int = 0
    repeated: int = 0

    def add(self, found: "Findings", kills: int = 1) -> None:
        self.kills += kills
        self.lost += len(found.lost)
        self.wrong += len(found.wrong)
        self.stuck += len(found.stuck)
        self.repeated += found.repeated

    def line(self, name: str) -> str:
        """`name: 378 kills, 0 lost, 0 wrong, 0 stuck`."""
        counts = f"{self.kills} kills, {self.lost} lost, {self.wrong} wrong, {self.stuck} stuck"
        return f"{name}: {counts}, {self.repeated} steps run again"


def dice(config: pytest.Config) -> tuple[int, random.Random]:
    """`--seed`, or a new one, and what comes of it: to repeat a run."""
    given = config.getoption("--seed", default=None)
    seed = secrets.randbits(32) if given is None else given
    return seed, random.Random(seed)  # noqa: S311 - repeatable on purpose


def tally(config: pytest.Config, name: str) -> Tally:
    """The tally of a sweep, shown when the run ends."""
    return config.stash.setdefault(TALLIES, {}).setdefault(name, Tally())
