"""How long to wait before the next try."""

import random

LONGEST = 300.0  # seconds
AWAY = 3 * 86_400_000_000  # microseconds that somebody else's outage is waited for


def jitter() -> float:
    """A factor around 1, so that many who failed together do not come back together."""
    return random.uniform(0.8, 1.2)  # noqa: S311 - spreads load, keeps no secret


def pause(attempts: int) -> float:
    """Seconds until the next try after so many failed ones: 2, 4, 8, … up to five minutes, with jitter."""
    return float(min(LONGEST, 2.0 ** min(attempts, 10)) * jitter())
