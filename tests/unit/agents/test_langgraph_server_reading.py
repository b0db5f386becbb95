"""How what a server says of a run is read: was the answer refused, or taken by a run that failed later?"""

import pytest

from answerback.model import Json
from answerback_agents.langgraph_server.reading import REFUSED, Ended, is_refused

GOING_ON = {"next": ["pay"], "tasks": [{"name": "pay"}]}
FAILED_STEP = {"next": ["pay"], "tasks": [{"name": "pay", "error": "ValueError('no')"}]}


@pytest.mark.parametrize(
    ("status", "error", "state", "refused"),
    [
        ("error", {"error": REFUSED}, GOING_ON, True),
        ("error", {"error": "ValueError"}, GOING_ON, False),
        ("error", {}, GOING_ON, True),
        ("error", {}, FAILED_STEP, False),
        ("timeout", {}, GOING_ON, False),  # it was at work, in a step after the one that was answered
        ("interrupted", {}, GOING_ON, False),
        ("success", {}, GOING_ON, False),
    ],
)
def test_only_what_is_refused_at_once_is(status: str, error: Json, state: Json, refused: bool) -> None:
    assert is_refused(Ended(status, error), {}, state) is refused
    assert is_refused(Ended(status, {}), {"error": error}, state) is refused
