"""stopping: a person's `stop`: of the run that asks them, or of one that works for them."""

from answerback.case import Case, Effect, said
from answerback.closing import cancel_run, cancelled
from answerback.evidence import Gathered
from answerback.match import Evidence, Match, Nothing, WhichOne, match, match_one_of
from answerback.model import Interaction, Outcome
from answerback.render import asker, called, is_called
from answerback.store import Row, runs

WHY = "stopped by the person who was asked"


def whom(case: Case, name: str, gathered: Gathered) -> Match | WhichOne | Nothing:
    """The question whose run `stop`, with a name or without, is for; `Nothing`: see what works for them.

    A name that nothing here has, such as one with a typing error, stops nothing: they are asked.
    """
    if not name or case.reply.data:  # a tap has picked one
        return match(gathered.evidence)
    language = case.person.language if case.person else "en"
    named = {id for id, record in gathered.records.items() if is_called(name, record, language)}
    found = match_one_of(gathered.evidence, named)
    if isinstance(found, Nothing) and not _at_work(_working(case), name):
        return match(Evidence(open_for_sender=gathered.evidence.open_for_sender, doubtful=True))
    return found


def stop_asking(case: Case, record: Interaction) -> Effect | None:
    """Stop the run that asks; None: no run does. Law 7 held: only what they may answer is matched."""
    if not record.run_id:
        return None
    rows = cancel_run(case.tx, case.context, record.run_id, WHY)
    who = asker(record, case.person.language if case.person else "en")
    rows.append(case.context.outbox.conversation(case.tx, case.here, "stopped", {"who": who}))
    return Effect(Outcome.COMMAND, rows, stops=[(record.agent, record.thread_id)], about=record.id)


def stop_later(case: Case, record: Interaction) -> Effect | None:
    """Stop the run of a question that is over; None: it does not work for them any more."""
    return _stopped(case, [row for row in _working(case) if row["id"] == record.run_id])


def stop_working(case: Case, name: str) -> Effect | None:
    """Stop what works for this person and asks nothing now; None: nothing does, or not any more.

    Several are not guessed at: they are named, and `stop NAME` is for all of that agent.
    """
    found = _working(case)
    named = _at_work(found, name) if name else found
    if not found:
        return None
    agents = sorted({row["agent"] for row in found})
    if not named or (len(named) > 1 and not name):
        return said(case, "stop_which", {"options": ", ".join(agents)})
    return _stopped(case, named)


def _stopped(case: Case, rows: list[Row]) -> Effect | None:
    effect = Effect(Outcome.COMMAND)
    for row in rows:
        withdrawn = cancelled(case.tx, case.context, row["id"], WHY)
        if withdrawn is not None:
            effect.rows += withdrawn
            effect.stops.append((row["agent"], row["thread_id"]))
    if not effect.stops:
        return None
    who = {"who": called(rows[0]["agent"])}
    effect.rows.append(case.context.outbox.conversation(case.tx, case.here, "stopped", who))
    return effect


def _working(case: Case) -> list[Row]:
    if case.person is None:
        return []
    who = {"contact": case.person.id, "on": case.provider, "external": case.reply.sender}
    return case.tx.all(runs.WORKING_FOR, **who)


def _at_work(found: list[Row], name: str) -> list[Row]:
    meant = name.casefold()
    return [row for row in found if meant in (row["agent"].casefold(), called(row["agent"]).casefold())]
