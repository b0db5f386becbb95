"""deliver: takes due deliveries, sends each through its provider, and records what happened."""

import asyncio
import contextlib
import functools
import logging
from collections.abc import AsyncIterator, Callable, Mapping
from dataclasses import replace

from answerback import instead, receipts
from answerback.background import Background, Leaving
from answerback.callbacks import Callbacks
from answerback.context import Context
from answerback.errors import StoreUnavailable, Undeliverable
from answerback.gates import Gates, MakeGates, NoRoom
from answerback.loaded import load, needless, remembered
from answerback.metrics import Metric
from answerback.model import MessageKind
from answerback.outages import Outages
from answerback.outbox import CALLER, Follows
from answerback.provider import Message, Provider, Sent
from answerback.render import Room
from answerback.store import Row, Tx, claimed, contacts, deliveries, interactions
from answerback.store.engine import SOON
from answerback.troubles import FALL_BACK_WAIT, Trouble, Troubles
from answerback.wording import Sheet, compose, is_private

log = logging.getLogger("answerback.deliver")
AT_ONCE_CALLED = 64  # calls of receivers, which have nothing in common
TIMEOUT = 30.0  # seconds for one call
# That they were sent may be written with the next commit: whatever is written after it finds it done.
MAY_WAIT = (MessageKind.QUESTION, MessageKind.OUTCOME, MessageKind.NOTICE)


