"""asides: what somebody says about a question without answering it: why, skip, snooze."""

import datetime
from dataclasses import replace

from answerback.ask import next_action, stays_open
from answerback.case import Case, Effect
from answerback.evidence import Gathered
from answerback.model import Interaction, Outcome, Question, QuestionKind
from answerback.read import Unclear, read
from answerback.render import asker
from answerback.sentences import moment, zone_of
from answerback.snoozed import snoozed
from answerback.steps import step_of
from answerback.store import Row, interactions

ASIDES = {"why", "skip", "snooze"}
MORNING = datetime.time(9)  # when somebody is asked again who named a day and no time
AN_HOUR = "1 hour"
_WHEN = Question("when", "", QuestionKind.DATE)


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
    language, timezone = (person.language, person.timezone) if person else ("en", "UTC")
    at = _moment_of(when or AN_HOUR, language, timezone, tx.now)
    if isinstance(at, Unclear):
        return _about(case, record, asked, at.key, at.args, Outcome.ASKED_AGAIN)
    if record.expires_at is not None and at >= record.expires_at and not stays_open(record):
        ends = moment(record.expires_at, language, timezone, tx.now)
        return _about(case, record, asked, "snooze_late", {"time": ends}, Outcome.ASKED_AGAIN)
    later = replace(record, route=snoozed(record.route, asked, at))
    interactions.again(tx, later, next_action(later, tx.now))
    said = {"time": moment(at, language, timezone, tx.now)}
    row = case.context.outbox.conversation(tx, case.here, "snoozed", said, interaction_id=record.id)
    return Effect(Outcome.COMMAND, [row], about=record.id, later=True)


def _moment_of(when: str, language: str, timezone: str, now: int) -> int | Unclear:
    """Microseconds since the epoch. "30" is minutes; a day without a time is its morning."""
    first, _, rest = when.partition(" ")
    text = rest if first.lower() == "until" else f"in {when} minutes" if when.isdecimal() else f"in {when}"
    found = read(_WHEN, text, language=language, timezone=timezone, now=now)
    if isinstance(found, Unclear):
        return Unclear(found.key, found.args | {"text": when})
    then = datetime.datetime.fromisoformat(str(found.value))
    if len(str(found.value)) == len("2026-12-03"):
        then = datetime.datetime.combine(then.date(), MORNING, zone_of(timezone))
    at = round(then.timestamp() * 1e6)
    return at if at > now else Unclear("date_past", {"text": when})


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
