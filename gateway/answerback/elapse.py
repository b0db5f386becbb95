"""elapse: what time does to a pending question: reminders, and the deadline's outcome."""

from dataclasses import replace

from answerback.ask import cancel_run, next_action, stays_open
from answerback.context import Context
from answerback.model import Answer, Interaction, InteractionStatus, MessageKind, OnExpire
from answerback.outbox import FORM
from answerback.read import validate_response
from answerback.signals import Handed
from answerback.store import Row, Tx, audit, deliveries, interactions
from answerback.store.codec import address_in, interaction_in
from answerback.threads import hand_over


class Elapser:
    """Acts on what fell due. `pump` is called at start only after intake has been drained once."""

    def __init__(self, context: Context) -> None:
        self._context = context

    async def pump(self, limit: int = 200) -> int:
        """Handle due interactions; how many there were."""
        results = await self._context.store.write(lambda tx: self._due(tx, limit))
        self._context.faults.reach("elapse.after-commit")
        for record, rows, handed in results:
            self._context.dispatch(rows)
            self._context.signals.changed(record.id)
            if handed is not None:
                self._context.signals.resume(handed)
            if record.on_expire is OnExpire.CANCEL and record.run_id:
                self._context.signals.stop((record.agent, record.thread_id))
        return len(results)

    def _due(self, tx: Tx, limit: int) -> list[tuple[Interaction, list[Row], Handed | None]]:
        return [
            self._one(tx, interaction_in(row)) for row in tx.all(interactions.DUE, now=tx.now, limit=limit)
        ]

    def _one(self, tx: Tx, record: Interaction) -> tuple[Interaction, list[Row], Handed | None]:
        if record.expires_at is None or tx.now < record.expires_at:
            return record, self._remind(tx, record), None
        if stays_open(record):
            tx.run(interactions.OVERDUE, key=record.id, at=tx.now)
            audit.add(tx, record.id, "overdue")
            return record, [], None
        return self._expire(tx, record)

    def _remind(self, tx: Tx, record: Interaction) -> list[Row]:
        tx.run(interactions.NEXT_AT, key=record.id, at=next_action(record, tx.now))
        asked = {
            (row["provider"], row["place"]): row
            for row in tx.all(deliveries.OF, interaction_id=record.id)
            if row["kind"] == "question" and row["status"] == "sent" and row["provider"] != FORM
        }
        return [
            self._context.outbox.question(
                tx, record, address_in(row | {"id": row["address_id"]}), MessageKind.REMINDER
            )
            for row in asked.values()
        ]

    def _expire(self, tx: Tx, record: Interaction) -> tuple[Interaction, list[Row], Handed | None]:
        answer = None if record.on_expire is OnExpire.CANCEL else silence(record, tx.now)
        if not interactions.close(tx, record, InteractionStatus.EXPIRED, "nobody answered in time", answer):
            return record, [], None
        audit.add(tx, record.id, "expired")
        rows = self._context.outbox.outcomes(tx, record)
        if record.on_expire is OnExpire.CANCEL and record.run_id:
            rows += cancel_run(tx, self._context, record.run_id, "nobody answered in time")
        closed = replace(record, status=InteractionStatus.EXPIRED, answer=answer)
        resumes = answer is not None and bool(record.interrupt_id)
        return record, rows, hand_over(tx, self._context, closed) if resumes else None


def silence(record: Interaction, now: int) -> Answer:
    """What the agent is resumed with when nobody answered (law 6: never an approval that nobody set)."""
    values = {}
    if record.on_expire is OnExpire.DEFAULT:
        values = validate_response(record.questions, record.default)
    return Answer(
        values=values,
        at=now,
        expired=True,
        default_used=record.on_expire is OnExpire.DEFAULT,
        no_response=record.on_expire is OnExpire.NO_RESPONSE,
        via="deadline",
    )
