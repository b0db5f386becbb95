"""What became of a delivery that was claimed. Two may have: a claim lapses while its owner is stopped.

What went wrong is written down by whoever claimed it last. That it was sent is true whoever says so.
"""

from collections.abc import Callable
from dataclasses import dataclass

from sqlalchemy import bindparam as p
from sqlalchemy import null, update

from answerback.store import audit, parked, unnamed
from answerback.store.codec import dumps
from answerback.store.deliveries import GET, HELD, QUEUED, D, add
from answerback.store.ids import new_id
from answerback.store.query import Query
from answerback.store.tx import Row, Tx

# Each claim counts an attempt; a dead letter that is replayed counts from the start, as of then.
_CLAIMED = D.c.id == p("key"), QUEUED, D.c.attempts == p("attempt"), D.c.created_at == p("since")
POSTPONE = Query(update(D).where(*_CLAIMED).values(next_attempt_at=p("at"), lease_owner="", error=p("why")))
GIVE_BACK = Query(  # what went wrong with it, if anything did, stays as it was
    update(D).where(*_CLAIMED).values(next_attempt_at=p("at"), lease_owner="", attempts=D.c.attempts - 1)
)
MOVE = Query(update(D).where(*_CLAIMED).values(place=p("new_place"), next_attempt_at=p("at"), lease_owner=""))
AT = Query(update(D).where(*_CLAIMED).values(place=p("new_place")))
DONE = Query(  # whoever sent it knows that it was sent, also when its claim is another's by now
    update(D)
    .where(D.c.id == p("key"), QUEUED)
    .values(
        status="sent",
        sent_at=p("at"),
        service_at=p("there"),
        message_ids=p("ids"),
        error="",
        next_attempt_at=null(),
        lease_owner="",
    )
    .returning(D.c.open, audit.last_of(p("chain")))
)
FAILED = Query(
    update(D)
    .where(*_CLAIMED)
    .values(
        status=p("new_status"),
        sent_at=null(),
        service_at=null(),
        message_ids="[]",
        error=p("why"),
        next_attempt_at=null(),
        lease_owner="",
    )
)


@dataclass(frozen=True, slots=True)
class Taken:
    """What is known once the service took a message: whether that is news, whether its question can still

    be answered there, the receipts that were parked for its ids, and which of these nobody had heard of.
    """

    news: bool
    is_open: bool
    parked: list[str]
    ids: tuple[str, ...]


def sent(tx: Tx, row: Row, message_ids: tuple[str, ...]) -> Taken:
    """The service took it; its message ids from now on lead to this delivery.

    It counts as sent since `taken_at` (`taken_there` by the service's own clock), where the row says that:
    what was written before, while it was on its way, was not written for it, and what was written later may
    come in before this is.
    """
    taken = {"at": row.get("taken_at", tx.now), "there": row.get("taken_there")}
    done = tx.one(DONE, key=row["id"], chain=row["interaction_id"], ids=dumps(list(message_ids)), **taken)
    if done is not None:
        audit.known(tx, row["interaction_id"], done["audited"])
    elif unnamed.is_erased(tx, row):  # meanwhile: its message is known again, and nobody can read where it is
        for id in message_ids:
            parked.known(tx, row["provider"], unnamed.hashed(tx, row["provider"], id) or "", row["id"])
        return Taken(False, False, [], ())
    elif tx.one(GET, id=row["id"]) is None:  # lost with what was not on the standby that took over
        return Taken(False, False, [], ())
    told = {id: parked.known(tx, row["provider"], id, row["id"]) for id in message_ids}
    waited = [line for lines in told.values() for line in lines or ()]
    new = tuple(id for id, lines in told.items() if lines is not None)
    return Taken(done is not None, done is not None and bool(done["open"]), waited, new)


def twice(tx: Tx, row: Row, message_ids: tuple[str, ...], token_hash: Callable[[str], str]) -> Row:
    """The message that was sent again, of a delivery that two have sent, as a delivery of its own.

    So each of them can be answered, is edited, and has its own receipts. Of what was taken back meanwhile
    the second leads nowhere either.
    """
    first = tx.one(HELD, id=row["id"])
    assert first is not None  # it was sent
    own: Row = {
        "id": new_id(),
        "status": "sent",
        "created_at": tx.now,
        "sent_at": row.get("taken_at", tx.now),
        "service_at": row.get("taken_there"),
        "message_ids": dumps(list(message_ids)),
        "attempts": 1,
        "next_attempt_at": None,
        "lease_owner": "",
        "error": "",
        "code_hash": "",
        "code_until": None,
        "code_tries": 0,
    }
    copy = add(tx, **(first | own | {"token_hash": first["token_hash"] and token_hash(own["id"])}))
    for message_id in message_ids:
        parked.leads(tx, copy["provider"], message_id, copy["id"])
    return copy


def claim_of(row: Row) -> Row:
    """What a claimed row is known by in the statements that need the claim."""
    return {"key": row["id"], "attempt": row["attempts"], "since": row["created_at"]}


def postpone(tx: Tx, row: Row, at: int, why: str) -> bool:
    """To be tried again; False when it is not this claim's to postpone any more."""
    return tx.run(POSTPONE, **claim_of(row), at=at, why=why) == 1


def give_back(tx: Tx, row: Row, at: int) -> bool:
    """Claimed and not tried, which is no attempt; False when it is not this claim's any more."""
    return tx.run(GIVE_BACK, **claim_of(row), at=at) == 1


def failed(tx: Tx, row: Row, why: str, status: str = "failed") -> bool:
    """Given up, with its reason (the dead letter); False when it is not this claim's to give up any more."""
    return tx.run(FAILED, **claim_of(row), new_status=status, why=why) == 1
