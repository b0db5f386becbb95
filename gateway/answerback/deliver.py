"""deliver: takes due deliveries, sends each through its provider, and records what happened."""

import asyncio
import contextlib
import logging
import time
import weakref
from collections.abc import Mapping
from dataclasses import dataclass, replace

from answerback import receipts
from answerback.background import Background
from answerback.backoff import AWAY, pause
from answerback.context import Context
from answerback.errors import Moved, StoreUnavailable, TryLater, Undeliverable
from answerback.model import Interaction, InteractionStatus, Json, MessageKind
from answerback.outbox import Known
from answerback.provider import Message, Provider
from answerback.store import Row, Tx, audit, contacts, deliveries, interactions
from answerback.store.codec import dumps, loads
from answerback.wording import Sheet, Told, compose

log = logging.getLogger("answerback.deliver")
AT_ONCE = 16  # messages under way on one provider
AT_ONCE_PLACE = 2  # and to one place on it
TIMEOUT = 30.0  # seconds until a send counts as unknown
GIVE_UP = 20  # attempts, when the plugin itself raises
FALL_BACK_AFTER = 2  # temporary failures until the next provider is asked as well
FALL_BACK_WAIT = 60.0  # seconds: a wait that is longer than this is a reason to do so at once
CLOSING = (MessageKind.OUTCOME, MessageKind.NOTICE)  # that they were sent decides nothing
UNSURE = 60.0  # seconds before a message that may have arrived is sent again


@dataclass(frozen=True, slots=True)
class Loaded:
    """What a delivery needs to be put into words."""

    record: Interaction | None
    told: Told
    thread: tuple[str, ...]  # ids of our earlier messages at the same place about the same thing


@dataclass(frozen=True, slots=True)
class _Trouble:
    """Why a message was not taken. `unsure`: it may have been. `away`: the service is, not the plugin."""

    why: str
    seconds: float = 0.0
    unsure: bool = False
    away: bool = False


