"""steps: several questions in a chat, one after the other; what was answered so far stands in the next one.

Each question is a delivery of its own with a token of its own, and closed once it is answered, so that a tap
can only ever answer the question that it stands under. The last answer decides, through the one door.
"""

from collections.abc import Mapping
from dataclasses import dataclass, field

from answerback.model import Interaction, Json, Question
from answerback.store import Row
from answerback.store.codec import loads


@dataclass(frozen=True, slots=True)
class Step:
    """Which of the questions a message asks, and the values that were given to those before it."""

    place: int = 0
    given: Mapping[str, Json] = field(default_factory=dict)

    def after(self, values: Mapping[str, Json]) -> "Step":
        """The next one, once this one is answered."""
        return Step(self.place + 1, {**self.given, **values})

    def content(self) -> dict[str, Json]:
        """As it stands in its delivery."""
        return {"step": self.place, "given": dict(self.given)}


def one_by_one(record: Interaction) -> bool:
    """Whether its questions can be asked one by one: there are several, and each needs an answer."""
    return len(record.questions) > 1 and not record.sensitive and all(q.required for q in record.questions)


def step_of(row: Row, record: Interaction) -> Step | None:
    """The step of a delivery; None: it asks all there is, and several questions are answered on the form."""
    if len(record.questions) < 2:
        return None
    try:
        content = loads(row["content"])
        return Step(content["step"], content["given"])
    except (ValueError, TypeError, KeyError):  # it has none, or is damaged: the form has all of them
        return None


def asked_by(record: Interaction, step: Step | None) -> Question:
    """The question that a message asks."""
    return record.questions[step.place if step is not None else 0]
