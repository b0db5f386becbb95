"""letters: what was given up, with its reason; replayed when its cause is mended, or discarded."""

from dataclasses import dataclass

from answerback.closing import cancel_run
from answerback.context import Context
from answerback.elapse import unreadable
from answerback.errors import Conflict, NotFound
from answerback.model import GONE, InteractionStatus
from answerback.paging import Page, page_of
from answerback.replay import GONE_BY, Replay, noted
from answerback.store import Row, Tx, interactions, leases, runs, stops
from answerback.store import letters as table
from answerback.store.letters import Kind

__all__ = ["Kind", "Letter", "Letters"]

UNKNOWN = "There is no dead letter with this id."
MANY = 100  # of each kind: how far they are counted
SUBJECTS = {
    "question": "A question",
    "reminder": "A reminder",
    "outcome": "How a question ended",
    "conversation": "What a person was told about a reply",
    "notice": "A notice",
    "callback": "How a question ended, for its asker,",
}


@dataclass(frozen=True, slots=True)
class Letter:
    """A dead letter. Its id is that of what was given up; `reason` and `remedy` are sentences."""

    id: str
    kind: Kind
    reason: str
    remedy: str
    at: int
    agent: str = ""
    run_id: str = ""
    interaction_id: str = ""
    provider: str = ""
    contact: str = ""


class Letters:
    """Lists, shows, replays and discards."""

    def __init__(self, context: Context, replay: Replay) -> None:
        self._context = context
        self._replay = {
            Kind.DELIVERY: replay.delivery,
            Kind.REPLY: replay.reply,
            Kind.ANSWER: replay.answer,
            Kind.RUN: replay.run,
            Kind.INTERACTION: replay.interaction,
            Kind.STOP: replay.stop,
        }

    async def list(self, kind: Kind | None = None, limit: int = 50, after: str | None = None) -> Page[Letter]:
        """Of one kind or of all, oldest first."""
        found = await self._context.store.read(lambda tx: table.page(tx, kind, limit, after or ""))
        return page_of([_letter(kind, row) for kind, row in found], limit)

    async def count(self) -> int:
        """How many there are; of each kind not more than 100 are counted."""
        return await self._context.store.read(lambda tx: table.count(tx, MANY))

    async def get(self, id: str) -> Letter:
        """A letter, or `NotFound`. A damaged question is one from the moment that it is asked for."""
        return await self._context.store.read(lambda tx: _letter(*_found(tx, id)))

    async def replay(self, id: str, by: str) -> str:
        """Try it again; what happens now, in a sentence. Raises `NotFound`, `Conflict`."""
        letter = await self.get(id)
        return await self._replay[letter.kind](id, by)

    async def discard(self, id: str, by: str) -> str:
        """Take it off the list for good; a run that cannot go on without it is cancelled.

        Raises `NotFound`; `Conflict` when somebody else has dealt with it at the same moment.
        """

        def tx_(tx: Tx) -> tuple[Row, list[Row], Row | None]:
            kind, row, run = _held(tx, id)
            if kind is Kind.INTERACTION:
                record = interactions.get(tx, id)
                assert record is not None
                unreadable(tx, self._context, record)
            if kind is Kind.STOP:
                stops.forget(tx, id)
            table.done(tx, id, "discarded", by)
            noted(tx, row["interaction_id"] or id, by, "discarded")
            if run is None or not _is_held_up(run, kind, row):
                return row, [], None
            reason = f"Discarded. {_letter(kind, row).reason}"
            return row, cancel_run(tx, self._context, run["id"], reason), run

        row, rows, run = await self._context.store.write(tx_)
        self._context.dispatch(rows)
        if row["interaction_id"]:
            self._context.signals.changed(row["interaction_id"])
        if run is None:
            return "It is off the list."
        self._context.signals.stop((run["agent"], run["thread_id"]))
        return "It is off the list, and its run, which cannot go on without it, is cancelled."


