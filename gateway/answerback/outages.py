"""Outages: since when a provider has taken no message, and why, as this process saw it."""

from datetime import UTC, datetime


class Outages:
    """One failed attempt begins an outage; the next answer of the service, a yes or a no, ends it."""

    def __init__(self) -> None:
        self._known: dict[str, tuple[int, str]] = {}

    def met(self, provider: str, why: str, now: int) -> None:
        """A message was not taken, and is tried again. `now`: microseconds since the epoch."""
        since, _ = self._known.get(provider, (now, ""))
        self._known[provider] = (since, why)

    def over(self, provider: str) -> None:
        """The service has answered."""
        self._known.pop(provider, None)

    def said(self) -> dict[str, str]:
        """A sentence for each provider that has one, by name."""
        return {name: _sentence(since, why) for name, (since, why) in self._known.items()}


def _sentence(since: int, why: str) -> str:
    at = datetime.fromtimestamp(since // 1_000_000, UTC)
    return f"No message has been taken since {at:%Y-%m-%d %H:%M} UTC: {why.rstrip('.')}."
