"""receive: stores an inbound event once, finds its question, and lets the one door decide."""

import asyncio
import hashlib
import logging
from collections import Counter
from collections.abc import Mapping
from dataclasses import dataclass, field

from answerback.case import Effect
from answerback.closing import refuse_closed, refuse_late
from answerback.context import Context
from answerback.door import Actor, Decision, after_commit, decide, go_on
from answerback.errors import NotAllowed, NotFound, StoreUnavailable
from answerback.event_keys import key_of, known_as
from answerback.inbound import consider
from answerback.metrics import Metric
from answerback.model import Interaction, Json, Outcome
from answerback.places import heard
from answerback.provider import Batch, Event, HttpAnswer, Inbound, PlaceNews, Provider, Receipt, Reply
from answerback.read import validate_response
from answerback.receipts import note
from answerback.store import Tx, contacts, interactions, leases, replies, unnamed
from answerback.store.leases import Lease
from answerback.toasts import Toasts
from answerback.values import unstorable

log = logging.getLogger("answerback.receive")
LONGEST_ID = 500  # characters; message ids of mail are the longest
AT_ONCE = 100  # events of a poll in one transaction: what else is written takes its turn in between
IGNORED, RECEIPT = "ignored", "receipt"  # beside the outcomes of replies
ENOUGH = 64 << 10  # bytes that are kept of what was for no question, or from nobody who may answer it
NOBODYS = frozenset({Outcome.UNKNOWN, Outcome.NOT_ALLOWED})
USUAL = frozenset({Outcome.ACCEPTED, Outcome.COMMAND, Outcome.LINKED, Outcome.NOTED, RECEIPT})


@dataclass(slots=True)
class _Done:
    """One event's result: what to acknowledge, what follows after the commit, what it is counted as."""

    reply: Reply | None = None
    effect: Effect | None = None
    counted: str = ""


@dataclass(frozen=True, slots=True)
class _Event:
    raw: bytes
    found: tuple[Event, ...] = ()
    error: str = ""
    keys: tuple[str, ...] = field(default=())


@dataclass(frozen=True, slots=True)
class _Position:
    """How far a poll has come, and the right to say so. No cursor: there is more of the same poll."""

    cursor: str | None
    lease: Lease | None

    def move(self, tx: Tx, provider: str) -> bool:
        """Store the cursor; False when the lease was lost (the fence refuses a late writer)."""
        if self.lease is not None and not leases.renew(tx, self.lease):
            return False
        if self.cursor is not None:
            replies.move(tx, provider, self.cursor)
        return True


