"""asides: what somebody says about a question without answering it: why, skip, snooze."""

from dataclasses import replace

from answerback.case import Case, Effect
from answerback.evidence import Gathered
from answerback.model import Interaction, Outcome
from answerback.read import Unclear
from answerback.render import asker
from answerback.snoozed import snoozed
from answerback.steps import step_of
from answerback.store import Row, interactions
from answerback.times import next_action, stays_open
from answerback.whenever import moment_of, told

ASIDES = {"why", "skip", "snooze"}
AN_HOUR = "1 hour"
LEFT = 60_000_000  # microseconds in which somebody who is asked again can answer


def aside(
    case: Case, command: tuple[str, str], gathered: Gathered, record: Interaction, asked: Row
) -> Effect:
    """One of `ASIDES`, about a pending question that this person may answer. It stays open."""
    name, rest = command
    if name == "why":
        return _why(case, record, asked)
    return _skip(case, gathered, record) if name == "skip" else _snooze(case, record, asked, rest)


def _why(case: Case, record: Interaction, asked: Row) -> Effect:
    """Who asks, and their reason, with the buttons of the question below it."""
    who = asker(record, case.person.language if case.person else "en")
    if record.sensitive:
        return _about(case, record, asked, "why_form", {})
    if not record.context.strip():
        return _about(case, record, asked, "why_unsaid", {"who": who})
    return _about(case, record, asked, "why_said", {"who": who, "reason": record.context})


def _skip(case: Case, gathered: Gathered, record: Interaction) -> Effect:
    """Nothing is decided; what else is open is shown, in the same message: two could change places."""
    say, tx = case.context.outbox.conversation, case.tx
    open_ = gathered.evidence.open_for_sender
    others = [each.delivery_id for each in open_ if each.interaction_id != record.id]
    if others:
        row = say(tx, case.here, "pending", {"deliveries": others, "skipped": True})
    else:
        row = say(tx, case.here, "skipped", {}, interaction_id=record.id)
    return Effect(Outcome.COMMAND, [row], about=record.id)


def _snooze(case: Case, record: Interaction, asked: Row, when: str) -> Effect:
    """Ask again at that time, here; until then no reminder comes here."""
    tx, person = case.tx, case.person
    at = moment_of(when or AN_HOUR, person, tx.now)
    if isinstance(at, Unclear):
        return _about(case, record, asked, at.key, at.args, Outcome.ASKED_AGAIN)
    if record.expires_at is not None and at > record.expires_at - LEFT and not stays_open(record):
        ends = {"time": told(record.expires_at, person, tx.now)}
        return _about(case, record, asked, "snooze_late", ends, Outcome.ASKED_AGAIN)
    later = replace(record, route=snoozed(record.route, asked, at))
    interactions.again(tx, later, next_action(later, tx.now))
    said = {"time": told(at, person, tx.now)}
    row = case.context.outbox.conversation(tx, case.here, "snoozed", said, interaction_id=record.id)
    return Effect(Outcome.COMMAND, [row], about=record.id, later=True)


def _about(
    case: Case,
    record: Interaction,
    asked: Row,
    key: str,
    args: dict[str, str],
    outcome: Outcome = Outcome.COMMAND,
) -> Effect:
    """A sentence where the question stands, with its buttons below."""
    row = case.context.outbox.conversation(
        case.tx, asked, key, args, interaction_id=record.id, step=step_of(asked, record)
    )
    return Effect(outcome, [row], about=record.id)
