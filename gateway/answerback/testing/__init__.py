"""For tests, ours and yours: the suite of every provider, fakes in memory, and a clock set by hand."""

from typing import TYPE_CHECKING, Any

from answerback.testing.agents import ScriptedAgent, asks
from answerback.testing.clock import ManualClock
from answerback.testing.providers import MemoryProvider

if TYPE_CHECKING:
    from answerback.testing.contract import ProviderContract

__all__ = ["ManualClock", "MemoryProvider", "ProviderContract", "ScriptedAgent", "asks"]


def __getattr__(name: str) -> Any:
    """The suite needs pytest, which the rest does without."""
    if name == "ProviderContract":
        from answerback.testing.contract import ProviderContract

        return ProviderContract
    raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
