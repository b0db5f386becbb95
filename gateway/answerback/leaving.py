"""leaving: an account is not somebody's any more: what asked them there is over, and goes on elsewhere.

They left the configuration, were removed, were given another account, or linked one. What was sent there
would still answer in their name by its link, and reminders would go on telling somebody else what is asked
(law 7).
"""

from collections.abc import Iterable

from answerback.outbox import Follows, Outbox
from answerback.store import Tx, gone
from answerback.succession import gave_up, next_address

Account = tuple[str, str]  # (provider, external id)


def left(tx: Tx, outbox: Outbox) -> Follows:
    """At a start: shut what went to accounts that are not their person's now.

    Whoever was asked there only is asked at their next address, as when the account is unreachable.
    """
    return _elsewhere(tx, outbox, gone.shut(tx))


def changed_hands(tx: Tx, outbox: Outbox, accounts: Iterable[Account]) -> Follows:
    """The same once these accounts were taken from somebody."""
    return _elsewhere(tx, outbox, gone.shut_here(tx, accounts))


def _elsewhere(tx: Tx, outbox: Outbox, shut: gone.Shut) -> Follows:
    asked, telling = shut
    follows = Follows()
    latest = {(row["interaction_id"], row["contact_id"]): row for row in asked if row["kind"] == "question"}
    for row in latest.values():
        more = gave_up(outbox, tx, row)
        follows.rows += more.rows
        follows.unreached += more.unreached
    for row in telling:
        follows.rows += next_address(outbox, tx, row)
    return follows
