"""instead: what a stand-in is asked in place of a person, and what it answers, in one transaction."""

import json
import logging
from dataclasses import asdict, dataclass, field, replace

from answerback import receipts
from answerback.case import Effect
from answerback.context import Context
from answerback.door import Decision, after_commit
from answerback.fits import LANGUAGE, listed, problem_of
from answerback.inbound import consider
from answerback.model import Interaction, Json, MessageKind, Outcome, Question
from answerback.provider import Asked, Message, Reply, Sent
from answerback.render import wanted
from answerback.store import Row, Tx, audit, replies
from answerback.substitute import stops
from answerback.succession import after

log = logging.getLogger("answerback.instead")


@dataclass(slots=True)
class Answered:
    """What follows from it after the commit."""

    rows: list[Row] = field(default_factory=list)
    decision: Decision | None = None


def with_questions(context: Context, record: Interaction, message: Message, now: int) -> Message:
    """The message with what stands in the record: a stand-in needs no wording, it needs the questions."""
    stand_in = context.outbox.stand_ins.known.get(message.to.provider)
    if stand_in is None or message.kind is not MessageKind.QUESTION:
        return message

    def problem(value: Json, question: Question | None = None) -> str:
        return problem_of(record, stand_in, value, question, now)

    def as_listed(text: str, question: Question) -> tuple[Json, str]:
        return listed(record, stand_in, text, question, now)

    def is_command(text: str) -> bool:
        return stand_in.listens and stops(record, text)

    asked = Asked(
        record.questions,
        record.context,
        record.agent,
        record.title,
        record.sensitive,
        problem,
        as_listed,
        is_command,
        lambda question: wanted(question, LANGUAGE),
    )
    return replace(message, asked=asked)


def answered(tx: Tx, context: Context, row: Row, sent: Sent) -> Answered:
    """Record that a stand-in was asked, together with its answer.

    In one transaction: a process that is killed before it has asked nobody, and asks again; an answer that
    comes again carries the same event id and is known. If this raises, nothing of it was stored either.
    """
    done = Answered(receipts.sent(tx, context.outbox, row, sent.message_ids).rows)
    for reply in sent.replies:
        effect = _taken(tx, context, row["provider"], reply)
        done.rows += effect.rows
        done.decision = effect.decision or done.decision
        if effect.outcome in (Outcome.ASKED_AGAIN, Outcome.NOT_ALLOWED):
            tx.log(
                log.warning, "the stand-in %s did not answer: %s", row["provider"], effect.outcome, **_of(row)
            )
    if sent.declined:
        tx.log(log.info, "the stand-in %s has no answer: %s", row["provider"], sent.declined, **_of(row))
        audit.add(tx, row["interaction_id"], "declined", actor=row["provider"])
        done.rows += after(context.outbox, tx, row)
    return done


def follow(context: Context, done: Answered) -> None:
    """Send what follows, and go on with the agent."""
    context.dispatch(done.rows)
    if done.decision is not None:
        after_commit(context, done.decision)
    context.signals.rearm()


def _taken(tx: Tx, context: Context, provider: str, reply: Reply) -> Effect:
    """One answer through the one door: stored once, matched, authorised, read, decided."""
    event = provider, reply.event_id
    if not replies.add(tx, *event, _raw(reply)):
        first = replies.first(tx, *event)
        return Effect(Outcome(first["outcome"]) if first and first["outcome"] else Outcome.DUPLICATE)
    effect = consider(tx, context, provider, reply)
    replies.decided(tx, *event, effect.outcome, effect.interaction_id)
    return effect


def _raw(reply: Reply) -> bytes:
    """What is kept of it, in ASCII, which carries all; its token is this delivery's own and a secret."""
    kept = {key: value for key, value in asdict(reply).items() if key not in ("token", "attachments")}
    return json.dumps(kept).encode()


def _of(row: Row) -> dict[str, str]:
    return {"interaction": row["interaction_id"]}
