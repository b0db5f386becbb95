"""The one door: decides whose answer wins, inside one transaction, whatever way it came in (laws 2 and 7)."""

from dataclasses import dataclass, field, replace

from answerback.context import Context
from answerback.model import Answer, Attachment, Interaction, InteractionStatus, Json, Outcome
from answerback.signals import Handed
from answerback.standing import may_not
from answerback.store import Row, Tx, audit, interactions, leases, runs
from answerback.store.codec import answer_out
from answerback.threads import hand_over
from answerback.values import canonical


@dataclass(frozen=True, slots=True)
class Actor:
    """Who answers through what. `at`: a trusted service time of the reply, microseconds; None: now."""

    contact: str
    via: str
    at: int | None = None


@dataclass(slots=True)
class Decision:
    """What became of it, and what must happen after the commit."""

    outcome: Outcome
    record: Interaction
    rows: list[Row] = field(default_factory=list)
    handed: Handed | None = None


def decide(
    tx: Tx,
    context: Context,
    record: Interaction,
    values: dict[str, Json],
    text: str,
    actor: Actor,
    files: tuple[Attachment, ...] = (),
) -> Decision:
    """Record a validated answer. One conditional UPDATE decides; everybody else hears who was first.

    A stand-in's answer that only a person may give, or to what only people may be asked, is not taken, nor
    that of a person who handed the question on.
    """
    canonical(values, context.settings.limits.answer_bytes)  # or it cannot be kept
    if record.route.get("delegates"):  # whoever answers may be handing it on at this moment
        record = interactions.held(tx, record.id) or record
    if gave_up(record, actor.contact):
        audit.add(tx, record.id, "not allowed", actor=actor.contact)
        return Decision(Outcome.NOT_ALLOWED, record)
    stand_in = context.outbox.stand_ins.known.get(actor.via)
    if stand_in is not None and (record.human_only or may_not(record.questions, values, stand_in)):
        audit.add(tx, record.id, "not allowed", actor=actor.contact)
        return Decision(Outcome.NOT_ALLOWED, record)
    answer = Answer(values, text, actor.contact, actor.via, tx.now, attachments=files)
    at = min(tx.now, actor.at) if actor.at is not None else tx.now
    goes_on = bool(record.agent and record.interrupt_id)
    until = tx.now + leases.SPAN if goes_on else None
    content = answer_out(answer)
    won = interactions.complete(tx, record, answer, content, at=at, begun_until=until)
    if not won:
        interactions.keep(tx, record, answer, content, won=False)
        after = interactions.get(tx, record.id)
        assert after is not None
        audit.add(tx, record.id, "came too late", actor=actor.contact)
        return Decision(lost(after), after)
    after = replace(
        record,
        status=InteractionStatus.COMPLETED,
        answer=answer,
        answered_by=answer.by,
        answered_via=answer.via,
        answered_at=tx.now,
    )
    # What is only written comes last: so it is one statement where that counts.
    handed = hand_over(tx, context, after, begun=True) if goes_on else None
    decision = Decision(Outcome.ACCEPTED, after, context.outbox.outcomes(tx, after), handed)
    interactions.keep(tx, record, answer, content, won=True)
    audit.add(tx, record.id, "answered", actor=actor.contact, content=content)
    if after.run_id:
        runs.goes_on(tx, after.run_id)
    return decision


def gave_up(record: Interaction, contact: str) -> bool:
    """Whether somebody handed this question on, and so has no say in it any more."""
    return bool(contact) and contact in record.route.get("delegated", ())


def lost(record: Interaction) -> Outcome:
    """Why an answer does not count any more. Still pending here means: the deadline has just passed."""
    return {
        InteractionStatus.COMPLETED: Outcome.ALREADY_ANSWERED,
        InteractionStatus.CANCELLED: Outcome.CANCELLED,
    }.get(record.status, Outcome.EXPIRED)


def go_on(context: Context, decision: Decision) -> None:
    """Give the answer to the agent, once; it begins when the caller next waits for something."""
    handed, decision.handed = decision.handed, None
    if handed is not None:
        context.signals.resume(handed)


def after_commit(context: Context, decision: Decision) -> None:
    """Go on with the agent, which waits for nothing else; send what follows, wake who waits."""
    go_on(context, decision)
    context.dispatch(decision.rows)
    context.signals.changed(decision.record.id)
    context.signals.rearm()
