"""elapse: what time does to a pending question: reminders, and the deadline's outcome."""

import asyncio
import logging
from collections.abc import Callable
from dataclasses import dataclass, field, replace

from answerback import snoozed, succession
from answerback.closing import cancel_run
from answerback.context import Context
from answerback.deadlines import check_default
from answerback.errors import DoesNotFit, StoreUnavailable
from answerback.model import Answer, Interaction, InteractionStatus, MessageKind, OnExpire
from answerback.outbox import FORM, SHOWN
from answerback.read import validate_response
from answerback.signals import Handed
from answerback.steps import step_of
from answerback.store import Row, Tx, audit, deliveries, interactions, restored
from answerback.store.codec import address_in, answer_out, loads
from answerback.store.restored import Restored
from answerback.threads import hand_over
from answerback.times import next_action, reminders, stand_ins_at, stays_open

log = logging.getLogger("answerback.elapse")
HOUR = 3_600_000_000  # microseconds


@dataclass(frozen=True, slots=True)
class Due:
    """What was due of a question, and what follows after the commit; `stops`: its run was cancelled."""

    record: Interaction
    rows: list[Row] = field(default_factory=list)
    handed: Handed | None = None
    stops: bool = False


class Elapser:
    """Acts on what fell due. `pump` is called at start only after intake has been drained once."""

    def __init__(self, context: Context) -> None:
        self._context = context

    async def pump(self, limit: int = 200) -> int:
        """Handle due interactions, each in a transaction of its own; how many there were."""
        store = self._context.store
        due = await store.read(
            lambda tx: [row["id"] for row in tx.all(interactions.DUE, now=tx.now, limit=limit)]
        )
        results = await asyncio.gather(*(store.write(self._of(id)) for id in due), return_exceptions=True)
        self._context.faults.reach("elapse.after-commit")
        for id, result in zip(due, results, strict=True):
            if isinstance(result, Due):
                self._follow(result)
            elif isinstance(result, BaseException):
                await self._set_aside(id, result)
        return len(due)

    def _follow(self, due: Due) -> None:
        self._context.dispatch(due.rows)
        self._context.signals.changed(due.record.id)
        if due.handed is not None:
            self._context.signals.resume(due.handed)
        if due.stops:
            self._context.signals.stop((due.record.agent, due.record.thread_id))

    async def _set_aside(self, id: str, error: BaseException) -> None:
        """One that cannot be handled is looked at again in an hour, and stops no other meanwhile."""
        if isinstance(error, StoreUnavailable):
            raise error
        log.error("a deadline could not be handled", exc_info=error, extra={"interaction": id})
        await self._context.store.write(lambda tx: tx.run(interactions.NEXT_AT, key=id, at=tx.now + HOUR))

    def _of(self, id: str) -> Callable[[Tx], Due | None]:
        def tx_(tx: Tx) -> Due | None:
            record = interactions.held(tx, id)
            still = record is not None and record.status is InteractionStatus.PENDING
            return self._one(tx, record) if record is not None and still else None

        return tx_

    def _one(self, tx: Tx, record: Interaction) -> Due:
        if not record.readable:
            return Due(unreadable(tx, self._context, record))
        if record.expires_at is None or tx.now < record.expires_at or record.overdue_at is not None:
            return Due(record, self._due(tx, record))
        record = self._with_default(tx, record)
        if stays_open(record):
            overdue = replace(record, overdue_at=tx.now)
            tx.run(interactions.OVERDUE, key=record.id, at=tx.now, again_at=next_action(overdue, tx.now))
            audit.add(tx, record.id, "overdue")
            return Due(record)
        return self._expire(tx, record)

    def _with_default(self, tx: Tx, record: Interaction) -> Interaction:
        """A default that does not fit, or may not count any more, is none: then it ends as with `auto`."""
        if record.on_expire is not OnExpire.DEFAULT:
            return record
        try:
            may_approve = self._context.settings.hitl.may_approve
            check_default(record.questions, record.default, may_approve=may_approve)
        except DoesNotFit:
            without = replace(record, on_expire=OnExpire.AUTO, default=None)
            closes_at = None if stays_open(without) else record.expires_at
            tx.run(interactions.FALL_BACK, key=record.id, closes_at_=closes_at)
            audit.add(tx, record.id, "default not usable")
            return without
        return record

    def _due(self, tx: Tx, record: Interaction) -> list[Row]:
        """The reminder or the stand-in whose time it is; of several that were missed, the last reminder."""
        tx.run(interactions.NEXT_AT, key=record.id, at=next_action(record, tx.now))
        instead = stand_ins_at(record) if record.overdue_at is None else None
        is_time = instead is not None and instead <= tx.now
        rows = succession.stand_in(self._context.outbox, tx, record, first=True) if is_time else []
        until = tx.now if record.expires_at is None else min(tx.now, record.expires_at - 1)
        past = [at for at in reminders(record) if at <= until]
        back = restored.last(tx)
        past += [back.since] if back is not None and restored.lost_since(back, record.created_at) else []
        again = [at for at in snoozed.times(record.route) if at <= tx.now]
        if rows and instead is not None and max(past + again, default=0) < instead:
            return rows
        rows += self._remind(tx, record, max(past, default=0) if again else tx.now, back)
        if again:
            record = replace(record, route=snoozed.awake(record.route, tx.now))
            interactions.again(tx, record, next_action(record, tx.now))
        return rows

    def _remind(self, tx: Tx, record: Interaction, due: int, back: Restored | None) -> list[Row]:
        """Ask again: everybody, unless that was done since it was `due`; and who wanted it now.

        Whoever was asked before the database was put `back` is told that, once.
        """
        found = tx.all(deliveries.OF, interaction_id=record.id)
        again = {(row["provider"], row["place"]): row["created_at"] for row in found if _reminds(row)}
        latest = max(again.values(), default=0)
        asked = {
            (row["provider"], row["place"]): row
            for row in found
            if row["kind"] == "question" and row["status"] in SHOWN and row["open"]
            if row["provider"] != FORM and row["provider"] not in self._context.outbox.stand_ins.known
            if not snoozed.sleeps(record.route, row, tx.now)
            if due > latest or snoozed.is_due(record.route, row, tx.now)
        }
        return [
            self._context.outbox.question(
                tx,
                record,
                address_in(row | {"id": row["address_id"]}),
                MessageKind.REMINDER,
                step=step_of(row, record),
                lost_since=restored.lost_since(back, max(row["created_at"], again.get(place, 0))),
            )
            for place, row in asked.items()
        ]

    def _expire(self, tx: Tx, record: Interaction) -> Due:
        answer = None if record.on_expire is OnExpire.CANCEL else silence(record, tx.now)
        if not interactions.close(tx, record, InteractionStatus.EXPIRED, "nobody answered in time", answer):
            return Due(record)
        audit.add(tx, record.id, "expired", content=answer_out(answer) if answer is not None else "")
        rows = self._context.outbox.outcomes(tx, record)
        stops = record.on_expire is OnExpire.CANCEL and bool(record.run_id)
        if stops:
            rows += cancel_run(tx, self._context, record.run_id, "nobody answered in time")
        closed = replace(record, status=InteractionStatus.EXPIRED, answer=answer)
        resumes = answer is not None and bool(record.interrupt_id)
        return Due(record, rows, hand_over(tx, self._context, closed) if resumes else None, stops)


def _reminds(row: Row) -> bool:
    """Whether everybody's reminder, not what one of them wanted to see once more."""
    return bool(row["kind"] == "reminder") and not loads(row["content"]).get("wanted")


def unreadable(tx: Tx, context: Context, record: Interaction) -> Interaction:
    """Set a damaged record aside: nobody can answer it any more, and its reason stands in it."""
    closed = interactions.close(tx, record, InteractionStatus.CANCELLED, "its record cannot be read")
    deliveries.shut(tx, record.id)
    if closed:
        audit.add(tx, record.id, "set aside")
        context.outbox.callback(tx, record)  # found by the next sweep
    return record


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
