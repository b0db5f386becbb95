"""muting: a person wants to hear nothing for a while: quiet hours that they set themselves."""

from answerback.case import Case, Effect, said
from answerback.disturbing import after_quiet
from answerback.model import Outcome
from answerback.outbox import UNSURE
from answerback.read import Unclear
from answerback.store import contacts, deliveries
from answerback.whenever import moment_of, told

MUTES = {"mute", "unmute"}
A_WORKING_DAY = "8 hours"


def mute(case: Case, command: tuple[str, str]) -> Effect:
    """Until then, what can wait does so, on every provider. `unmute` ends it, and what waited comes."""
    tx, person = case.tx, case.person
    if person is None:
        return Effect(Outcome.UNKNOWN)
    name, rest = command
    row = tx.one(contacts.HELD, id=person.id)  # of two such words at once, the second sees the first's doing
    ends = (row["quiet_until"] if row is not None else None) or 0
    if name == "unmute":
        return _unmute(case, person.id, ends)
    until = moment_of(rest or A_WORKING_DAY, person, tx.now)
    if isinstance(until, Unclear):
        return said(case, until.key, until.args, Outcome.ASKED_AGAIN)
    contacts.mute(tx, person.id, until)
    if until < ends:
        _wake(case, person.id, until)
    effect = said(case, "muted", {"time": told(until, person, tx.now)})
    effect.later = True
    return effect


def _unmute(case: Case, id: str, until: int) -> Effect:
    if until <= case.tx.now:
        return said(case, "not_muted", {})
    contacts.mute(case.tx, id, None)
    _wake(case, id, case.tx.now)
    effect = said(case, "unmuted", {})
    effect.later = True
    return effect


def _wake(case: Case, id: str, at: int) -> None:
    """What waits for them, and was not tried yet, comes at `at`, or when their quiet hours end then."""
    deliveries.wake(case.tx, id, beyond=max(at, case.tx.now + UNSURE), at=after_quiet(case.tx, id, None, at))