class Receiver:
    """Intake for webhooks, polls, the API and the CLI."""

    def __init__(self, context: Context, providers: Mapping[str, Provider]) -> None:
        self._context, self._providers = context, providers
        self._toasts = Toasts()

    async def close(self) -> None:
        """Stop what services are still being told."""
        await self._toasts.close()

    async def screen(self, provider: str, inbound: Inbound) -> None:
        """Before a request's body is read. Raises `NotFound`, `Unverified`."""
        await self._plugin(provider).screen(inbound)

    async def webhook(self, provider: str, inbound: Inbound) -> HttpAnswer:
        """One request of a provider. 2xx only after the commit. Raises `NotFound`, `Unverified`."""
        plugin = self._plugin(provider)
        await plugin.verify(inbound)
        await self._take(plugin, [inbound], None)
        return HttpAnswer()

    async def challenge(self, provider: str, inbound: Inbound) -> HttpAnswer:
        """A GET handshake. Stores nothing."""
        answer = self._plugin(provider).challenge(inbound)
        if answer is None:
            raise NotFound("There is nothing to see here.")
        return answer

    async def polled(self, provider: str, batch: Batch, lease: Lease | None = None) -> None:
        """What one poll brought, and its cursor with the last of it; nothing, if the `lease` was lost.

        However much it is, it is taken piece by piece. After a crash the poll brings all of it again, and
        what was taken is known.
        """
        plugin, events = self._plugin(provider), batch.events
        while len(events) > AT_ONCE:
            await self._take(plugin, list(events[:AT_ONCE]), _Position(None, lease))
            events = events[AT_ONCE:]
            await asyncio.sleep(0)
        await self._take(plugin, list(events), _Position(batch.cursor, lease))

    async def handed(self, provider: str, inbound: Inbound) -> None:
        """One event of a provider that listens by itself; returns after the commit. Raises otherwise."""
        await self._take(self._plugin(provider), [inbound], None)

    async def cursor(self, provider: str) -> str:
        """How far a polled provider has been read."""
        return await self._context.store.read(lambda tx: replies.position(tx, provider))

    async def respond(self, interaction_id: str, response: Json, *, by: str, via: str) -> Interaction:
        """Answer through the API.

        Raises `NotFound`, `NotAllowed`, `AlreadyAnswered`, `Closed` or `DoesNotFit`.
        """

        def tx_(tx: Tx) -> Decision:
            record = interactions.get(tx, interaction_id)
            if record is None:
                raise NotFound("There is no interaction with this id.")
            refuse_closed(record)
            person = contacts.contact(tx, by)
            if person is not None and not contacts.is_there(tx, by):
                raise NotAllowed(f"{person.name} is no contact any more.")
            if person is not None and by not in record.route.get("ask", (by,)):
                raise NotAllowed(f"This question is not for {person.name}.")
            language, timezone = (person.language, person.timezone) if person else ("en", "UTC")
            values = validate_response(
                record.questions, response, language=language, timezone=timezone, now=tx.now
            )
            text = response if isinstance(response, str) else ""
            return decide(tx, self._context, record, values, text, Actor(by, via))

        self._context.faults.reach("receive.before-commit")
        decision = await self._context.store.write(tx_)
        self._context.faults.reach("receive.after-commit")
        after_commit(self._context, decision)
        if decision.outcome is Outcome.NOT_ALLOWED:  # it was handed on at this moment
            raise NotAllowed("This question was handed on: somebody else answers it now.")
        if decision.outcome is not Outcome.ACCEPTED:
            refuse_late(decision.record)
        return decision.record

    def _plugin(self, name: str) -> Provider:
        if name not in self._providers:
            raise NotFound("There is no such provider.")
        return self._providers[name]

    async def _take(self, plugin: Provider, inbounds: list[Inbound], position: _Position | None) -> None:
        events = [_parse(plugin, inbound) for inbound in inbounds]
        self._context.faults.reach("receive.before-commit")
        try:
            done = await self._context.store.write(lambda tx: self._store(tx, plugin, events, position))
        except StoreUnavailable:
            raise
        except Exception:
            done = await self._one_by_one(plugin, events, position)
        self._context.faults.reach("receive.after-commit")
        for one in done:
            if one.effect is not None and one.effect.decision is not None:
                go_on(self._context, one.effect.decision)
        await asyncio.sleep(0)  # the agents begin; what is sent and said can wait for that
        self._count(plugin.name, done)
        for one in done:
            self._follow(one)
        told = [(one.reply, one.effect) for one in done if one.reply and one.effect]
        await self._toasts.show(plugin, [(reply, effect.outcome, effect.toast) for reply, effect in told])

    def _count(self, provider: str, done: list[_Done]) -> None:
        """One line for all that came together, and only if something of it was out of the ordinary."""
        found = Counter(one.counted for one in done)
        for counted, number in found.items():
            self._context.metrics.count(Metric.EVENTS, provider, counted, by=number)
        if not found.keys() <= USUAL:
            said = ", ".join(f"{number} {counted}" for counted, number in sorted(found.items()))
            log.info("events of %s: %s", provider, said)

    async def _one_by_one(
        self, plugin: Provider, events: list[_Event], position: _Position | None
    ) -> list[_Done]:
        """One bad event must not lose the others: it is stored with its error, and can be replayed."""
        done: list[_Done] = []
        for event in events:
            try:
                done += await self._alone(plugin, event)
            except StoreUnavailable:
                raise
            except Exception as error:
                log.exception("an event could not be matched")
                failed = _Event(event.raw, error=type(error).__name__, keys=event.keys)
                done += await self._alone(plugin, failed)
        if position is not None:
            await self._context.store.write(lambda tx: position.move(tx, plugin.name))
        return done

    async def _alone(self, plugin: Provider, event: _Event) -> list[_Done]:
        return await self._context.store.write(lambda tx: self._store(tx, plugin, [event], None))

    def _store(
        self, tx: Tx, plugin: Provider, events: list[_Event], position: _Position | None
    ) -> list[_Done]:
        if position is not None and not position.move(tx, plugin.name):
            return []  # another process reads this provider now: it gets these events too
        return [one for event in events for one in self._event(tx, plugin, event)]

    def _event(self, tx: Tx, plugin: Provider, event: _Event) -> list[_Done]:
        if event.error or not event.found:
            outcome = Outcome.FAILED if event.error else Outcome.UNKNOWN
            counted = outcome if event.error else IGNORED
            keys = event.keys or (_fallback_key(event.raw),)
            added = [
                replies.add(tx, plugin.name, key, event.raw, outcome=outcome, error=event.error)
                for key in keys
            ]
            return [_Done(counted=counted if new else Outcome.DUPLICATE) for new in added]
        return [self._found(tx, plugin, event.raw, found) for found in event.found]

    def _found(self, tx: Tx, plugin: Provider, raw: bytes, found: Event) -> _Done:
        event = plugin.name, known_as(tx, plugin.name, found)
        if not replies.add(tx, *event, raw):
            reply = found if isinstance(found, Reply) else None
            return _Done(reply, _again(tx, *event), counted=Outcome.DUPLICATE)
        if isinstance(found, Receipt):
            if unnamed.is_of_erased(tx, plugin.name, found.message_id, found.delivery_id):
                replies.cut(tx, *event, b"")  # it may name who is erased, and says nothing to anybody
                replies.decided(tx, *event, Outcome.COMMAND)
                return _Done(counted=RECEIPT)
            follows = note(tx, self._context.outbox, plugin.name, found)
            replies.decided(tx, *event, Outcome.COMMAND)
            return _Done(effect=Effect(Outcome.COMMAND, follows=follows), counted=RECEIPT)
        if isinstance(found, PlaceNews):
            rows = heard(tx, self._context.outbox, plugin.name, found)
            replies.decided(tx, *event, Outcome.COMMAND)
            return _Done(effect=Effect(Outcome.COMMAND, rows), counted=RECEIPT)
        effect = consider(tx, self._context, plugin.name, found)
        replies.decided(tx, *event, effect.outcome, effect.interaction_id)
        if effect.overheard:
            replies.cut(tx, *event, b"")
        elif effect.outcome in NOBODYS and len(raw) > ENOUGH:
            replies.cut(tx, *event, raw[:ENOUGH])
        return _Done(found, effect, counted=effect.outcome)

    def _follow(self, done: _Done) -> None:
        effect = done.effect
        if effect is None:
            return
        if effect.decision is not None:
            after_commit(self._context, effect.decision)
        self._context.dispatch(effect.rows)
        self._context.follow(effect.follows)
        if effect.later:
            self._context.signals.rearm()
        for agent, thread in effect.stops:
            self._context.signals.stop((agent, thread))


