"""inbound: what one reply means: which question it is for, may this sender answer it, or is it a command."""

from collections.abc import Sequence
from dataclasses import replace

from answerback import linking, taps, turned_away
from answerback.answering import answer, closed, said_of
from answerback.asides import ASIDES, aside
from answerback.attachments import kept
from answerback.case import Case, Effect
from answerback.context import Context
from answerback.delegating import can_delegate, delegate, gone
from answerback.door import gave_up, lost
from answerback.evidence import OPEN_LIMIT, Gathered, gather, is_for_us, open_elsewhere, uncalled
from answerback.given import FILES, by_number, command_of, plain, sent_with
from answerback.match import Match, Open, WhichOne, match, strip_code
from answerback.model import Interaction, InteractionStatus, Json, Outcome
from answerback.muting import MUTES, mute
from answerback.outbox import Follows, place_of
from answerback.provider import Reply, Void
from answerback.quoting import new_text
from answerback.read import is_command
from answerback.receipts import tapped
from answerback.starting import start, startable, unknown
from answerback.stopping import stop_asking, stop_later, stop_working, whom
from answerback.store import Row, Tx, contacts, interactions, places
from answerback.store.codec import attachments_out
from answerback.substitute import STOPS, considered
from answerback.whenever import is_one

WORDS = "pending, why, skip, snooze 1h, mute 2h, stop"  # what `help` names
DELEGATE = "delegate"
TIMED = {"snooze", "mute"}


def consider(tx: Tx, context: Context, provider: str, reply: Reply) -> Effect:
    """Decide about one stored reply. Deny by default (law 7)."""
    if reply.quoted:
        reply = replace(reply, text=new_text(reply.text))
    if not reply.private:
        reply = replace(reply, place=places.today(tx, provider, reply.place))
    mine, person = contacts.sender(tx, provider, reply.sender)
    here = place_of(provider, reply.sender, reply.place, mine["contact_id"] if mine is not None else "")
    if mine is not None and mine["place"] == reply.place:  # just written from: anything may be said there
        here |= {"address_id": mine["id"]}
    case = Case(tx, context, provider, reply, here, person)
    if provider in context.outbox.stand_ins.known:
        return considered(case, context.outbox.stand_ins.known[provider])
    if not reply.trusted:
        return _unproved(case)
    if reply.void is not None:
        return turned_away.void(case, reply.void)
    reply = by_number(tx, context.tokens, provider, reply, person)
    case = replace(case, reply=reply)
    if not is_for_us(reply):
        return Effect(Outcome.UNKNOWN, overheard=True)
    words = _command_words(case)
    command = is_command(words) if words else None
    if command is not None and command[0] == "start" and command[1]:
        outcome, follows = linking.use(tx, context, provider, reply, command[1])
        return Effect(outcome, follows=follows)
    if mine is None:
        return turned_away.stranger(case)
    if reply.place == mine["place"] or not context.outbox.is_shared(mine):
        contacts.seen(tx, mine)  # to write in private does not let us into a group
    if reply.data.startswith("link."):
        _, start, answer = [*reply.data.split(".", 2), "", ""][:3]
        outcome, follows = linking.confirm(tx, context, provider, reply, start, answer)
        return Effect(outcome, follows=follows)
    return taps.tapped(case) if taps.is_about_run(reply) else _for_question(case)


def _unproved(case: Case) -> Effect:
    """Nobody vouches for the sender: nothing is done, and whoever was asked hears where to answer."""
    gathered = gather(case.tx, case.provider, case.reply, case.person.id if case.person else "")
    found = match(gathered.evidence) if gathered is not None else None
    if gathered is None or not isinstance(found, Match):
        return Effect(Outcome.NOT_ALLOWED)
    record, asked = gathered.records[found.interaction_id], gathered.rows[found.delivery_id]
    if record.status is not InteractionStatus.PENDING:
        return Effect(Outcome.NOT_ALLOWED)
    why = "mail_too_long" if case.reply.void is Void.TOO_LONG else "mail_not_trusted"
    return said_of(case, record, asked, Outcome.NOT_ALLOWED, why, {})


def _for_question(case: Case) -> Effect:
    reply = case.reply
    gathered = gather(case.tx, case.provider, reply, case.person.id if case.person else "")
    if gathered is None:
        return turned_away.not_theirs(case)
    learned = _learned(case, gathered)
    effect = _meant(case, gathered)
    effect.follows.rows += learned.rows
    return effect


def _learned(case: Case, gathered: Gathered) -> Follows:
    """What follows from a tap on a message of ours that nobody knew of."""
    asked = gathered.evidence.token_delivery
    if asked is None or not gathered.below:
        return Follows()
    return tapped(case.tx, case.context.outbox, gathered.rows[asked.delivery_id], gathered.below)


