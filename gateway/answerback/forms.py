"""The form behind a link: what it shows, what it takes, and the code that confirmations ask for (law 7)."""

import hmac
from dataclasses import dataclass

from answerback import uploads
from answerback.ask import refuse_closed, refuse_late
from answerback.context import Context
from answerback.door import Actor, Decision, after_commit, decide
from answerback.errors import Conflict, DoesNotFit, NotAllowed, NotFound
from answerback.model import Contact, Interaction, Json, Outcome, QuestionKind
from answerback.outbox import FORM
from answerback.read import validate
from answerback.store import Row, Tx, contacts, deliveries, interactions
from answerback.tokens import hashed, hashed_code, six_digits
from answerback.uploads import Upload

CODE_LIFE = 600_000_000  # microseconds
CODE_AGAIN = 30_000_000  # microseconds between two codes
CODE_TRIES = 10  # wrong codes on one link, for good: nobody guesses one by asking for ever new ones
VIA = "form"


@dataclass(frozen=True, slots=True)
class FormView:
    """One link's question as its page shows it. `you`: the link's own person gave the answer."""

    interaction: Interaction
    contact: Contact | None
    needs_code: bool
    can_send_code: bool
    answerer: str
    you: bool
    now: int
    timezone: str
    language: str


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
        """Answer. Raises `DoesNotFit`, `NotAllowed` (the code), `AlreadyAnswered` or `Closed`."""
        self._context.faults.reach("receive.before-commit")
        result = await self._context.store.write(
            lambda tx: self._submit(tx, token, values, text, code, files)
        )
        if isinstance(result, str):
            raise NotAllowed(result)
        self._context.faults.reach("receive.after-commit")
        after_commit(self._context, result)
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
        if needs_code(record) and (problem := _check_code(tx, row, code)):
            return problem
        return taken(tx, self._context, record, checked, text, Actor(row["contact_id"], VIA), files)

    async def send_code(self, token: str) -> None:
        """Send six digits to the address that the link was sent to. `NotAllowed` when it has none."""

        def tx_(tx: Tx) -> list[Row]:
            row = _find(tx, token)
            if not _can_send(row):
                raise NotAllowed("This link was not sent to anybody, so there is nowhere to send a code to.")
            if row["code_until"] is not None and row["code_until"] - CODE_LIFE + CODE_AGAIN > tx.now:
                raise Conflict("A code was sent a moment ago. Please wait half a minute before asking again.")
            code = six_digits()
            tx.run(
                deliveries.SET_CODE,
                key=row["id"],
                hash=hashed_code(row["id"], code),
                until=tx.now + CODE_LIFE,
            )
            return [self._context.outbox.conversation(tx, row, "form_code", {"code": code})]

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
            needs_code(record),
            _can_send(row),
            who.name if who else record.answered_by,
            bool(row["contact_id"]) and record.answered_by == row["contact_id"],
            tx.now,
            person.timezone if person else "UTC",
            person.language if person else "en",
        )


def needs_code(record: Interaction) -> bool:
    """A link alone answers plain questions only, unless the route relaxes that."""
    decides = any(
        question.kind in (QuestionKind.CONFIRM, QuestionKind.REVIEW) for question in record.questions
    )
    return decides and record.route.get("form_auth", "code") != "link"


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

    The only question, if it is one for a text, can be answered with files and no word.
    """
    only = record.questions[0]
    if with_files and len(record.questions) == 1 and only.kind is QuestionKind.TEXT:
        return {only.id: validate(only, values[only.id]) if values.get(only.id) else ""}
    given = {question.id: question for question in record.questions if values.get(question.id) is not None}
    for question in record.questions:
        if question.required and question.id not in given:
            raise DoesNotFit(f"“{question.text}” has no answer yet.")
    return {id: validate(question, values[id]) for id, question in given.items()}


def _check_code(tx: Tx, row: Row, code: str) -> str:
    """ "" when the code is right; otherwise what to do. Committed either way: tries are counted."""
    if not code:
        return "This needs the code that was sent to you."
    if not row["code_hash"] or row["code_until"] is None or row["code_until"] <= tx.now:
        return "This code does not work any more. Ask for a new one."
    if row["code_tries"] >= CODE_TRIES:
        return "Too many wrong codes. Answer in the message that this link came with."
    if not hmac.compare_digest(row["code_hash"], hashed_code(row["id"], code.strip().replace(" ", ""))):
        tx.run(deliveries.TRY_CODE, key=row["id"])
        return "This is not the code that was sent. Please look again."
    tx.run(deliveries.USE_CODE, key=row["id"])
    return ""


def _can_send(row: Row) -> bool:
    return row["provider"] != FORM and bool(row["external_id"])


def _find(tx: Tx, token: str) -> Row:
    row = tx.one(deliveries.BY_TOKEN, hash=hashed(token)) if token else None
    if row is None or not row["interaction_id"]:
        raise NotFound("This link leads to no question.")
    return row
