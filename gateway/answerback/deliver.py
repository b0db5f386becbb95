"""deliver: takes due deliveries, sends each through its provider, and records what happened."""

import asyncio
import contextlib
import logging
import weakref
from collections import Counter
from collections.abc import AsyncIterator, Mapping
from dataclasses import dataclass, replace

from answerback import instead, outbox, receipts
from answerback.background import Background
from answerback.backoff import AWAY, pause
from answerback.callbacks import Callbacks
from answerback.context import Context
from answerback.errors import Moved, StoreUnavailable, TryLater, Undeliverable
from answerback.loaded import load, needless, remembered
from answerback.metrics import Metric
from answerback.model import MessageKind
from answerback.outbox import CALLER, Follows
from answerback.provider import Message, Provider, Sent
from answerback.store import Row, Tx, contacts, deliveries, places
from answerback.succession import apart, gave_up, next_address
from answerback.wording import Sheet, compose, is_private

log = logging.getLogger("answerback.deliver")
AT_ONCE = 16  # messages under way on one provider
AT_ONCE_PLACE = 2  # and to one place on it
AT_ONCE_CALLED = 64  # calls of receivers, which have nothing in common
CROWD = 32  # calls of one receiver that wait here for their turn; more of them wait in their rows
CROWDED = 60.0  # seconds that these wait
TIMEOUT = 30.0  # seconds for one call
GIVE_UP = 20  # attempts, when the plugin itself raises
FALL_BACK_AFTER = 2  # temporary failures until the next provider is asked as well
FALL_BACK_WAIT = 60.0  # seconds: a wait that is longer than this is a reason to do so at once
# That they were sent may be written with the next commit: whatever is written after it finds it done.
SOON = (MessageKind.QUESTION, MessageKind.OUTCOME, MessageKind.NOTICE)
UNSURE = outbox.UNSURE / 1e6  # seconds before a message that may have arrived is sent again


@dataclass(frozen=True, slots=True)
class _Trouble:
    """Why a message was not taken. `unsure`: it may have been. `away`: the service is, not the plugin."""

    why: str
    seconds: float = 0.0
    unsure: bool = False
    away: bool = False


