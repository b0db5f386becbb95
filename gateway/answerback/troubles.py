"""troubles: what follows when a message was not taken: later, elsewhere, or not at all."""

import logging
from dataclasses import dataclass
from functools import partial

from answerback import failing, outbox, receipts
from answerback.backoff import AWAY, pause
from answerback.context import Context
from answerback.errors import Moved, TryLater, Undeliverable
from answerback.metrics import Metric
from answerback.model import MessageKind, OnError
from answerback.outages import Outages
from answerback.outbox import Follows
from answerback.standing import StandIn
from answerback.store import Row, Tx, claimed, contacts, deliveries, places
from answerback.succession import apart, gave_up, next_address

log = logging.getLogger("answerback.deliver")
GIVE_UP = 20  # attempts, when the plugin itself raises
FALL_BACK_AFTER = 2  # temporary failures until the next provider is asked as well
FALL_BACK_WAIT = 60.0  # seconds: a wait that is longer than this is a reason to do so at once
UNSURE = outbox.UNSURE / 1e6  # seconds before a message that may have arrived is sent again


@dataclass(frozen=True, slots=True)
class Trouble:
    """Why a message was not taken. `unsure`: it may have been. `away`: the service is, not the plugin."""

    why: str
    seconds: float = 0.0
    unsure: bool = False
    away: bool = False


class Troubles:
    """Writes down what went wrong with a delivery, and what is done about it."""

    def __init__(self, context: Context, outages: Outages) -> None:
        self._context, self._outages = context, outages

    async def met(self, row: Row, error: BaseException) -> None:
        """What sending it has raised."""
        if isinstance(error, Moved):
            await self._moved(row, error.external_id)
        elif isinstance(error, Undeliverable):
            self._counted(row, "failed")
            self._outages.over(row["provider"])
            await self._give_up(row, error)
        elif isinstance(error, TryLater):
            await self.again(row, Trouble(error.reason, error.seconds, error.maybe_sent, away=True))
        elif isinstance(error, TimeoutError):
            await self.again(row, Trouble("no answer from the service", unsure=True, away=True))
        elif isinstance(error, OSError):
            await self.again(row, Trouble("the service cannot be reached", unsure=True, away=True))
        else:
            log.error("the provider %s raised %s", row["provider"], type(error).__name__, exc_info=error)
            await self.again(row, Trouble(f"{type(error).__name__} in the provider"))

    async def lost(self, row: Row) -> None:
        """Its account was taken from its person after it was made: it is not sent there.

        What asked goes on elsewhere since that moment. What was to tell them something goes there now.
        """

        def tx_(tx: Tx) -> Follows:
            if not claimed.failed(tx, row, deliveries.NEEDLESS) or not row["notice_id"]:
                return Follows()
            return Follows(next_address(self._context.outbox, tx, row))

        self._context.follow(await self._context.store.write(tx_))

    async def _moved(self, row: Row, place: str) -> None:
        def tx_(tx: Tx) -> None:
            places.move(tx, row["provider"], row["place"], place)
            tx.run(claimed.MOVE, **claimed.claim_of(row), new_place=place, at=tx.now)

        await self._context.store.write(tx_)
        self._context.signals.rearm()

    async def _give_up(self, row: Row, error: Undeliverable) -> None:
        def tx_(tx: Tx) -> Follows:
            failing.hold_asker(tx, row)
            if not claimed.failed(tx, row, error.reason):
                return Follows()
            if self._fails(row):
                return failing.failed(tx, self._context, row, error.reason)
            follows = receipts.given_up(tx, self._context.outbox, row, error.reason, dead=error.address_dead)
            follows.rows = follows.rows or self._said_at_home(tx, row)
            return follows

        log.warning("not deliverable on %s: %s", row["provider"], error.reason)
        self._context.follow(await self._context.store.write(tx_))

    def _said_at_home(self, tx: Tx, row: Row) -> list[Row]:
        """What was only for its person's eyes, and did not reach them alone: the group says how it can."""
        home, person = places.home(tx, row), contacts.person(tx, row["contact_id"])
        if home == row["place"] or person is None:
            return []
        there = row | {"place": home}
        return [self._context.outbox.conversation(tx, there, "press_start", {"who": person.name})]

    async def again(self, row: Row, trouble: Trouble) -> None:
        """A service that is away is waited for, for days; a plugin that raises is given up after a while.

        What may have arrived is asked nowhere else for a minute: a receipt that comes meanwhile ends it.
        """
        self._counted(row, "unknown" if trouble.unsure else "later")
        status = "unknown" if trouble.unsure else "failed"
        wait = max(trouble.seconds, UNSURE if trouble.unsure else 0, pause(row["attempts"]))
        fall_back = row["attempts"] == FALL_BACK_AFTER or (row["attempts"] == 1 and wait > FALL_BACK_WAIT)
        stand_in = self._stand_in(row)
        if stand_in is not None and stand_in.on_error is not OnError.RETRY:
            fall_back = False  # nobody is asked beside it

        def tx_(tx: Tx) -> Follows:
            outbox = self._context.outbox
            tx.afterwards.append(partial(self._outages.met, row["provider"], trouble.why, tx.now))
            over = _is_over(tx, row, trouble, stand_in)
            if over or fall_back or trouble.unsure:  # somebody else may be asked
                failing.hold_asker(tx, row)
            if over:
                if not claimed.failed(tx, row, trouble.why, status=status):
                    return Follows()
                if self._fails(row):
                    return failing.failed(tx, self._context, row, trouble.why)
                return gave_up(outbox, tx, row, unsure=trouble.unsure)
            later = tx.now + round(wait * 1e6)
            if not claimed.postpone(tx, row, later, trouble.why):
                return Follows()  # a receipt has said by now that it arrived, or somebody else is at it
            unsure, away = trouble.unsure, trouble.away
            rows = next_address(outbox, tx, row, elsewhere=away, unsure=unsure) if fall_back else []
            if unsure:
                at = apart(outbox, tx, row, later)
                claimed.postpone(tx, row, at, trouble.why)
            return Follows(rows)

        self._context.follow(await self._context.store.write(tx_))
        self._context.signals.rearm()

    def _stand_in(self, row: Row) -> StandIn | None:
        """The stand-in that a delivery asks; None: it asks a person, or nothing."""
        asks = row["kind"] == MessageKind.QUESTION
        return self._context.outbox.stand_ins.known.get(row["provider"]) if asks else None

    def _fails(self, row: Row) -> bool:
        stand_in = self._stand_in(row)
        return stand_in is not None and stand_in.on_error is OnError.FAIL

    def _counted(self, row: Row, result: str) -> None:
        self._context.metrics.count(Metric.DELIVERIES, row["provider"], row["kind"], result)


def _is_over(tx: Tx, row: Row, trouble: Trouble, stand_in: StandIn | None) -> bool:
    """Whether it is not tried again."""
    if stand_in is not None and stand_in.attempts is not None:
        return bool(row["attempts"] >= stand_in.attempts)
    return bool(tx.now - row["created_at"] > AWAY if trouble.away else row["attempts"] >= GIVE_UP)