def _found(tx: Tx, id: str) -> tuple[Kind, Row]:
    """What was given up under this id. A damaged question without a deadline is known by its id only."""
    found = table.find(tx, id)
    if found is not None:
        return found
    record = interactions.get(tx, id)
    if record is None or record.readable or record.status is not InteractionStatus.PENDING:
        raise NotFound(UNKNOWN)
    named = {"agent": record.agent, "run_id": record.run_id, "interaction_id": id}
    return Kind.INTERACTION, {"id": id, "at": record.created_at, "provider": "", "contact_id": "", **named}


def _held(tx: Tx, id: str) -> tuple[Kind, Row, Row | None]:
    """The same with its run, which nobody else deals with until the commit; of two at once one is refused."""
    kind, row = _found(tx, id)
    run = tx.one(runs.GET, id=row["run_id"]) if row["run_id"] else None
    if run is not None:  # in the order of who answers, and of who tries the run again
        interactions.hold_asked(tx, run["agent"], run["thread_id"])
        leases.hold(tx, run["agent"], run["thread_id"])
    table.still(tx, kind, id)
    try:
        return *_found(tx, id), run
    except NotFound:
        raise Conflict(GONE_BY) from None


def _letter(kind: Kind, row: Row) -> Letter:
    reason, remedy = _SAID[kind](row)
    named = {name: row[name] for name in ("agent", "run_id", "interaction_id", "provider")}
    return Letter(row["id"], kind, reason, remedy, row["at"], contact=row["contact_id"], **named)


def _of_delivery(row: Row) -> tuple[str, str]:
    what, where, why = SUBJECTS[row["subject"]], row["provider"], _why(row)
    if row["state"] == "unknown":
        return f"{what} may or may not have arrived on {where}: {why}.", "Replayed, it may arrive twice."
    return f"{what} could not be sent on {where}: {why}.", "Replayed, it is sent again."


def _of_reply(row: Row) -> tuple[str, str]:
    reason = f"An event from {row['provider']} could not be handled: {_why(row)}."
    return reason, "Replayed, it is read again, as of when it came in."


def _of_answer(row: Row) -> tuple[str, str]:
    reason = f"An answer could not be given to {row['agent']}: {_why(row)}."
    if row["error"] == GONE:
        return reason, "It can only be discarded."
    return reason, "Replayed, it is given to the same question again, and to no other."


def _of_run(row: Row) -> tuple[str, str]:
    return f"{row['agent']} failed: {_why(row)}.", "Replayed, the failed step is tried again."


def _of_interaction(row: Row) -> tuple[str, str]:
    reason = "The record of a question is damaged: nobody can be shown it, and nobody can answer it."
    if row["run_id"]:
        return reason, "Replayed, it is asked anew, as its agent has it."
    return reason, "Whoever asked it has to ask again. Discard it."


def _of_stop(row: Row) -> tuple[str, str]:
    _, why = stops.parted(row["error"])
    reason = f"{row['agent']} was not told that its run is cancelled, and may work on: {_ended(why)}."
    return reason, "Replayed, it is told again, unless another run has its thread by then."


_SAID = {
    Kind.DELIVERY: _of_delivery,
    Kind.REPLY: _of_reply,
    Kind.ANSWER: _of_answer,
    Kind.RUN: _of_run,
    Kind.INTERACTION: _of_interaction,
    Kind.STOP: _of_stop,
}


def _why(row: Row) -> str:
    return _ended(str(row["error"]))


def _ended(why: str) -> str:
    return why.strip().rstrip(".") or "no reason was given"


def _is_held_up(run: Row, kind: Kind, row: Row) -> bool:
    """Whether a run has come to its end because of this, and waits for nothing else."""
    if kind is Kind.DELIVERY:
        return False  # it can still be answered, in another way
    if kind is Kind.ANSWER and row["error"] == GONE:
        return GONE in run["error"]  # otherwise its agent went on without it
    return run["status"] in ("running", "waiting", "failed")