def _parse(plugin: Provider, inbound: Inbound) -> _Event:
    try:
        found = tuple(_plausible(one) for one in plugin.parse(inbound))
    except (Exception, SystemExit) as error:  # stored with its error, acknowledged, can be replayed (law 3)
        log.warning("an event of %s could not be read: %s", plugin.name, type(error).__name__)
        return _Event(inbound.body, error=f"{type(error).__name__} while parsing")
    return _Event(inbound.body, found, keys=tuple(key_of(one) for one in found))


def _plausible(found: Event) -> Event:
    """Ids that a database can look up: whatever a stranger sends, no statement fails because of it."""
    ids = _ids(found)
    if any(len(id) > LONGEST_ID or unstorable(id) for id in ids):
        raise ValueError("an id that cannot be stored")
    if not found.event_id:  # the next one without would be taken for the same
        raise ValueError("an event without an id")
    return found


def _ids(found: Event) -> tuple[str, ...]:
    if isinstance(found, Receipt):
        return (found.event_id, found.message_id, found.delivery_id)
    if isinstance(found, PlaceNews):
        return (found.event_id, found.place, found.moved_to)
    reply = found
    return (reply.event_id, reply.sender, reply.place, reply.data, reply.token, *reply.references)


def _fallback_key(raw: bytes) -> str:
    return "sha256:" + hashlib.sha256(raw).hexdigest()


def _again(tx: Tx, provider: str, event_id: str) -> Effect:
    """A duplicate gets the first result again: in words only, nothing is done twice (law 4)."""
    first = replies.first(tx, provider, event_id)
    return Effect(Outcome(first["outcome"]) if first and first["outcome"] else Outcome.DUPLICATE)
