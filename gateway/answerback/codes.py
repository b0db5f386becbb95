"""codes: six digits sent to the address that a link went to: what a link alone must not decide (law 7)."""

import hmac

from answerback.errors import Conflict, NotAllowed
from answerback.model import Interaction, QuestionKind
from answerback.outbox import FORM, Outbox
from answerback.store import Row, Tx, deliveries
from answerback.tokens import hashed_code, six_digits

LIFE = 600_000_000  # microseconds
AGAIN = 30_000_000  # microseconds between two codes
TRIES = 10  # wrong codes on one link, for good: nobody guesses one by asking for ever new ones


def are_needed(record: Interaction) -> bool:
    """A link alone answers plain questions only, unless the route relaxes that."""
    decides = any(
        question.kind in (QuestionKind.CONFIRM, QuestionKind.REVIEW) for question in record.questions
    )
    return decides and record.route.get("form_auth", "code") != "link"


def can_send(row: Row) -> bool:
    """Whether the link's delivery went to an address."""
    return row["provider"] != FORM and bool(row["external_id"])


def send(tx: Tx, outbox: Outbox, row: Row) -> list[Row]:
    """Send a new one to the address of a link's delivery. Raises `NotAllowed`, `Conflict`: too soon."""
    if not can_send(row):
        raise NotAllowed("This link was not sent to anybody, so there is nowhere to send a code to.")
    code = six_digits()
    new = {"hash": hashed_code(row["id"], code), "until": tx.now + LIFE, "latest": tx.now + LIFE - AGAIN}
    if tx.run(deliveries.SET_CODE, key=row["id"], **new) == 0:
        raise Conflict("A code was sent a moment ago. Please wait half a minute before asking again.")
    return [outbox.conversation(tx, row, "form_code", {"code": code})]


def problem(tx: Tx, row: Row, code: str) -> str:
    """ "" when the code is right; otherwise what to do. Committed either way: tries are counted."""
    if not code:
        return "This needs the code that was sent to you."
    row = tx.one(deliveries.HELD, id=row["id"]) or row  # of two guesses at once, the second sees the first's
    if not row["code_hash"] or row["code_until"] is None or row["code_until"] <= tx.now:
        return "This code does not work any more. Ask for a new one."
    if row["code_tries"] >= TRIES:
        return "Too many wrong codes. Answer in the message that this link came with."
    if not hmac.compare_digest(row["code_hash"], hashed_code(row["id"], code.strip().replace(" ", ""))):
        tx.run(deliveries.TRY_CODE, key=row["id"])
        return "This is not the code that was sent. Please look again."
    tx.run(deliveries.USE_CODE, key=row["id"])
    return ""
