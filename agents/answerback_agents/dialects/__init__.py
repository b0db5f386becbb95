"""Dialects: what an interrupt's payload asks, and the value it is resumed with. Pure, without LangGraph.

The first dialect that matches a payload reads it, and the same one writes the answer, so a graph is resumed
in the shape that its payload promises. A further shape is a further entry. An agent's own dialect
(`dialect: package:function`) comes first: a function that is given the payload and returns a `Dialect`, or
None when the payload is none of its business.
"""

from dataclasses import replace

from answerback.model import Answer, Json
from answerback_agents.dialects.plain import AskHuman, Choices, ConfirmAction, Plain
from answerback_agents.dialects.reading import (
    NO_RESPONSE,
    NOBODY,
    QUESTION_ID,
    Deadline,
    Dialect,
    Own,
    Reading,
    as_text,
    is_human_only,
)
from answerback_agents.dialects.reviews import AgentInbox, HumanInTheLoop, ToolApproval
from answerback_agents.dialects.schemas import Schema
from answerback_agents.dialects.stored import carries

__all__ = [
    "DIALECTS",
    "NOBODY",
    "NO_RESPONSE",
    "QUESTION_ID",
    "AgentInbox",
    "AskHuman",
    "Choices",
    "ConfirmAction",
    "Deadline",
    "Dialect",
    "HumanInTheLoop",
    "Own",
    "Plain",
    "Reading",
    "Schema",
    "ToolApproval",
    "as_text",
    "carries",
    "dialect_of",
    "read",
    "write",
]

DIALECTS: tuple[Dialect, ...] = (
    HumanInTheLoop(),
    AgentInbox(),
    ConfirmAction(),
    Choices(),
    AskHuman(),
    Plain(),
)


def dialect_of(payload: Json, own: Own | None = None, schema: Json = None) -> Dialect:
    """The dialect that reads and writes this payload; `schema`: the answer's form, where one is demanded."""
    if own is not None and (mine := own(payload)) is not None:
        return mine
    approval = ToolApproval(schema)  # it has a schema too, which says less than its shape does
    if approval.matches(payload):
        return approval
    if isinstance(schema, dict) and schema:
        return Schema(schema)
    return next(dialect for dialect in DIALECTS if dialect.matches(payload))


def read(payload: Json, own: Own | None = None, schema: Json = None) -> Reading:
    """What the payload asks, and of whom."""
    reading = dialect_of(payload, own, schema).read(payload)
    return replace(reading, human_only=True) if is_human_only(payload) else reading


def write(payload: Json, answer: Answer, own: Own | None = None, schema: Json = None) -> Json:
    """The value to resume with; raises `DoesNotFit` when the answer has none."""
    return dialect_of(payload, own, schema).write(payload, answer)
