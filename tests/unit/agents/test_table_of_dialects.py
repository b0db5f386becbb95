"""docs/asking.md has the payloads in the order in which the dialects are asked."""

from pathlib import Path

import pytest

from answerback.model import Json
from answerback_agents import dialects

ROWS = {
    "interrupts by itself": dialects.ToolApproval,
    "`response_schema` |": dialects.Schema,
    '"review_configs"': dialects.HumanInTheLoop,
    "Agent Inbox": dialects.AgentInbox,
    "confirm_action": dialects.ConfirmAction,
    '"choices"': dialects.Choices,
    "any object with a `question`": dialects.AskHuman,
    "a string, or anything else": dialects.Plain,
}
CALL = {"type": "tool_approval", "name": "wipe", "args": {}}
CALLS = {
    "action_requests": [{"name": "wipe", "args": {}}],
    "review_configs": [{"action_name": "wipe", "allowed_decisions": ["approve", "reject"]}],
}
SCHEMA = {"type": "object", "properties": {"sure": {"type": "boolean"}}}


def first_cells() -> list[str]:
    """The first column of the table, from its head to the line behind it."""
    text = (Path(__file__).parents[3] / "docs" / "asking.md").read_text()
    _, _, behind = text.partition("| The graph interrupts with |")
    table = behind.partition("\n\n")[0].splitlines()[2:]
    return [line.split(" | ")[0] + " |" for line in table]


def test_the_rows_stand_in_the_order_of_the_dialects() -> None:
    found = [next(kind for said, kind in ROWS.items() if said in cell) for cell in first_cells()]
    assert found == [dialects.ToolApproval, dialects.Schema, *map(type, dialects.DIALECTS)]


@pytest.mark.parametrize(
    ("payload", "kind"), [(CALL, dialects.ToolApproval), (CALLS, dialects.Schema), ("?", dialects.Schema)]
)
def test_of_what_has_a_schema_only_a_single_call_comes_before_it(payload: Json, kind: type) -> None:
    assert type(dialects.dialect_of(payload, schema=SCHEMA)) is kind


def test_without_a_schema_the_calls_come_first() -> None:
    assert type(dialects.dialect_of(CALLS)) is dialects.HumanInTheLoop
