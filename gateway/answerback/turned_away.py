"""turned_away: what is said to somebody whose message decides nothing: a stranger, or who was not asked."""

from answerback import taps
from answerback.case import Case, Effect
from answerback.evidence import by_token, is_taken_back
from answerback.model import Outcome
from answerback.provider import Void
from answerback.sentences import say
from answerback.store import Row, Tx, contacts, deliveries, interactions, pace

MINUTE = 60_000_000  # microseconds between two of the same sentence in one place


def void(case: Case, why: Void) -> Effect:
    """It decides nothing. Whoever may wait for it to count hears why, once a minute at most."""
    tx, reply = case.tx, case.reply
    if case.person is None and reply.private:
        return stranger(case)
    here = {"provider": case.provider, "external_id": reply.sender, "place": reply.place}
    waits = any(_is_question(tx, case.provider, reply.place, id) for id in reply.references) or (
        reply.private and tx.one(deliveries.OPEN_FOR, **here, limit=1) is not None
    )
    if not waits or not pace.once(tx, f"void:{case.provider}", reply.place, MINUTE):
        return Effect(Outcome.NOT_ALLOWED)
    said = case.context.outbox.conversation(tx, case.here, f"void_{why}", {})
    return Effect(Outcome.NOT_ALLOWED, [said])


def _is_question(tx: Tx, provider: str, place: str, message_id: str) -> bool:
    row = tx.one(deliveries.BY_MESSAGE, provider=provider, message_id=message_id)
    return row is not None and row["place"] == place and bool(row["open"])


def stranger(case: Case) -> Effect:
    """A stranger never decides, and hears at most one sentence a day, in private."""
    reply = case.reply
    if reply.private and not reply.data:
        return Effect(
            Outcome.UNKNOWN, case.context.outbox.stranger(case.tx, case.provider, reply.sender, reply.place)
        )
    return not_theirs(case)


def _meant(case: Case) -> Row | None:
    """The message that a reply names."""
    tx, reply = case.tx, case.reply
    named = (tx.one(deliveries.BY_MESSAGE, provider=case.provider, message_id=id) for id in reply.references)
    return by_token(tx, reply) or next((row for row in named if row is not None), None)


def _whose(case: Case, row: Row | None) -> str:
    """The names of those whom its question is for; "" when nobody knows which one is meant.

    To one of these: of whom the message is for.
    """
    record = interactions.get(case.tx, row["interaction_id"]) if row else None
    asked = record.route.get("ask", ()) if record else ()
    if row is not None and case.person is not None and case.person.id in asked:
        asked = (row["contact_id"],)
    return ", ".join(found.name for id in asked if (found := contacts.contact(case.tx, id)))


def _no_more(case: Case) -> Effect:
    """They were asked this once, and it was taken back from them: a tap gets a toast, words a sentence."""
    if case.reply.data:
        language = case.person.language if case.person else "en"
        return Effect(Outcome.NOT_ALLOWED, toast=say("asked_no_more", language))
    said = case.context.outbox.conversation(case.tx, case.here, "asked_no_more", {})
    return Effect(Outcome.NOT_ALLOWED, [said])


def not_theirs(case: Case) -> Effect:
    """A tap gets a toast. Somebody we know who wrote it among others hears it there, seldom."""
    if taps.is_about_run(case.reply):
        return taps.not_theirs(case)
    meant, reply = _meant(case), case.reply
    mine = meant is not None and case.person is not None and meant["contact_id"] == case.person.id
    if meant is not None and mine and is_taken_back(case.tx, meant):
        return _no_more(case)
    who = _whose(case, meant)
    if not who:
        return Effect(Outcome.NOT_ALLOWED)
    spoken = case.person is not None and not reply.private and not reply.data
    if spoken and pace.once(case.tx, f"whose:{case.provider}", f"{reply.place}:{reply.sender}", MINUTE):
        row = case.context.outbox.conversation(case.tx, case.here, "not_for_you", {"who": who})
        return Effect(Outcome.NOT_ALLOWED, [row])
    language = case.person.language if case.person else "en"
    return Effect(Outcome.NOT_ALLOWED, toast=say("not_for_you", language, who=who))


__all__ = ["not_theirs", "stranger", "void"]
