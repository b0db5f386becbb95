"""inbound: what one reply means: which question, may this sender answer it, and with what value."""

from dataclasses import dataclass, field, replace

from answerback import linking
from answerback.ask import cancel_run
from answerback.context import Context
from answerback.door import Actor, Decision, decide, lost
from answerback.evidence import Gathered, by_token, gather
from answerback.match import Evidence, Match, WhichOne, match, strip_code
from answerback.model import Contact, Interaction, InteractionStatus, Json, Outcome
from answerback.outbox import place_of
from answerback.provider import Reply
from answerback.quoting import new_text
from answerback.read import Unclear, Value, is_command, read, read_payload, wants_text
from answerback.sentences import say
from answerback.store import Row, Tx, contacts, deliveries, interactions
from answerback.store.codec import loads

PICK = "pick"  # the payload of a button of "which one?"
STOPS = {"cancel", "stop"}


@dataclass(slots=True)
class Effect:
    """What became of a reply: outcome, deliveries, a decision, threads to stop, a toast."""

    outcome: Outcome
    rows: list[Row] = field(default_factory=list)
    decision: Decision | None = None
    stops: list[tuple[str, str]] = field(default_factory=list)
    toast: str = ""


@dataclass(frozen=True, slots=True)
class _Case:
    """One reply under consideration."""

    tx: Tx
    context: Context
    provider: str
    reply: Reply
    here: Row
    person: Contact | None


def consider(tx: Tx, context: Context, provider: str, reply: Reply) -> Effect:
    """Decide about one stored reply. Deny by default (law 7)."""
    if reply.quoted:
        reply = replace(reply, text=new_text(reply.text))
    mine, person = contacts.sender(tx, provider, reply.sender)
    here = place_of(provider, reply.sender, reply.place, mine["contact_id"] if mine is not None else "")
    if mine is not None and mine["place"] == reply.place:  # just written from: anything may be said there
        here |= {"address_id": mine["id"]}
    case = _Case(tx, context, provider, reply, here, person)
    if not reply.trusted:
        return _unproved(case)
    command = is_command(reply.text) if reply.text and not reply.data else None
    if command is not None and command[0] == "start" and command[1]:
        outcome, rows = linking.use(tx, context, provider, reply, command[1])
        return Effect(outcome, rows)
    if mine is None:
        return _stranger(case)
    contacts.seen(tx, mine)
    if reply.data.startswith("link."):
        _, start, answer = [*reply.data.split(".", 2), "", ""][:3]
        outcome, rows = linking.confirm(tx, context, provider, reply, start, answer)
        return Effect(outcome, rows)
    return _for_question(case)


def _unproved(case: _Case) -> Effect:
    """Nobody vouches for the sender: nothing is done, and whoever was asked hears where to answer."""
    gathered = gather(case.tx, case.provider, case.reply, case.person.id if case.person else "")
    found = match(gathered.evidence) if gathered is not None else None
    if gathered is None or not isinstance(found, Match):
        return Effect(Outcome.NOT_ALLOWED)
    record, asked = gathered.records[found.interaction_id], gathered.rows[found.delivery_id]
    if record.status is not InteractionStatus.PENDING:
        return Effect(Outcome.NOT_ALLOWED)
    return _say(case, record, asked, Outcome.NOT_ALLOWED, "mail_not_trusted", {})


def _stranger(case: _Case) -> Effect:
    """A stranger never decides, and hears at most one sentence a day, in private."""
    reply = case.reply
    if reply.private and not reply.data:
        return Effect(
            Outcome.UNKNOWN, case.context.outbox.stranger(case.tx, case.provider, reply.sender, reply.place)
        )
    return Effect(Outcome.NOT_ALLOWED, toast=_whose(case))


def _whose(case: _Case) -> str:
    row = by_token(case.tx, case.reply)
    record = interactions.get(case.tx, row["interaction_id"]) if row else None
    names = [
        found.name
        for id in (record.route.get("ask", ()) if record else ())
        if (found := contacts.contact(case.tx, id))
    ]
    language = case.person.language if case.person else "en"
    return say("not_for_you", language, who=", ".join(names)) if names else ""


def _for_question(case: _Case) -> Effect:
    reply = case.reply
    gathered = gather(case.tx, case.provider, reply, case.person.id if case.person else "")
    if gathered is None:
        return Effect(Outcome.NOT_ALLOWED, toast=_whose(case))
    words = reply.text if not reply.data else ""
    command = is_command(words, gathered.questions) if words else None
    if command is not None and (effect := _command(case, command, gathered)) is not None:
        return effect
    found = match(gathered.evidence)
    if isinstance(found, WhichOne):
        return _which_one(case, [candidate.delivery_id for candidate in found.candidates])
    if not isinstance(found, Match):
        return _nothing(case)
    return _answer(case, gathered.records[found.interaction_id], gathered.rows[found.delivery_id])


def _which_one(case: _Case, delivery_ids: list[str]) -> Effect:
    args: Json = {"deliveries": delivery_ids, "text": case.reply.text}
    return Effect(
        Outcome.WHICH_ONE, [case.context.outbox.conversation(case.tx, case.here, "which_one", args)]
    )


def _nothing(case: _Case) -> Effect:
    return Effect(
        Outcome.UNKNOWN, [case.context.outbox.conversation(case.tx, case.here, "nothing_waiting", {})]
    )


