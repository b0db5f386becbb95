"""taps: the buttons below the message that says how a run ended: open all of it, or try it again."""

from answerback.again import tried
from answerback.case import Case, Effect
from answerback.evidence import by_token, may_answer
from answerback.model import Outcome
from answerback.provider import Reply
from answerback.render import OPEN, RETRY
from answerback.sentences import say
from answerback.store import Row, contacts, runs


def is_about_run(reply: Reply) -> bool:
    """Whether a tapped button is one of these: no question's payload looks like them."""
    return reply.data.partition(":")[2] in (OPEN, RETRY)


def tapped(case: Case) -> Effect:
    """Only the person who was told, where they were told, and only as long as it makes sense."""
    told = _told(case)
    if told is None:
        return Effect(Outcome.NOT_ALLOWED)
    contact = case.person.id if case.person is not None else ""
    if not contact or not may_answer(told, case.provider, case.reply, contact):
        return not_theirs(case)
    if case.reply.data.endswith(f":{OPEN}"):
        return _said(case, told, "run_more", {})  # others read here: the link goes to their own chat
    run = case.tx.one(runs.HELD, id=told["run_id"])
    assert run is not None
    key, args = tried(case.tx, told, run)
    return _said(case, told, key, args, later=True)


def not_theirs(case: Case) -> Effect:
    """Somebody else's button: they see whose it is, if anybody's, and nothing else happens."""
    told = _told(case)
    person = contacts.person(case.tx, told["contact_id"]) if told is not None else None
    if person is None:
        return Effect(Outcome.NOT_ALLOWED)
    language = case.person.language if case.person is not None else "en"
    return Effect(Outcome.NOT_ALLOWED, toast=say("not_yours", language, who=person.name))


def _told(case: Case) -> Row | None:
    """The delivery that told of a run's end, whose token came back."""
    row = by_token(case.tx, case.reply)
    return row if row is not None and row["kind"] == "notice" and row["run_id"] else None


def _said(case: Case, told: Row, key: str, args: dict[str, str], *, later: bool = False) -> Effect:
    row = case.context.outbox.conversation(case.tx, told, key, args)
    return Effect(Outcome.COMMAND, [row], later=later)
