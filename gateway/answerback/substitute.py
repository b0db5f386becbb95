"""substitute: what the answer of a stand-in counts for, and what it says of it."""

from dataclasses import replace

from answerback.case import Case, Effect
from answerback.closing import cancel_run
from answerback.door import Actor, decide, lost
from answerback.errors import DoesNotFit
from answerback.evidence import gather
from answerback.fits import refusal, values_of
from answerback.match import Match, match
from answerback.model import Interaction, InteractionStatus, Outcome
from answerback.read import is_command
from answerback.render import asker, is_called
from answerback.sentences import say
from answerback.standing import StandIn
from answerback.store import Row
from answerback.succession import after

STOPS = {"cancel", "stop"}


def considered(case: Case, stand_in: StandIn) -> Effect:
    """A stand-in answers what it was asked, by the token of that delivery, and says nothing else.

    What does not count goes on to whoever is next. In a terminal it is said there, and can be answered again.
    """
    tx, reply = case.tx, case.reply
    gathered = gather(tx, case.provider, replace(reply, text=""), "")  # no code in a text leads elsewhere
    found = match(gathered.evidence) if gathered is not None else None
    if gathered is None or not isinstance(found, Match) or found.how != "token":
        return Effect(Outcome.NOT_ALLOWED)
    record, asked = gathered.records[found.interaction_id], gathered.rows[found.delivery_id]
    if record.status is not InteractionStatus.PENDING or not record.readable:
        return Effect(lost(record))
    if reply.value is None:
        return Effect(Outcome.COMMAND, after(case.context.outbox, tx, asked))
    if stand_in.listens and stops(record, reply.text):
        return _stop_in_terminal(case, record)
    try:
        values = values_of(record, reply.value, tx.now)
        decision = decide(tx, case.context, record, values, reply.text, Actor(stand_in.by, case.provider))
    except DoesNotFit as error:
        return _not_taken(case, stand_in, asked, Outcome.ASKED_AGAIN, error.detail)
    if decision.outcome is Outcome.NOT_ALLOWED:
        return _not_taken(case, stand_in, asked, Outcome.NOT_ALLOWED, refusal(stand_in))
    accepted = decision.outcome is Outcome.ACCEPTED
    return Effect(decision.outcome, decision=decision if accepted else None)


def stops(record: Interaction, text: str) -> bool:
    """Whether a text is the command to stop, and answers nothing that is asked."""
    command = is_command(text, record.questions) if text else None
    return command is not None and command[0] in STOPS


def _stop_in_terminal(case: Case, record: Interaction) -> Effect:
    """Whoever sits where the gateway runs could stop all of it; but they named another one, perhaps."""
    _, name = is_command(case.reply.text, record.questions) or ("", "")
    who = asker(record, "en")
    if not record.run_id:
        return Effect(Outcome.ASKED_AGAIN, toast=say("terminal_stops_nothing", "en"))
    if name and not is_called(name, record, "en"):
        return Effect(Outcome.ASKED_AGAIN, toast=say("terminal_stops_another", "en", who=who))
    rows = cancel_run(case.tx, case.context, record.run_id, "stopped in the terminal")
    said = say("stopped", "en", who=who)
    return Effect(Outcome.COMMAND, rows, stops=[(record.agent, record.thread_id)], toast=said)


def _not_taken(case: Case, stand_in: StandIn, asked: Row, outcome: Outcome, why: str) -> Effect:
    rows = [] if stand_in.listens else after(case.context.outbox, case.tx, asked)
    return Effect(outcome, rows, toast=why)
