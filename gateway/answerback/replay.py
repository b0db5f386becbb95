"""replay: tries again what was given up, each kind in its way, or says why that makes no sense any more."""

import logging
from collections.abc import Mapping, Sequence
from dataclasses import replace

from answerback.agent import Agent, Paused, Pending
from answerback.case import Effect
from answerback.context import Context
from answerback.door import after_commit
from answerback.elapse import unreadable
from answerback.errors import AnswerbackError, Conflict
from answerback.event_keys import key_of, known_as
from answerback.inbound import consider
from answerback.match import find_codes
from answerback.model import GONE, Interaction, InteractionStatus, Outcome
from answerback.places import heard
from answerback.provider import Event, Inbound, PlaceNews, Provider, Receipt, Reply
from answerback.receipts import note
from answerback.run import Runner
from answerback.store import (
    Row,
    Tx,
    audit,
    contacts,
    deliveries,
    interactions,
    leases,
    letters,
    replies,
    runs,
    stops,
)
from answerback.store.leases import Lease
from answerback.store.letters import Kind
from answerback.threads import Concluded, announce, conclude, kept

log = logging.getLogger("answerback.replay")
GONE_BY = "It is no dead letter any more: somebody else was quicker."
ANOTHERS = "Another run has its thread by now, and would be stopped instead. It can only be discarded."
DAMAGED = "The record of this question is damaged, so"


class Replay:
    """Each method takes the id of what was given up and who asks for it, and says what happens now.

    All raise `Conflict`, with a sentence, when it makes no sense (any more).
    """

    def __init__(
        self, context: Context, providers: Mapping[str, Provider], agents: Mapping[str, Agent], runner: Runner
    ) -> None:
        self._context, self._providers, self._agents, self._runner = context, providers, agents, runner

    async def delivery(self, id: str, by: str) -> str:
        """Send a message again, to where its person is reached now. A closed question is not asked again."""

        def tx_(tx: Tx) -> None:
            row = tx.one(deliveries.GET, id=id)
            assert row is not None
            _require_open(tx, row)
            _require_still(tx, Kind.DELIVERY, id)
            tx.run(letters.SEND_AGAIN, key=id, at=tx.now, **_where_now(tx, row))
            noted(tx, row["interaction_id"] or id, by)

        await self._context.store.write(tx_)
        self._context.signals.rearm()
        return "It is being sent again."

    async def answer(self, id: str, by: str) -> str:
        """Give an answer to its agent again: to the interrupt it was for, or to none (law 1)."""

        def tx_(tx: Tx) -> None:
            _require_still(tx, Kind.ANSWER, id)
            record = interactions.get(tx, id)
            assert record is not None
            if record.resume_error == GONE:
                raise Conflict(f"{GONE} It can only be discarded.")
            if not record.readable or record.answer is None:
                raise Conflict(f"{DAMAGED} nobody can tell what was answered. It can only be discarded.")
            tx.run(letters.GIVE_AGAIN, key=id, at=tx.now)
            tx.run(runs.STATUS, key=record.run_id, old="failed", new_status="running", at=tx.now)
            noted(tx, id, by)

        await self._context.store.write(tx_)
        self._context.signals.rearm()
        return "It is being given to the agent again."

    async def run(self, id: str, by: str) -> str:
        """Try a failed run's step again."""
        await self._runner.retry(id)
        await self._context.store.write(lambda tx: noted(tx, id, by))
        return "The failed step is being tried again."

    async def stop(self, id: str, by: str) -> str:
        """Tell an agent again that its run is cancelled: never that of another run (laws 1 and 3)."""

        def tx_(tx: Tx) -> tuple[str, str]:
            _require_still(tx, Kind.STOP, id)
            row = tx.one(runs.GET, id=id)
            assert row is not None
            agent, thread = row["agent"], row["thread_id"]
            if agent not in self._agents:
                raise Conflict(f"The agent {agent} is not configured here, so nobody can tell it.")
            latest = tx.one(runs.LATEST, agent=agent, thread_id=thread)
            if runs.goes_on_there(tx, agent, thread) or latest is None or latest["id"] != id:
                raise Conflict(ANOTHERS)
            stops.tell_again(tx, row)
            noted(tx, id, by)
            return agent, thread

        self._context.signals.stop(await self._context.store.write(tx_))
        return "Its agent is being told again."

    async def reply(self, id: str, by: str) -> str:
        """Read an event again, as of when it came in."""
        row = await self._context.store.read(lambda tx: tx.one(letters.EVENT, id=id))
        plugin = self._providers.get(row["provider"]) if row is not None else None
        if row is None:
            raise Conflict(GONE_BY)
        if plugin is None:
            raise Conflict(f"The provider {row['provider']} is not configured here, so nothing can read it.")
        raw = bytes(row["raw"])
        try:
            found = plugin.parse(Inbound(raw))
            effects = await self._context.store.write(lambda tx: self._considered(tx, plugin, id, found, by))
        except AnswerbackError:
            raise
        except Exception as error:
            log.exception("an event could not be read again", extra={"reply": id})
            raise Conflict(f"It still cannot be read ({type(error).__name__}, see the log).") from None
        for effect in effects:
            self._follow(effect)
        outcomes = ", ".join(effect.outcome for effect in effects) or "there is nothing new in it"
        return f"It was read again: {outcomes}."

    def _considered(self, tx: Tx, plugin: Provider, id: str, found: Sequence[Event], by: str) -> list[Effect]:
        _require_still(tx, Kind.REPLY, id)
        row = tx.one(letters.EVENT, id=id)
        assert row is not None  # or it were no letter
        own = [one for one in found if row["event_id"] in (one.event_id, key_of(one))]
        effects = []
        for one in own or found:  # one that could not even be parsed had no id: only now it is known
            key = row["event_id"] if own else known_as(tx, plugin.name, one)
            if not own and not replies.add(tx, plugin.name, key, bytes(row["raw"])):
                continue  # it came again meanwhile, and was handled then (law 4)
            effect = self._effect(tx, plugin.name, one, row["received_at"])
            replies.decided(tx, plugin.name, key, effect.outcome, effect.interaction_id)
            effects.append(effect)
        if not own:
            replies.decided(
                tx, plugin.name, row["event_id"], effects[0].outcome if effects else Outcome.UNKNOWN
            )
        noted(tx, id, by)
        return effects

    def _effect(self, tx: Tx, provider: str, found: Event, received_at: int) -> Effect:
        if isinstance(found, Receipt):
            return Effect(Outcome.COMMAND, follows=note(tx, self._context.outbox, provider, found))
        if isinstance(found, PlaceNews):
            return Effect(Outcome.COMMAND, heard(tx, self._context.outbox, provider, found))
        return consider(tx, self._context, provider, _as_of(found, received_at))

    def _follow(self, effect: Effect) -> None:
        self._context.dispatch(effect.rows)
        self._context.follow(effect.follows)
        if effect.decision is not None:
            after_commit(self._context, effect.decision)
        for thread in effect.stops:
            self._context.signals.stop(thread)

    async def interaction(self, id: str, by: str) -> str:
        """Ask a damaged question anew, from what its agent waits for."""
        record = await self._context.store.read(lambda tx: interactions.get(tx, id))
        assert record is not None
        agent = self._agents.get(record.agent)
        if not record.interrupt_id:
            raise Conflict(f"{DAMAGED} only whoever asked it can ask it again. Discard it.")
        if agent is None:
            raise Conflict(f"The agent {record.agent} is not configured here.")
        lease = await self._context.store.write(
            lambda tx: leases.take(tx, record.agent, record.thread_id, self._context.owner)
        )
        if lease is None:
            raise Conflict("Its thread is working right now. Try again when it pauses or ends.")
        try:
            with kept(self._context, lease):
                pending = await agent.pending(record.thread_id)
            await self._ask_anew(record, lease, pending, by)
        except BaseException:
            await self._context.store.write(lambda tx: leases.release(tx, lease))
            raise
        return "Its question was asked anew."

    async def _ask_anew(
        self, record: Interaction, lease: Lease, pending: tuple[Pending, ...], by: str
    ) -> None:
        if (record.interrupt_id, record.digest) not in {(one.interrupt_id, one.digest) for one in pending}:
            raise Conflict(f"{GONE} It can only be discarded.")

        def tx_(tx: Tx) -> Concluded | None:
            interactions.hold_live(tx, record.agent, record.thread_id)
            interactions.held(tx, record.id)
            if not letters.done(tx, record.id, "asked anew", by):
                raise Conflict(GONE_BY)
            unreadable(tx, self._context, record)
            noted(tx, record.id, by)
            return conclude(tx, self._context, lease, Paused(pending))

        concluded = await self._context.store.write(tx_)
        self._context.signals.changed(record.id)
        announce(self._context, concluded, lease)