def _meant(case: Case, gathered: Gathered) -> Effect:
    words = _command_words(case)
    for each in gathered.evidence.codes:  # "#K7Q2 snooze 2h" is one, too
        words = strip_code(words, each.code)
    command = (
        is_command(words, gathered.questions) if words else command_of(case.tx, case.provider, case.reply)
    )
    # Without a stroke, and not picked for a command, it may be an answer that looks like one.
    sure = bool(case.reply.data) or words.startswith("/")
    if command is not None and (effect := _command(case, command, gathered, sure)) is not None:
        return effect
    if gathered.about_notice:
        return Effect(
            Outcome.UNKNOWN, [case.context.outbox.conversation(case.tx, case.here, "only_notice", {})]
        )
    found = match(gathered.evidence)
    if isinstance(found, WhichOne):
        return _which_one(case, [candidate.delivery_id for candidate in found.candidates])
    if not isinstance(found, Match):
        return _nothing(case)
    record = gathered.records[found.interaction_id]
    return answer(case, record, gathered.rows[found.delivery_id]) if record.readable else _nothing(case)


def _command_words(case: Case) -> str:
    """What may be a command; nothing of a tap."""
    return plain(case.reply, case.reply.text, case.person).strip() if not case.reply.data else ""


def _which_one(case: Case, delivery_ids: list[str], command: tuple[str, str] = ("", "")) -> Effect:
    sent = sent_with(case.tx, case.provider, case.reply)  # what they picked may be nothing of theirs by now
    said = uncalled(case.reply, sent.text)  # whoever taps calls nobody
    args: Json = {"deliveries": delivery_ids, "text": said, "event": case.reply.event_id}
    if command[0]:
        args["command"] = " ".join(command).strip()
    if sent.files:
        args[FILES] = attachments_out(kept(case.provider, "", sent.files))
    # A tap has no words to ask about: that of a question which was handed on shows what is open instead.
    key = "which_one" if sent.text or sent.files else "pending"
    return Effect(Outcome.WHICH_ONE, [case.context.outbox.conversation(case.tx, case.here, key, args)])


def _nothing(case: Case) -> Effect:
    return Effect(
        Outcome.UNKNOWN, [case.context.outbox.conversation(case.tx, case.here, "nothing_waiting", {})]
    )


def _command(case: Case, command: tuple[str, str], gathered: Gathered, sure: bool) -> Effect | None:
    """Commands that stand alone; None: it is a reply after all (an answer that happens to look like one)."""
    name, rest = command
    say = case.context.outbox.conversation
    if rest and name in TIMED and not (sure or is_one(rest, case.person, case.tx.now)):
        return None
    if name == "help" or name == "start":
        words = WORDS + (", /run" if startable(case) else "")
        return Effect(Outcome.COMMAND, [say(case.tx, case.here, "help", {"words": words})])
    if name in MUTES:
        return mute(case, command)
    if name == "pending":
        return _pending(case, gathered.evidence.open_for_sender)
    if name == "run":
        return start(case, rest) or (unknown(case, rest) if sure else None)
    if name == DELEGATE and not sure:
        sure = any(can_delegate(case, record, rest) for record in gathered.records.values())
    if name in STOPS | ASIDES or (name == DELEGATE and sure):
        found = whom(case, rest, gathered) if name in STOPS else match(gathered.evidence)
        if isinstance(found, WhichOne):
            return _which_one(case, [candidate.delivery_id for candidate in found.candidates], command)
        if isinstance(found, Match):
            record = interactions.held(case.tx, found.interaction_id)
            asked = gathered.rows[found.delivery_id]
            assert record is not None  # it was gathered in this transaction
            if record.status is not InteractionStatus.PENDING:
                later = stop_later(case, record) if name in STOPS else None
                return later or closed(case, record, lost(record), asked)
            if name not in STOPS and gave_up(record, case.person.id if case.person else ""):
                return gone(case, record)
            if name in ASIDES:
                return aside(case, command, gathered, record, asked)
            if name == DELEGATE:
                return delegate(case, rest, record, asked)
            return stop_asking(case, record) or _not_here(case, record, asked, command)
        return (stop_working(case, rest) if name in STOPS else None) or _nothing(case)
    return None


def _pending(case: Case, here: Sequence[Open]) -> Effect:
    listed = {each.interaction_id: each.delivery_id for each in here}
    who = case.person.id if case.person else ""
    for row in open_elsewhere(case.tx, case.provider, case.reply, who):
        listed.setdefault(row["interaction_id"], row["id"])
    if not listed:
        return Effect(Outcome.COMMAND, _nothing(case).rows)
    args: Json = {"deliveries": [*listed.values()][:OPEN_LIMIT]}
    return Effect(Outcome.COMMAND, [case.context.outbox.conversation(case.tx, case.here, "pending", args)])


def _not_here(case: Case, record: Interaction, asked: Row, command: tuple[str, str]) -> Effect:
    said = {"text": (_command_words(case) or " ".join(command).strip())[:40]}
    return said_of(case, record, asked, Outcome.ASKED_AGAIN, "command_unknown", said)
