"""What an interrupt asks: its id, its payload, the form that its answer must have, and the digest of both."""

from typing import Any

from langgraph.types import Interrupt
from xxhash import xxh3_128_hexdigest

from answerback.agent import digest
from answerback.model import Json
from answerback_agents.langgraph import values


def id_of(place: str, answered: int) -> str:
    """The id of a question: `place` is its task's namespace, `answered` how many the task had asked before.

    As `langgraph.types._interrupt_id` makes it; a test compares the two.
    """
    return xxh3_128_hexdigest((f"{place}|{answered}" if answered else place).encode())


def payload_of(interrupt: Interrupt[Any]) -> Json:
    """The payload as people and dialects see it."""
    return values.storable(values.plain(interrupt.value))


def schema_of(interrupt: Interrupt[Any]) -> Json:
    """The form that the answer must have, a JSON Schema; None where the graph demands none."""
    return values.plain(interrupt.response_schema)


def digest_of(interrupt: Interrupt[Any]) -> str:
    """Of the payload, and of the form the answer must have where the graph demands one."""
    payload, schema = values.plain(interrupt.value), schema_of(interrupt)
    return digest(payload if schema is None else [payload, schema])
