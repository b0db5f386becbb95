"""steps: several questions in a chat, one after the other; what was answered so far stands in the next one.

Each question is a delivery of its own with a token of its own, and closed once it is answered, so that a tap
can only ever answer the question that it stands under. The last answer decides, through the one door.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace

from answerback.errors import Refused
from answerback.model import Interaction, Json, MessageKind, Question
from answerback.read import validate
from answerback.store import Row, Tx, deliveries
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
        step = Step(content["step"], content["given"])
        return step if _is_sound(step, record.questions) else None
    except (ValueError, TypeError, KeyError, Refused):  # it has none, or is damaged: the form has all of them
        return None


def is_about_one(row: Row) -> bool:
    """Whether a delivery says something about one of several questions, such as that it was not clear."""
    try:
        return row["kind"] == MessageKind.CONVERSATION and "step" in loads(row["content"])
    except (ValueError, TypeError):  # it is damaged
        return False


def _is_sound(step: Step, questions: Sequence[Question]) -> bool:
    """Whether all before it is answered, and nothing else. Raises `DoesNotFit` for a value that is no answer:

    with the last one, what is given goes to the agent as it stands.
    """
    if (
        type(step.place) is not int
        or not 0 <= step.place < len(questions)
        or not isinstance(step.given, dict)
    ):
        return False
    before = questions[: step.place]
    for question in before:
        validate(question, step.given[question.id])
    return len(step.given) == len(before)


def given_by(tx: Tx, record: Interaction, contact_id: str) -> Mapping[str, Json]:
    """What one person has answered so far of several questions, wherever they got furthest; a draft."""
    furthest = Step()
    if not contact_id or len(record.questions) < 2 or record.sensitive:
        return furthest.given
    for row in tx.all(deliveries.OF, interaction_id=record.id):
        step = step_of(row, record) if row["contact_id"] == contact_id else None
        if step is not None and step.place > furthest.place:
            furthest = step
    return furthest.given


def asked_by(record: Interaction, step: Step | None) -> Question:
    """The question that a message asks."""
    return record.questions[step.place if step is not None else 0]


def left_of(record: Interaction, step: Step | None) -> Interaction:
    """It with the questions that are not answered yet: the first is the one that an answer would reach."""
    return record if step is None else replace(record, questions=record.questions[step.place :])
