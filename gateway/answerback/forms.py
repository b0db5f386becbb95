"""The form behind a link: what it shows, and what it takes; confirmations ask for a code too (law 7)."""

from collections.abc import Mapping
from dataclasses import dataclass, field

from answerback import codes, uploads
from answerback.closing import refuse_closed, refuse_late
from answerback.context import Context
from answerback.door import Actor, Decision, after_commit, decide
from answerback.errors import DoesNotFit, NotAllowed, NotFound
from answerback.model import SUPERSEDED, Contact, Interaction, Json, Outcome, QuestionKind
from answerback.outbox import SHOWN
from answerback.read import unmet, validate
from answerback.steps import given_by
from answerback.store import Row, Tx, contacts, deliveries, interactions
from answerback.tokens import hashed
from answerback.uploads import Upload

VIA = "form"
NOWHERE = "This link leads to no question."


@dataclass(frozen=True, slots=True)
class Anew:
    """Through what the same person was asked a question that had changed, and when, in microseconds."""

    via: str
    at: int


@dataclass(frozen=True, slots=True)
class FormView:
    """One link's question as its page shows it. `you`: the link's own person gave the answer.

    `given`: what that person has answered of it elsewhere, one by one; a draft until all of it is sent.
    """

    interaction: Interaction
    contact: Contact | None
    needs_code: bool
    can_send_code: bool
    answerer: str
    you: bool
    now: int
    timezone: str
    language: str
    anew: Anew | None = None
    given: Mapping[str, Json] = field(default_factory=dict, repr=False)


class Forms:
    """Links are looked up by token; unknown ones are `NotFound`, whatever they look like."""

    def __init__(self, context: Context) -> None:
        self._context = context

    async def view(self, token: str) -> FormView:
        """What a GET shows. Reads only (law 5)."""
        return await self._context.store.read(lambda tx: self._view(tx, _find(tx, token)))

    async def submit(
        self,
        token: str,
        values: dict[str, Json],
        *,
        text: str = "",
        code: str = "",
        files: tuple[Upload, ...] = (),
    ) -> FormView:
        """Answer. Raises `NotFound`, `DoesNotFit`, `NotAllowed` (the code), `AlreadyAnswered` or `Closed`."""
        self._context.faults.reach("receive.before-commit")
        result = await self._context.store.write(
            lambda tx: self._submit(tx, token, values, text, code, files)
        )
        if isinstance(result, str):
            raise NotAllowed(result)
        self._context.faults.reach("receive.after-commit")
        after_commit(self._context, result)
        if result.outcome is Outcome.NOT_ALLOWED:  # it was handed on at this moment, and the link with it
            raise NotFound(NOWHERE)
        if result.outcome is not Outcome.ACCEPTED:
            refuse_late(result.record)
        return await self.view(token)

    def _submit(
        self, tx: Tx, token: str, values: dict[str, Json], text: str, code: str, files: tuple[Upload, ...]
    ) -> Decision | str:
        row = _find(tx, token)
        record = interactions.get(tx, row["interaction_id"])
        assert record is not None
        refuse_closed(record)
        checked = checked_values(record, values, with_files=bool(files))
        if codes.are_needed(record) and (problem := codes.problem(tx, row, code)):
            return problem
        return taken(tx, self._context, record, checked, text, Actor(row["contact_id"], VIA), files)

    async def send_code(self, token: str) -> None:
        """Send six digits to the address that the link was sent to. `NotAllowed` when it has none."""

        def tx_(tx: Tx) -> list[Row]:
            return codes.send(tx, self._context.outbox, _find(tx, token))

        rows = await self._context.store.write(tx_)
        self._context.dispatch(rows)

    def _view(self, tx: Tx, row: Row) -> FormView:
        record = interactions.get(tx, row["interaction_id"])
        assert record is not None
        person = contacts.contact(tx, row["contact_id"])
        who = contacts.contact(tx, record.answered_by)
        return FormView(
            record,
            person,
            codes.are_needed(record),
            codes.can_send(row),
            who.name if who else record.answered_by,
            bool(row["contact_id"]) and record.answered_by == row["contact_id"],
            tx.now,
            person.timezone if person else "UTC",
            person.language if person else "en",
            _anew(tx, row, record),
            given_by(tx, record, row["contact_id"]),
        )


def _anew(tx: Tx, row: Row, record: Interaction) -> Anew | None:
    """Where the link's person finds what stands for a question that changed.

    Only where and when: whoever else has the old link must get no link to the new question by it (law 7).
    """
    if record.reason != SUPERSEDED or not row["contact_id"]:
        return None
    later = [
        each["id"]
        for each in tx.all(interactions.OF_RUN, run_id=record.run_id)
        if each["id"] > record.id and each["interrupt_id"] == record.interrupt_id
    ]
    for id in reversed(later):
        for each in reversed(tx.all(deliveries.OF, interaction_id=id)):
            asks = each["kind"] == "question" and each["status"] in SHOWN and each["sent_at"] is not None
            if asks and each["contact_id"] == row["contact_id"]:
                return Anew(each["provider"], each["sent_at"])
    return None


def taken(
    tx: Tx,
    context: Context,
    record: Interaction,
    values: dict[str, Json],
    text: str,
    actor: Actor,
    files: tuple[Upload, ...],
) -> Decision:
    """What became of an answer that was filled in on a page, with files that came along."""
    kept = uploads.store(tx, record, files)
    decision = decide(tx, context, record, values, text, actor, kept)
    uploads.decided(tx, record, kept, decision.outcome)
    return decision


def checked_values(record: Interaction, values: dict[str, Json], *, with_files: bool) -> dict[str, Json]:
    """Every required question answered, every value fitting; an optional one may be left out.

    The only question, if it is one for a text, can be answered with files and no word, unless it demands
    something of the text.
    """
    only = record.questions[0]
    by_files = with_files and only.files and only.kind is QuestionKind.TEXT and not unmet(only, "")
    if by_files and len(record.questions) == 1:
        return {only.id: validate(only, values[only.id]) if values.get(only.id) else ""}
    given = {question.id: question for question in record.questions if values.get(question.id) is not None}
    for question in record.questions:
        if question.required and question.id not in given:
            raise DoesNotFit(f"“{question.text}” has no answer yet.")
    return {id: validate(question, values[id]) for id, question in given.items()}


def _find(tx: Tx, token: str) -> Row:
    row = tx.one(deliveries.BY_TOKEN, hash=hashed(token)) if token else None
    if row is None or not row["interaction_id"] or not _is_theirs(tx, row):
        raise NotFound(NOWHERE)
    return row


def _is_theirs(tx: Tx, row: Row) -> bool:
    """An account that was lost, or whose owner has left, decides and sees nothing by an old link either.

    A link that went to nobody in particular is of whoever has it.
    """
    if not row["contact_id"]:
        return True
    owner = contacts.address_of(tx, row["provider"], row["external_id"])
    return owner is not None and owner.contact == row["contact_id"]