class Deliverer(Background):
    """The outbox's worker: one semaphore a provider, so that a hanging one delays nobody else."""

    def __init__(
        self, context: Context, providers: Mapping[str, Provider], callbacks: Callbacks | None = None
    ) -> None:
        super().__init__()
        self._context, self._providers, self._callbacks = context, providers, callbacks
        self.beat = deliveries.LEASE / 3e6  # seconds between two renewals of a claim, while a stand-in thinks
        self._gates = {name: asyncio.Semaphore(AT_ONCE) for name in providers}
        self._waiting: Counter[str] = Counter()  # calls by receiver
        self._gates[CALLER] = asyncio.Semaphore(AT_ONCE_CALLED)
        self._places: weakref.WeakValueDictionary[tuple[str, str], asyncio.Semaphore] = (
            weakref.WeakValueDictionary()
        )

    def take(self, rows: list[Row]) -> None:
        """Send deliveries that this process has already claimed."""
        for row in rows:
            self._spawn(self._deliver(row))

    async def pump(self, limit: int = 100) -> int:
        """Claim what is due and send it; how many were claimed."""
        rows = await self._context.store.write(lambda tx: self._context.outbox.claim(tx, limit))
        self.take(rows)
        return len(rows)

    async def _deliver(self, row: Row) -> None:
        provider = self._providers.get(row["provider"])
        try:
            if row["provider"] == CALLER and self._callbacks is not None:
                await self._in_turn(self._callbacks, row)
                return
            if provider is None:
                # Another process may have it. When none took it within a minute, the next provider asks.
                why = f"the provider {row['provider']} is not configured here"
                await self._again(row, _Trouble(why, FALL_BACK_WAIT, away=True))
                return
            place = self._place(row)
            async with place, self._gates[row["provider"]]:
                await self._attempt(provider, row)
        except StoreUnavailable as error:  # the claim lapses, and then it is tried again
            log.warning("a delivery has to wait: %s", error, extra={"delivery": row["id"]})
        except Exception as error:
            log.exception("deliver failed", extra={"delivery": row["id"]})
            with contextlib.suppress(StoreUnavailable):  # then the claim lapses, and it is tried again
                await self._again(row, _Trouble(f"{type(error).__name__} while sending"))

    def _place(self, row: Row) -> asyncio.Semaphore:
        """Narrower than the provider's gate: one person whose messages hang does not fill that."""
        key = row["provider"], row["place"]
        return self._places.setdefault(key, asyncio.Semaphore(AT_ONCE_PLACE))

    async def _is_still_ours(self, row: Row, now: int) -> bool:
        """A claim may lapse in the queue of a slow provider; one that is about to is made to last."""
        if row["next_attempt_at"] - now > deliveries.LEASE // 2:
            return True
        owner = self._context.owner
        return await self._context.store.write(lambda tx: deliveries.keep(tx, row, owner))

    async def _attempt(self, provider: Provider, row: Row) -> None:
        loaded = remembered(row)
        if loaded is None:
            loaded = await self._context.store.read(lambda tx: load(tx, self._context, row))
        if not await self._is_still_ours(row, loaded.told.now):
            return  # whoever took it over sends it
        if loaded.record is not None and not loaded.record.readable:
            await self._context.store.write(
                lambda tx: deliveries.failed(tx, row, "its record cannot be read")
            )
            return
        if loaded.needless or needless(row, loaded.record):
            await self._context.store.write(lambda tx: deliveries.failed(tx, row, deliveries.NEEDLESS))
            return
        alone = provider.alone(row["external_id"], row["place"])
        shared = alone != row["place"]
        if shared and is_private(row, loaded.record):
            row, shared = await self._privately(row, alone), False
        sheet = Sheet(row, loaded.record, loaded.told, self._context.tokens, provider.max_choices, shared)
        message = compose(sheet, loaded.thread)
        if provider.windowed:
            message = await self._dated(row, message)
        if loaded.record is not None:
            message = instead.with_questions(self._context, loaded.record, message, loaded.told.now)
        self._context.faults.reach("deliver.before-send")
        try:
            async with asyncio.timeout(provider.patience):
                if provider.patience > Provider.patience:
                    async with self._held(row):
                        sent = await self._send(provider, row, message, loaded.thread)
                else:
                    sent = await self._send(provider, row, message, loaded.thread)
        except (Exception, SystemExit) as error:  # user code may be a script, and end itself
            await self._problem(row, error)
            return
        self._context.faults.reach("deliver.after-send")
        self._counted(row, "sent")
        await self._record(row | {"begun_at": loaded.told.now}, sent)

    async def _record(self, row: Row, sent: Sent) -> None:
        """Write down that it was sent, and what a stand-in answered with it."""
        store, ids = self._context.store, sent.message_ids
        if (sent.replies or sent.declined) and row["provider"] in self._context.outbox.stand_ins.known:
            done = await store.write(lambda tx: instead.answered(tx, self._context, row, sent))
            self._context.faults.reach("deliver.after-commit")
            instead.follow(self._context, done)
        elif row["kind"] in SOON:
            store.write_soon(lambda tx: self._sent(tx, row, ids), self._after_commit)
        else:
            self._after_commit(await store.write(lambda tx: self._sent(tx, row, ids)))

    def _after_commit(self, follows: Follows) -> None:
        self._context.faults.reach("deliver.after-commit")
        self._context.follow(follows)

    def _counted(self, row: Row, result: str) -> None:
        self._context.metrics.count(Metric.DELIVERIES, row["provider"], row["kind"], result)

    async def _in_turn(self, callbacks: Callbacks, row: Row) -> None:
        """A receiver that hangs fills neither the gate nor, with thousands of calls, the memory."""
        place = row["place"]
        if self._waiting[place] >= CROWD:
            await self._later(row)
            return
        self._waiting[place] += 1
        try:
            async with self._place(row), self._gates[CALLER]:
                await self._call_back(callbacks, row)
        finally:
            self._waiting[place] -= 1
            if not self._waiting[place]:
                del self._waiting[place]

    async def _later(self, row: Row) -> None:
        """Let a call wait in its row: its receiver is slow."""
        why = "its receiver is slow: it waits for its turn"
        await self._context.store.write(
            lambda tx: tx.run(deliveries.POSTPONE, key=row["id"], at=tx.now + round(CROWDED * 1e6), why=why)
        )
        self._context.signals.rearm()

    async def _call_back(self, callbacks: Callbacks, row: Row) -> None:
        """Post the end of an interaction to whoever asked."""
        event = await self._context.store.read(lambda tx: callbacks.event(tx, row))
        if event is None:
            await self._context.store.write(lambda tx: deliveries.failed(tx, row, deliveries.NEEDLESS))
            return
        if not await self._is_still_ours(row, event.now):
            return
        self._context.faults.reach("deliver.before-send")
        try:
            async with asyncio.timeout(TIMEOUT):
                await callbacks.post(event)
        except Exception as error:
            await self._problem(row, error)
            return
        self._context.faults.reach("deliver.after-send")
        await self._context.store.write(lambda tx: self._sent(tx, row, ()))
        self._context.faults.reach("deliver.after-commit")

    async def _privately(self, row: Row, place: str) -> Row:
        """What only its own person may see goes to the place where only they read."""
        await self._context.store.write(lambda tx: tx.run(deliveries.AT, key=row["id"], new_place=place))
        return row | {"place": place}

    async def _dated(self, row: Row, message: Message) -> Message:
        """The message with when its receiver last wrote, where a service takes free text for a while only."""
        at = await self._context.store.read(lambda tx: contacts.last_wrote(tx, row["address_id"]))
        return replace(message, to=replace(message.to, last_inbound_at=at))

    async def _send(self, provider: Provider, row: Row, message: Message, thread: tuple[str, ...]) -> Sent:
        if row["kind"] == MessageKind.OUTCOME and thread and type(provider).can("update"):
            try:
                await provider.update(message.to, thread[0], message)
                return Sent()
            except Undeliverable:  # it was deleted, or is too old: say it in a message of its own
                log.info("a copy could not be edited", extra={"delivery": row["id"]})
        return await provider.send(message)

    @contextlib.asynccontextmanager
    async def _held(self, row: Row) -> AsyncIterator[None]:
        """Make the claim last where a stand-in may take longer to answer than a claim lasts."""
        keeping = asyncio.create_task(self._keep(row))
        try:
            yield
        finally:
            keeping.cancel()

    async def _keep(self, row: Row) -> None:
        owner, held = self._context.owner, dict(row)
        while held["next_attempt_at"] is not None:
            await asyncio.sleep(self.beat)

            def tx_(tx: Tx) -> int | None:
                return tx.now + deliveries.LEASE if deliveries.keep(tx, held, owner) else None

            with contextlib.suppress(StoreUnavailable):
                held["next_attempt_at"] = await self._context.store.write(tx_)

    def _sent(self, tx: Tx, row: Row, ids: tuple[str, ...]) -> Follows:
        return receipts.sent(tx, self._context.outbox, row, ids)

    async def _problem(self, row: Row, error: BaseException) -> None:
        if isinstance(error, Moved):
            await self._moved(row, error.external_id)
        elif isinstance(error, Undeliverable):
            self._counted(row, "failed")
            await self._give_up(row, error)
        elif isinstance(error, TryLater):
            await self._again(row, _Trouble(error.reason, error.seconds, error.maybe_sent, away=True))
        elif isinstance(error, TimeoutError):
            await self._again(row, _Trouble("no answer from the service", unsure=True, away=True))
        elif isinstance(error, OSError):
            await self._again(row, _Trouble("the service cannot be reached", unsure=True, away=True))
        else:
            log.error("the provider %s raised %s", row["provider"], type(error).__name__, exc_info=error)
            await self._again(row, _Trouble(f"{type(error).__name__} in the provider"))

    async def _moved(self, row: Row, place: str) -> None:
        def tx_(tx: Tx) -> None:
            places.move(tx, row["provider"], row["place"], place)
            tx.run(deliveries.MOVE, key=row["id"], new_place=place, at=tx.now)

        await self._context.store.write(tx_)
        self._context.signals.rearm()

    async def _give_up(self, row: Row, error: Undeliverable) -> None:
        def tx_(tx: Tx) -> Follows:
            if not deliveries.failed(tx, row, error.reason):
                return Follows()
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

    async def _again(self, row: Row, trouble: _Trouble) -> None:
        """A service that is away is waited for, for days; a plugin that raises is given up after a while.

        What may have arrived is asked nowhere else for a minute: a receipt that comes meanwhile ends it.
        """
        self._counted(row, "unknown" if trouble.unsure else "later")
        status = "unknown" if trouble.unsure else "failed"
        wait = max(trouble.seconds, UNSURE if trouble.unsure else 0, pause(row["attempts"]))
        fall_back = row["attempts"] == FALL_BACK_AFTER or (row["attempts"] == 1 and wait > FALL_BACK_WAIT)

        def tx_(tx: Tx) -> Follows:
            outbox, waited = self._context.outbox, tx.now - row["created_at"]
            if (waited > AWAY) if trouble.away else (row["attempts"] >= GIVE_UP):
                gone = deliveries.failed(tx, row, trouble.why, status=status)
                return gave_up(outbox, tx, row, unsure=trouble.unsure) if gone else Follows()
            later = tx.now + round(wait * 1e6)
            waits = tx.run(deliveries.POSTPONE, key=row["id"], at=later, why=trouble.why)
            if not waits:  # a receipt has said by now that it arrived
                return Follows()
            unsure, away = trouble.unsure, trouble.away
            rows = next_address(outbox, tx, row, elsewhere=away, unsure=unsure) if fall_back else []
            if unsure:
                at = apart(outbox, tx, row, later)
                tx.run(deliveries.POSTPONE, key=row["id"], at=at, why=trouble.why)
            return Follows(rows)

        self._context.follow(await self._context.store.write(tx_))
        self._context.signals.rearm()