class Deliverer(Background):
    """The outbox's worker: one semaphore a provider, so that a hanging one delays nobody else."""

    def __init__(self, context: Context, providers: Mapping[str, Provider]) -> None:
        super().__init__()
        self._context, self._providers = context, providers
        self._gates = {name: asyncio.Semaphore(AT_ONCE) for name in providers}
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
            if provider is None:
                await self._later(row, 60.0, f"the provider {row['provider']} is not configured here")
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
        loaded = _remembered(row)
        if loaded is None:
            loaded = await self._context.store.read(lambda tx: self._load(tx, row))
        if not await self._is_still_ours(row, loaded.told.now):
            return  # whoever took it over sends it
        if loaded.record is not None and not loaded.record.readable:
            await self._context.store.write(
                lambda tx: deliveries.failed(tx, row, "its record cannot be read")
            )
            return
        if _needless(row, loaded.record):
            await self._context.store.write(lambda tx: deliveries.failed(tx, row, "no longer needed"))
            return
        sheet = Sheet(row, loaded.record, loaded.told, self._context.tokens, provider.max_choices)
        message = compose(sheet, loaded.thread)
        if provider.windowed:
            message = await self._dated(row, message)
        self._context.faults.reach("deliver.before-send")
        try:
            async with asyncio.timeout(TIMEOUT):
                ids = await self._send(provider, row, message, loaded.thread)
        except Exception as error:
            await self._problem(row, error)
            return
        self._context.faults.reach("deliver.after-send")
        if row["kind"] in CLOSING:
            self._context.store.write_soon(lambda tx: self._sent(tx, row, ids), self._context.dispatch)
            return
        rows = await self._context.store.write(lambda tx: self._sent(tx, row, ids))
        self._context.faults.reach("deliver.after-commit")
        self._context.dispatch(rows)

    async def _dated(self, row: Row, message: Message) -> Message:
        """The message with when its receiver last wrote, where a service takes free text for a while only."""
        at = await self._context.store.read(lambda tx: contacts.last_wrote(tx, row["address_id"]))
        return replace(message, to=replace(message.to, last_inbound_at=at))

    async def _send(
        self, provider: Provider, row: Row, message: Message, thread: tuple[str, ...]
    ) -> tuple[str, ...]:
        if row["kind"] == MessageKind.OUTCOME and thread and type(provider).can("update"):
            try:
                await provider.update(message.to, thread[0], message)
                return ()
            except Undeliverable:  # it was deleted, or is too old: say it in a message of its own
                log.info("a copy could not be edited", extra={"delivery": row["id"]})
        return (await provider.send(message)).message_ids

    def _load(self, tx: Tx, row: Row) -> Loaded:
        record = interactions.get(tx, row["interaction_id"]) if row["interaction_id"] else None
        person = contacts.person(tx, row["contact_id"])
        who = contacts.person(tx, record.answered_by) if record is not None else None
        names = {who.id: who.name} if who is not None else {}
        picks = _pick_tokens(tx, row, self._context)
        return Loaded(record, Told(person, names, tx.now, picks), _thread(tx, row))

    def _sent(self, tx: Tx, row: Row, ids: tuple[str, ...]) -> list[Row]:
        done, rows = receipts.sent(tx, self._context.outbox, row, ids)
        if row["kind"] not in ("question", "reminder"):
            return rows
        audit.add(tx, row["interaction_id"], "delivered", actor=row["provider"])
        record = interactions.get(tx, row["interaction_id"])
        if record is None or record.status is InteractionStatus.PENDING or not done:
            return rows  # else it was closed while this copy was on its way
        return [self._context.outbox.outcome(tx, record, row | {"message_ids": dumps(list(ids))})]

    async def _problem(self, row: Row, error: Exception) -> None:
        if isinstance(error, Moved):
            await self._moved(row, error.external_id)
        elif isinstance(error, Undeliverable):
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
            if row["address_id"]:
                tx.run(contacts.MOVED, address=row["address_id"], new_place=place)
            tx.run(deliveries.MOVE, key=row["id"], new_place=place, at=tx.now)

        await self._context.store.write(tx_)
        self._context.signals.rearm()

    async def _give_up(self, row: Row, error: Undeliverable) -> None:
        def tx_(tx: Tx) -> list[Row]:
            deliveries.failed(tx, row, error.reason)
            if error.address_dead and row["address_id"]:
                tx.run(contacts.UNREACHABLE, address=row["address_id"], why=error.reason)
            return self._context.outbox.next_provider(tx, row)

        log.warning("not deliverable on %s: %s", row["provider"], error.reason)
        self._context.dispatch(await self._context.store.write(tx_))

    async def _again(self, row: Row, trouble: _Trouble) -> None:
        """A service that is away is waited for, for days; a plugin that raises is given up after a while."""
        status = "unknown" if trouble.unsure else "failed"
        wait = max(trouble.seconds, UNSURE if trouble.unsure else 0, pause(row["attempts"]))
        fall_back = row["attempts"] == FALL_BACK_AFTER or (row["attempts"] == 1 and wait > FALL_BACK_WAIT)

        def tx_(tx: Tx) -> list[Row]:
            waited = tx.now - row["created_at"]
            if (waited > AWAY) if trouble.away else (row["attempts"] >= GIVE_UP):
                deliveries.failed(tx, row, trouble.why, status=status)
                return self._context.outbox.next_provider(tx, row)
            tx.run(deliveries.POSTPONE, key=row["id"], at=tx.now + round(wait * 1e6), why=trouble.why)
            return self._context.outbox.next_provider(tx, row) if fall_back else []

        self._context.dispatch(await self._context.store.write(tx_))
        self._context.signals.rearm()

    async def _later(self, row: Row, seconds: float, why: str) -> None:
        await self._context.store.write(
            lambda tx: tx.run(deliveries.POSTPONE, key=row["id"], at=tx.now + round(seconds * 1e6), why=why)
        )
        self._context.signals.rearm()


def _remembered(row: Row) -> Loaded | None:
    """What was known when the delivery was made, if that was a moment ago."""
    known: Known | None = row.get("known")
    if known is None or time.monotonic() > known.until:
        return None
    names = {known.who.id: known.who.name} if known.who is not None else {}
    return Loaded(known.record, Told(known.person, names, known.at), known.thread)


def _needless(row: Row, record: Interaction | None) -> bool:
    asks = row["kind"] in ("question", "reminder")
    return asks and (record is None or record.status is not InteractionStatus.PENDING)


def _thread(tx: Tx, row: Row) -> tuple[str, ...]:
    """Ids of the messages that this one edits, answers or follows."""
    if row["of_delivery"]:
        earlier = tx.one(deliveries.GET, id=row["of_delivery"])
        return tuple(loads(earlier["message_ids"])) if earlier else ()
    if row["kind"] == "reminder":
        same = [
            d
            for d in tx.all(deliveries.OF, interaction_id=row["interaction_id"])
            if d["provider"] == row["provider"] and d["place"] == row["place"] and d["kind"] == "question"
        ]
        return tuple(id for d in same for id in loads(d["message_ids"]))
    return ()


def _pick_tokens(tx: Tx, row: Row, context: Context) -> Json:
    """For "which one?": the open questions of this account, each with the token of its own delivery."""
    content = loads(row["content"])
    found = []
    for id in content.get("args", {}).get("deliveries", ()):
        delivery = tx.one(deliveries.GET, id=id)
        record = interactions.get(tx, delivery["interaction_id"]) if delivery else None
        if record is not None and record.status is InteractionStatus.PENDING:
            found.append((record, context.tokens.of(id)))
    return found