class Deliverer(Background):
    """The outbox's worker: gates of their own for each provider, so that a hanging one delays nobody else."""

    def __init__(
        self,
        context: Context,
        providers: Mapping[str, Provider],
        callbacks: Callbacks | None = None,
        gates: MakeGates = Gates,
    ) -> None:
        super().__init__()
        self._context, self._providers, self._callbacks = context, providers, callbacks
        self.outages = Outages()
        self._troubles = Troubles(context, self.outages)
        self.beat = deliveries.LEASE / 3e6  # seconds between two renewals of a claim, while a stand-in thinks
        self.again = 1.0  # seconds until a database that was away is tried again
        self._gates = gates({CALLER: AT_ONCE_CALLED})

    def take(self, rows: list[Row]) -> None:
        """Send deliveries that this process has already claimed; give back what finds no room here."""
        crowded = []
        for row in rows:
            if seconds := self._gates.enter(row["provider"], row["place"]):
                crowded.append((row, seconds))
            else:
                self._spawn(self._deliver(row))
        if crowded:
            self._spawn(self._give_back(crowded))

    async def pump(self, limit: int = 100) -> int:
        """Claim what is due and send it; how many were claimed."""
        rows = await self._context.store.write(lambda tx: self._context.outbox.claim(tx, limit))
        self.take(rows)
        return len(rows)

    async def _deliver(self, row: Row) -> None:
        name, place = row["provider"], row["place"]
        try:
            async with contextlib.AsyncExitStack() as stack:
                with self._in_line():
                    await stack.enter_async_context(self._gates.turn(name, place))
                await self._in_turn(row)
        except NoRoom as wait:
            await self._give_back([(row, wait.seconds)])
        except Leaving:
            await self._give_back([(row, 0)])
        except StoreUnavailable as error:  # the claim lapses, and then it is tried again
            log.warning("a delivery has to wait: %s", error, extra={"delivery": row["id"]})
        except Exception as error:
            log.exception("deliver failed", extra={"delivery": row["id"]})
            with contextlib.suppress(StoreUnavailable):  # then the claim lapses, and it is tried again
                await self._troubles.again(row, Trouble(f"{type(error).__name__} while sending"))
        finally:
            self._gates.leave(name, place)

    async def _in_turn(self, row: Row) -> None:
        provider = self._providers.get(row["provider"])
        if row["provider"] == CALLER and self._callbacks is not None:
            await self._call_back(self._callbacks, row)
        elif provider is not None:
            await self._attempt(provider, row)
        else:  # another process may have it; when none took it within a minute, the next provider asks
            why = f"the provider {row['provider']} is not configured here"
            await self._troubles.again(row, Trouble(why, FALL_BACK_WAIT, away=True))

    async def _give_back(self, crowded: list[tuple[Row, float]]) -> None:
        """Let deliveries wait in their rows; that was no attempt of theirs."""

        def tx_(tx: Tx) -> None:
            for row, seconds in crowded:
                claimed.give_back(tx, row, tx.now + round(seconds * 1e6))

        with contextlib.suppress(StoreUnavailable):  # then their claims lapse
            await self._context.store.write(tx_)
        self._context.signals.rearm()

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
            await self._context.store.write(lambda tx: claimed.failed(tx, row, "its record cannot be read"))
            return
        if loaded.needless or needless(row, loaded.record):
            await self._context.store.write(lambda tx: claimed.failed(tx, row, deliveries.NEEDLESS))
            return
        if loaded.lost:
            await self._troubles.lost(row)
            return
        alone = provider.alone(row["external_id"], row["place"])
        shared = alone != row["place"]
        if shared and is_private(row, loaded.record):
            row, shared = await self._privately(row, alone), False
        tokens, room = self._context.tokens, Room(provider.max_choices, provider.max_label)
        sheet = Sheet(row, loaded.record, loaded.told, tokens, room, shared, provider.tappable)
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
            await self._troubles.met(row, error)
            return
        self._context.faults.reach("deliver.after-send")
        self._context.metrics.count(Metric.DELIVERIES, row["provider"], row["kind"], "sent")
        self.outages.over(row["provider"])
        took = self._context.store.backend.timer() - loaded.as_of
        taken = {"taken_at": loaded.told.now + took, "taken_there": sent.sent_at}
        await self._record(row | taken, sent)

    async def _record(self, row: Row, sent: Sent) -> None:
        """Write down that it was sent, and what a stand-in answered with it."""
        store, ids = self._context.store, sent.message_ids
        if (sent.replies or sent.declined) and row["provider"] in self._context.outbox.stand_ins.known:
            done = await store.write(lambda tx: instead.answered(tx, self._context, row, sent))
            self._context.faults.reach("deliver.after-commit")
            instead.follow(self._context, done)
        elif row["kind"] in MAY_WAIT:
            self._written_soon(row, lambda tx: self._sent(tx, row, ids))
        else:
            await self._written(row, lambda tx: self._sent(tx, row, ids))

    async def _written(self, row: Row, done: Callable[[Tx], Follows]) -> None:
        try:
            self._after_commit(await self._context.store.write(done))
        except StoreUnavailable as error:
            self._insist(row, done, error)

    def _written_soon(self, row: Row, done: Callable[[Tx], Follows], within: float = SOON) -> None:
        away = functools.partial(self._insist, row, done)
        self._context.store.write_soon(done, self._after_commit, away, within)

    def _insist(self, row: Row, done: Callable[[Tx], Follows], error: StoreUnavailable) -> None:
        """Whether or not its claim lapses meanwhile, it was sent: that is written down once that can be,

        before the first reply to it. Where it never is, because this process ends first, it is sent twice.
        """
        if self._context.store.is_open:
            log.info(
                "that a message was sent is written down later: %s", error, extra={"delivery": row["id"]}
            )
            self._written_soon(row, done, self.again)

    def _after_commit(self, follows: Follows) -> None:
        self._context.faults.reach("deliver.after-commit")
        self._context.follow(follows)

    async def _call_back(self, callbacks: Callbacks, row: Row) -> None:
        """Post the end of an interaction to whoever asked."""
        event = await self._context.store.read(lambda tx: callbacks.event(tx, row))
        if event is None:
            await self._context.store.write(lambda tx: claimed.failed(tx, row, deliveries.NEEDLESS))
            return
        if not await self._is_still_ours(row, event.now):
            return
        self._context.faults.reach("deliver.before-send")
        try:
            async with asyncio.timeout(TIMEOUT):
                await callbacks.post(event)
        except Exception as error:
            await self._troubles.met(row, error)
            return
        self._context.faults.reach("deliver.after-send")
        await self._written(row, lambda tx: self._posted(tx, row))

    async def _privately(self, row: Row, place: str) -> Row:
        """What only its own person may see goes to the place where only they read."""
        claim = claimed.claim_of(row)
        await self._context.store.write(lambda tx: tx.run(claimed.AT, **claim, new_place=place))
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

    def _posted(self, tx: Tx, row: Row) -> Follows:
        """Its asker has the end, and the state that was kept for that."""
        tx.run(interactions.DROP_STATE, interaction=row["interaction_id"])
        return self._sent(tx, row, ())

    def _sent(self, tx: Tx, row: Row, ids: tuple[str, ...]) -> Follows:
        return receipts.sent(tx, self._context.outbox, row, ids)
