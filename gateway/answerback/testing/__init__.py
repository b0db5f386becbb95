"""For tests, ours and yours: a provider and an agent that live in memory, and a clock that is set by hand."""

from answerback.testing.agents import ScriptedAgent, asks
from answerback.testing.clock import ManualClock
from answerback.testing.providers import MemoryProvider

__all__ = ["ManualClock", "MemoryProvider", "ScriptedAgent", "asks"]