def noted(tx: Tx, chain: str, by: str, event: str = "replayed") -> None:
    """Who did it and when, in the audit chain of the interaction, or in one of its own."""
    audit.add(tx, chain, event, actor=by)


def _require_still(tx: Tx, kind: Kind, id: str) -> None:
    """Raise `Conflict` when somebody else has replayed or discarded it; until the commit nobody does."""
    if not letters.still(tx, kind, id):
        raise Conflict(GONE_BY)


def _require_open(tx: Tx, row: Row) -> None:
    """Raise `Conflict` for a question that nobody can answer any more; until the commit it stays open."""
    if row["kind"] not in ("question", "reminder"):
        return
    record = interactions.held(tx, row["interaction_id"])
    if record is None or not record.readable:
        raise Conflict(f"{DAMAGED} it cannot be sent. Replay or discard {row['interaction_id']} instead.")
    if record.status is not InteractionStatus.PENDING:
        raise Conflict(f"Its question is {record.status} meanwhile: nobody needs to see it. Discard it.")


def _where_now(tx: Tx, row: Row) -> Row:
    """Where the same person is reached through the same provider today."""
    if not row["contact_id"]:
        return {"address": row["address_id"], "external": row["external_id"], "to_place": row["place"]}
    person = contacts.contact(tx, row["contact_id"])
    for address in person.addresses if person is not None else ():
        if address.provider == row["provider"]:
            return {"address": address.id, "external": address.external_id, "to_place": address.place}
    raise Conflict(f"{row['contact_id']} has no address on {row['provider']} any more.")


def _as_of(reply: Reply, received_at: int) -> Reply:
    """A reply as it was when it came in. A bare text binds to nothing that happens to be open now (law 1):

    what else was open then is not known, so its person is asked which question it was for.
    """
    names_its_question = reply.data or reply.token or reply.references or find_codes(reply.text)
    if not names_its_question:
        return replace(reply, sent_at=0)
    return replace(reply, sent_at=min(reply.sent_at or received_at, received_at))
