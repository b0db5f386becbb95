"""What was sent, or is to be sent, to somebody at an account that is not theirs any more."""

from collections.abc import Iterable

from sqlalchemy import and_, null, or_, select, text, update
from sqlalchemy import bindparam as p

from answerback.store.deliveries import NEEDLESS, QUEUED, D, X, in_run
from answerback.store.query import Query
from answerback.store.tx import Row, Tx
from answerback.tables import AddressRow

A = AddressRow.__table__  # type: ignore[attr-defined]
_NOT_THEIRS = (
    D.c.contact_id != "",
    ~select(A.c.id)
    .where(A.c.provider == D.c.provider, A.c.external_id == D.c.external_id, A.c.contact_id == D.c.contact_id)
    .exists(),
)
_ASKS = text("delivery.kind IN ('question', 'reminder')")
_WAITS = (
    QUEUED,
    text("delivery.lease_owner IN ('', 'its turn')"),
    text("delivery.kind IN ('question', 'reminder', 'notice')"),
    *_NOT_THEIRS,
)
_HERE = D.c.provider == p("provider"), D.c.external_id == p("external_id")
_shut = update(D).values(open=0, token_hash="").returning(*D.c)
_dropped = (  # what is on its way ends by itself
    update(D).values(status="failed", error=NEEDLESS, next_attempt_at=null(), token_hash="").returning(*D.c)
)
SHUT = Query(
    _shut.where(
        D.c.interaction_id.in_(select(X.c.id).where(text("interaction.status = 'pending'"))),
        or_(text("delivery.open = 1"), D.c.token_hash != ""),
        _ASKS,
        *_NOT_THEIRS,
    )
)
DROP = Query(_dropped.where(*_WAITS))
SHUT_HERE = Query(_shut.where(*_HERE, text("delivery.open = 1"), _ASKS, *_NOT_THEIRS))
SHUT_BESIDE = Query(  # its earlier copies, which were closed before
    update(D).values(token_hash="").where(D.c.interaction_id == p("interaction"), *_HERE, _ASKS, *_NOT_THEIRS)
)
DROP_HERE = Query(_dropped.where(*_HERE, *_WAITS))
Shut = tuple[list[Row], list[Row]]
ASKED_HERE = Query(
    select(D.c.id)
    .where(*_HERE, D.c.interaction_id == p("interaction"), D.c.contact_id == p("contact"))
    .where(_ASKS, text("delivery.token_hash <> ''"))
    .limit(1)
)
LOST = Query(select(D.c.id).where(D.c.id == p("id"), *_NOT_THEIRS))
TOLD_IN_RUN = Query(in_run.where(~and_(*_NOT_THEIRS)))


def shut(tx: Tx) -> Shut:
    """What asked there takes no answer, its links lead nowhere, and what waits is not sent.

    Gives back what asked there, and what was to tell something there, each as it is now. It looks at all
    that is open, a few seconds at a million: for a start.
    """
    return tx.all(SHUT), _telling(tx.all(DROP))


def shut_here(tx: Tx, accounts: Iterable[tuple[str, str]]) -> Shut:
    """The same at these accounts alone, (provider, external id), which have just changed hands."""
    asked: list[Row] = []
    telling: list[Row] = []
    for provider, external_id in accounts:
        here = {"provider": provider, "external_id": external_id}
        found = tx.all(SHUT_HERE, **here)
        for interaction in {row["interaction_id"] for row in found}:
            tx.run(SHUT_BESIDE, interaction=interaction, **here)
        asked += found
        telling += _telling(tx.all(DROP_HERE, **here))
    return asked, telling


def taken_back(tx: Tx, row: Row) -> bool:
    """Whether a message is about a question that was taken back from its person, who has the account again.

    What stands there of it decides nothing, unless they were asked the same once more.
    """
    if row["token_hash"] or not row["interaction_id"]:
        return False
    here = {key: row[key] for key in ("provider", "external_id")}
    asked = tx.one(ASKED_HERE, **here, interaction=row["interaction_id"], contact=row["contact_id"])
    return asked is None


def is_lost(tx: Tx, row: Row) -> bool:
    """Whether the account that a delivery goes to is not its person's any more."""
    return bool(row["contact_id"]) and tx.one(LOST, id=row["id"]) is not None


def told_in_run(tx: Tx, run_id: str) -> list[Row]:
    """What was sent in a run to accounts that are still their person's, the oldest question's first."""
    return tx.all(TOLD_IN_RUN, run_id=run_id)


def _telling(dropped: list[Row]) -> list[Row]:
    return [row for row in dropped if row["kind"] == "notice"]
