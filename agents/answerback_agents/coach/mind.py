"""What thinks in the coach's steps: plain rules or a model, behind one small contract."""

from typing import Any, Protocol

from answerback_agents.coach.state import State, Step
from answerback_agents.toolkit.answers import Heard

Payload = dict[str, Any]
Update = dict[str, Any]


class Mind(Protocol):
    """All three are asked with the state as it is stored, so a step that runs again finds the same."""

    async def think(self, step: Step, state: State) -> Update:
        """Go on: either the step's result is in the update then, or something is `waiting`."""
        ...

    def waiting(self, step: Step, state: State) -> Payload | None:
        """What the graph is to be interrupted with next; None if nothing is open."""
        ...

    def heard(self, step: Step, state: State, payload: Payload, answer: Heard) -> Update:
        """Take the answer to what was `waiting`."""
        ...
