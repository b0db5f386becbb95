"""Time for people: what comes in sooner than anybody can read is asked about."""

import time


class Reading:
    """The gateway's time, microseconds since the epoch, in which people have read what they answer.

    It begins so many seconds ago: then what is written now was written that long after what is asked now.
    """

    def __init__(self, ago: int = 0) -> None:
        self._ahead = -ago * 1_000_000

    def __call__(self) -> int:
        return time.time_ns() // 1000 + self._ahead

    def reads(self) -> None:
        """Three seconds go by."""
        self._ahead += 3_000_000
