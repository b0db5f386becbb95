"""A clock that is set by hand: no test sleeps for time."""


class ManualClock:
    """Microseconds since the epoch, moved on by `advance`. Give it to `app.build(time=…)`."""

    def __init__(self, now: int = 1_764_590_400_000_000) -> None:  # 2025-12-01 12:00 UTC
        self.now = now

    def __call__(self) -> int:
        return self.now

    def advance(self, seconds: float) -> None:
        """Let time pass."""
        self.now += round(seconds * 1_000_000)
