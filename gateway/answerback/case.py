"""case: one reply under consideration, and what became of it."""

from dataclasses import dataclass, field

from answerback.context import Context
from answerback.door import Decision
from answerback.model import Contact, Json, Outcome
from answerback.outbox import Follows
from answerback.provider import Reply
from answerback.store import Row, Tx


@dataclass(frozen=True, slots=True)
class Case:
    """One reply under consideration."""

    tx: Tx
    context: Context
    provider: str
    reply: Reply
    here: Row
    person: Contact | None


@dataclass(slots=True)
class Effect:
    """What became of a reply: outcome, deliveries, a decision, threads to stop, a toast; or of a receipt."""

    outcome: Outcome
    rows: list[Row] = field(default_factory=list)
    decision: Decision | None = None
    stops: list[tuple[str, str]] = field(default_factory=list)
    toast: str = ""
    follows: Follows = field(default_factory=Follows)
    overheard: bool = False  # people talked to each other: it is not ours to keep
    later: bool = False  # somebody wants to be asked again: the clock has to look when
    about: str = ""  # the question that it was found to be for, whatever became of it

    @property
    def interaction_id(self) -> str:
        """The question it was for; "" when nobody knows which one that is."""
        return self.decision.record.id if self.decision is not None else self.about


def said(case: Case, key: str, args: Json, outcome: Outcome = Outcome.COMMAND, about: str = "") -> Effect:
    """A sentence where they wrote, and nothing else; `about`: the question that it is for."""
    row = case.context.outbox.conversation(case.tx, case.here, key, args)
    return Effect(outcome, [row], about=about)