def _answer(case: _Case, record: Interaction, asked: Row) -> Effect:
    tx, reply = case.tx, case.reply
    if not record.readable:
        return _nothing(case)
    if record.status is not InteractionStatus.PENDING:
        return _closed(case, record, lost(record), asked)
    read_ = _value(case, record)
    if isinstance(read_, Unclear):
        return _say(case, record, asked, Outcome.ASKED_AGAIN, read_.key, read_.args)
    values, text = read_
    contact = case.person.id if case.person else ""
    decision = decide(tx, case.context, record, values, text, Actor(contact, case.provider, reply.sent_at))
    if decision.outcome is not Outcome.ACCEPTED:
        return _closed(case, decision.record, decision.outcome, asked)
    return Effect(Outcome.ACCEPTED, decision=decision)


def _value(case: _Case, record: Interaction) -> tuple[dict[str, Json], str] | Unclear:
    reply = case.reply
    language = case.person.language if case.person else "en"
    payload = reply.data.partition(":")[2]
    if payload:
        kept = _kept_text(case) if payload == PICK else ""
        if kept:
            return _read_text(case, record, kept)
        tapped = read_payload(record.questions, payload, language)
        if tapped is None:
            return _not_yet(record, payload)
        if len(record.questions) > 1:  # every required question needs an answer: that is the form's work
            return Unclear("open_form")
        question, value, label = tapped
        return {question.id: value}, label
    return _read_text(case, record, reply.text)


def _read_text(case: _Case, record: Interaction, written: str) -> tuple[dict[str, Json], str] | Unclear:
    """Read what was written for the only question; several are answered on the form."""
    if len(record.questions) > 1:
        return Unclear("open_form")
    person, question = case.person, record.questions[0]
    language, timezone = (person.language, person.timezone) if person else ("en", "UTC")
    text = strip_code(written, record.code)
    at = case.reply.sent_at or case.tx.now  # "tomorrow" is the day after it was written
    result = read(question, text, language=language, timezone=timezone, now=at)
    return ({question.id: result.value}, written) if isinstance(result, Value) else result


def _kept_text(case: _Case) -> str:
    """What the person wrote before we asked "which one?", kept with that message."""
    for id in case.reply.references:
        row = case.tx.one(deliveries.BY_MESSAGE, provider=case.provider, message_id=id)
        if row is not None and row["kind"] == "conversation":
            return str(loads(row["content"])["args"].get("text", ""))
    return ""


def _not_yet(record: Interaction, payload: str) -> Unclear:
    """A tap that does not answer: "Something else…", "Change…", or the one picked of several."""
    wanted = wants_text(record.questions, payload)
    if wanted is not None:
        return Unclear(wanted[1])
    return Unclear("write_answer" if payload == PICK else "not_understood")


def _closed(case: _Case, record: Interaction, outcome: Outcome, asked: Row) -> Effect:
    row = case.context.outbox.conversation(case.tx, asked, "closed", {}, interaction_id=record.id)
    return Effect(outcome, [row])


def _say(
    case: _Case, record: Interaction, asked: Row, outcome: Outcome, key: str, args: dict[str, str]
) -> Effect:
    row = case.context.outbox.conversation(case.tx, asked, key, args, interaction_id=record.id)
    return Effect(outcome, [row])


def _command(case: _Case, command: tuple[str, str], gathered: Gathered) -> Effect | None:
    """Commands that stand alone; None: it is a reply after all (an answer that happens to look like one)."""
    name, _ = command
    say = case.context.outbox.conversation
    if name == "help" or name == "start":
        return Effect(Outcome.COMMAND, [say(case.tx, case.here, "help", {})])
    if name == "pending":
        return _pending(case, gathered.evidence)
    if name in STOPS:
        found = match(gathered.evidence)
        if isinstance(found, WhichOne):
            return _which_one(case, [candidate.delivery_id for candidate in found.candidates])
        if isinstance(found, Match):
            record, asked = gathered.records[found.interaction_id], gathered.rows[found.delivery_id]
            return _stop(case, record, asked)
        return _nothing(case)
    return None


def _pending(case: _Case, evidence: Evidence) -> Effect:
    if not evidence.open_for_sender:
        return Effect(Outcome.COMMAND, _nothing(case).rows)
    args: Json = {"deliveries": [candidate.delivery_id for candidate in evidence.open_for_sender]}
    return Effect(Outcome.COMMAND, [case.context.outbox.conversation(case.tx, case.here, "pending", args)])


def _stop(case: _Case, record: Interaction, asked: Row) -> Effect:
    """The person stops the run that asks: law 7 held, since only what they may answer is matched."""
    if record.status is not InteractionStatus.PENDING:
        return _closed(case, record, lost(record), asked)
    if not record.run_id:
        return _say(
            case, record, asked, Outcome.ASKED_AGAIN, "command_unknown", {"text": case.reply.text[:40]}
        )
    rows = cancel_run(case.tx, case.context, record.run_id, "stopped by the person who was asked")
    rows.append(
        case.context.outbox.conversation(case.tx, case.here, "stopped", {"who": record.title.split(" · ")[0]})
    )
    return Effect(Outcome.COMMAND, rows, stops=[(record.agent, record.thread_id)])


__all__ = ["Effect", "consider"]
