"""How a question ended, a type for each way: answered, expired, cancelled. Silence is never a value."""

from dataclasses import dataclass, field

from answerback.errors import Gone
from answerback.model import Json
from answerback.told import Answer, Interaction


@dataclass(frozen=True, slots=True)
class Answered:
    """Somebody answered.

    `value` is what the only question was answered with: a text, True or False, a choice's id, a list of
    ids, a number, an ISO 8601 date, or an object for a review; None if several were asked, see `values`.
    `text` is what was written or tapped, unchanged. `stand_in`: it was no person.
    """

    value: Json
    values: dict[str, Json]
    text: str
    by: str
    via: str
    stand_in: bool
    record: Interaction = field(repr=False)


@dataclass(frozen=True, slots=True)
class Expired:
    """Nobody answered in time. `default` is what you had set for that (`on_expire="default"`), else None."""

    default: Json
    record: Interaction = field(repr=False)


@dataclass(frozen=True, slots=True)
class Cancelled:
    """It was withdrawn, and nobody will answer it."""

    reason: str
    record: Interaction = field(repr=False)


Outcome = Answered | Expired | Cancelled


def outcome_of(record: Interaction) -> Outcome:
    """How a question that is not pending ended. Raises `Gone` for an answer that is not kept any more."""
    answer = record["answer"]
    if record["status"] == "cancelled":
        return Cancelled(record["reason"], record)
    if record["status"] == "expired" or (answer is not None and answer["expired"]):
        return Expired(_default(record, answer), record)
    if answer is None or record["erased_at"]:
        raise Gone("This question was answered, but the answer is not kept any more.")
    return Answered(
        value=answer["value"],
        values=answer["values"],
        text=answer["text"],
        by=answer["by"],
        via=answer["via"],
        stand_in=answer["stand_in"],
        record=record,
    )


def _default(record: Interaction, answer: Answer | None) -> Json:
    if answer is None or not answer["default_used"]:
        return None
    return answer["value"] if len(record["questions"]) == 1 else answer["values"]
