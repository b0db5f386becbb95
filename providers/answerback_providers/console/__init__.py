"""Questions in the terminal where the gateway runs, answered there: `hitl: {mode: console}` is enough.

Whoever sits there is nobody in particular, so records say that somebody in the terminal answered, and that
somebody approves and confirms only with `may_approve: true`.
"""

from answerback_providers.console.provider import Console, ConsoleSettings
from answerback_providers.console.terminal import Terminal

__all__ = ["Console", "ConsoleSettings", "Terminal"]
