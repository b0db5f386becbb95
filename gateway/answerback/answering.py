"""answering: what a reply does to the one question that it was found to be for."""

from answerback.attachments import kept
from answerback.case import Case, Effect
from answerback.delegating import gone
from answerback.door import Actor, decide, gave_up, lost
from answerback.given import FILES, SAID, Given, Sent, said_before, sent_with, value_of
from answerback.model import Interaction, InteractionStatus, Json, Outcome
from answerback.outbox import SHOWN
from answerback.read import Unclear
from answerback.receipts import answered
from answerback.sentences import say
from answerback.showing import asks_to_see, show
from answerback.steps import Step, step_of
from answerback.store import Row, interactions, passing
from answerback.store.codec import address_in, attachments_out
from answerback.values import unstorable


def answer(case: Case, record: Interaction, asked: Row) -> Effect:
    """Decide, ask the next of several, ask again where it is not clear, or show the question once more."""
    tx, reply = case.tx, case.reply
    if (over := ended(case, record, asked)) is not None:
        return over
    step = step_of(asked, record)
    if step is not None and not asked["open"]:
        return _noted_before(case, record)
    if asks_to_see(case, record, step):
        held = interactions.held(tx, record.id) or record  # else nobody would be told there how it ended
        return ended(case, held, asked) or show(case, held, asked, step)
    found = value_of(tx, case.provider, reply, case.person, record, step)
    if isinstance(found, Unclear):
        sent = sent_with(tx, case.provider, reply)
        keep = not (record.sensitive or found.key == "too_long" or unstorable(sent.text))
        said = _kept(case, record, sent) if keep else {}
        return said_of(case, record, asked, Outcome.ASKED_AGAIN, found.key, found.args | said)
    if step is not None and step.place + 1 < len(record.questions):
        return _next(case, record, asked, step, found)
    values = found.values if step is None else {**step.given, **found.values}
    before = said_before(tx, case.provider, reply, asked)
    text = (before.text or found.text) if step is None else ""  # of several it is nobody's own words
    actor = Actor(case.person.id if case.person else "", case.provider, reply.sent_at)
    follows = answered(tx, case.context.outbox, asked)
    decision = decide(tx, case.context, record, values, text, actor, found.files or before.files)
    if decision.outcome is Outcome.NOT_ALLOWED:
        return gone(case, decision.record)
    if decision.outcome is not Outcome.ACCEPTED:
        return closed(case, decision.record, decision.outcome, asked)
    return Effect(Outcome.ACCEPTED, decision=decision, follows=follows)


def _kept(case: Case, record: Interaction, sent: Sent) -> Json:
    """What a tap would make clear, kept with the sentence that asks for it. Of several questions a file is

    for none: its sender reads so.
    """
    kept_: Json = {SAID: sent.text} if sent.text else {}
    if sent.files and len(record.questions) == 1:
        kept_[FILES] = attachments_out(kept(case.provider, record.id, sent.files))
    return kept_


def _next(case: Case, record: Interaction, asked: Row, step: Step, found: Given) -> Effect:
    """One of several is answered: keep that, ask the next one, and let the copy say what was answered.

    Not if it was closed or handed on at this moment: nobody would ever be told how the next one ended.
    """
    record = interactions.held(case.tx, record.id) or record
    if (over := ended(case, record, asked)) is not None:
        return over
    seen = passing.pass_on(case.tx, asked)
    if seen is None:
        return _noted_before(case, record)
    outbox = case.context.outbox
    there = address_in(asked | {"id": asked["address_id"]})
    rows = [outbox.question(case.tx, record, there, step=step.after(found.values))]
    ((_, value),) = found.values.items()
    said: Json = {"place": step.place, "value": value, "text": found.text, "at": case.tx.now}
    rows += [outbox.edited(case.tx, record, row, {"noted": said}) for row in seen if row["status"] in SHOWN]
    return Effect(Outcome.NOTED, rows, about=record.id)


def _noted_before(case: Case, record: Interaction) -> Effect:
    """It was answered already, and the next question stands below it."""
    if case.reply.data:
        language = case.person.language if case.person else "en"
        return Effect(Outcome.NOTED, toast=say("noted", language), about=record.id)
    row = case.context.outbox.conversation(case.tx, case.here, "noted", {}, interaction_id=record.id)
    return Effect(Outcome.NOTED, [row], about=record.id)


def ended(case: Case, record: Interaction, asked: Row) -> Effect | None:
    """What is said of a question that is closed, or that this person handed on; None: it waits for them."""
    if record.status is not InteractionStatus.PENDING:
        return closed(case, record, lost(record), asked)
    return gone(case, record) if gave_up(record, case.person.id if case.person else "") else None


def closed(case: Case, record: Interaction, outcome: Outcome, asked: Row) -> Effect:
    """What is said of one that is closed: how it ended."""
    row = case.context.outbox.conversation(case.tx, asked, "closed", {}, interaction_id=record.id)
    return Effect(outcome, [row], about=record.id)


def said_of(case: Case, record: Interaction, asked: Row, outcome: Outcome, key: str, args: Json) -> Effect:
    """A sentence about a question, where it was asked, with its buttons below."""
    row = case.context.outbox.conversation(
        case.tx, asked, key, args, interaction_id=record.id, step=step_of(asked, record)
    )
    return Effect(outcome, [row], about=record.id)
