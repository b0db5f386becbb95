"""When somebody may be disturbed: not in their quiet hours, nor while they wrote `mute`. In a transaction."""

from answerback.quiet import end_of_quiet
from answerback.store import Tx, contacts


def after_quiet(
    tx: Tx, contact_id: str, deadline: int | None, at: int = 0, *, only_looks: bool = False
) -> int:
    """When somebody may be disturbed, from `at` on; now, if the deadline does not wait for that.

    Until the commit they neither mute nor unmute, unless the transaction `only_looks`.
    """
    person, at = (contacts.person if only_looks else contacts.still)(tx, contact_id), max(at, tx.now)
    if person is None or not (person.quiet_hours or person.quiet_until > at):
        return at
    ends = end_of_quiet(person.quiet_hours, person.timezone, max(at, person.quiet_until))
    return tx.now if deadline is not None and deadline <= ends else ends
