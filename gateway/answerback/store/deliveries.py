"""Deliveries and the provider messages they became. The outbox is a query over this table."""

from collections.abc import Callable
from operator import itemgetter

from sqlalchemy import ColumnElement, func, insert, null, or_, select, text, update
from sqlalchemy import bindparam as p

from answerback.model import Interaction
from answerback.store import audit
from answerback.store.codec import interaction_in
from answerback.store.pace import Turn
from answerback.store.query import Either, Query
from answerback.store.tx import Row, Tx
from answerback.tables import DeliveryRow, InteractionRow, MessageRow

X = InteractionRow.__table__  # type: ignore[attr-defined]
D, M = DeliveryRow.__table__, MessageRow.__table__  # type: ignore[attr-defined]
ITS_TURN = "its turn"  # in place of an owner: the pace was reserved, and the row is due when its turn comes
LATE = 1_000_000  # microseconds after which a turn has been missed, and another one has to be taken
NEEDLESS = "no longer needed"  # the reason of what is no dead letter (`tables.UNSENT` leaves it out)
LEASE = 60_000_000  # microseconds that a claim lasts
QUEUED = text("delivery.status = 'queued'")
_UNSENT = {"sent_at": null(), "service_at": null()}

ADD = Query(insert(D).values({c.name: p(c.name) for c in D.c}))
_one = select(D).where(D.c.id == p("id"))
GET = Query(_one)
HELD = Either(sqlite=_one, postgresql=_one.with_for_update())  # until the commit nobody else changes it
OF = Query(select(D).where(D.c.interaction_id == p("interaction_id")).order_by(D.c.id))
in_run = (  # the oldest question's first
    select(D)
    .join_from(X, D, D.c.interaction_id == X.c.id)
    .where(X.c.run_id == p("run_id"))
    .order_by(X.c.id, D.c.id)
)
OF_RUN = Query(in_run)
BY_TOKEN = Query(select(D).where(D.c.token_hash == p("hash"), text("token_hash <> ''")))
_PARTS = tuple(column.name for column in D.c), tuple(column.name for column in X.c), ("audited",)
ASKED_BY = Query(  # a delivery, what it asks, and where the audit of that ends, in one row
    select(
        D,
        *(column.label(f"asked_{column.name}") for column in X.c),
        audit.last_of(D.c.interaction_id),
    )
    .join_from(D, X, X.c.id == D.c.interaction_id, isouter=True)
    .where(D.c.token_hash == p("hash"), text("token_hash <> ''"))
)
BY_MESSAGE = Query(
    select(D)
    .join(M, M.c.delivery_id == D.c.id)
    .where(M.c.provider == p("provider"), M.c.message_id == p("message_id"))
)
BY_CODE = Query(  # what this account was asked under a short code, newest last
    select(D)
    .join(X, X.c.id == D.c.interaction_id)
    .where(X.c.code == p("code"), D.c.provider == p("provider"), D.c.external_id == p("external_id"))
    .order_by(D.c.id)
)
# The newest of each question that this account may answer there, the first that was asked first. A reminder
# asks the same again: however often one was asked, it takes the place of no other.
_mine_open = (D.c.provider == p("provider"), D.c.external_id == p("external_id"), text("delivery.open = 1"))


def _newest_where(condition: ColumnElement[bool]) -> Query:
    asked = (
        select(func.max(D.c.id).label("newest"), func.min(D.c.id).label("first"))
        .where(*_mine_open, condition)
        .group_by(D.c.interaction_id)
        .order_by(text("first"))
        .limit(p("limit"))
        .subquery("asked")
    )
    return Query(select(D).join(asked, D.c.id == asked.c.newest).order_by(asked.c.first))


OPEN_FOR = _newest_where(D.c.place == p("place"))
OPEN_ELSEWHERE = _newest_where(D.c.place != p("place"))
_due = (
    select(D).where(QUEUED, D.c.next_attempt_at <= p("now")).order_by(D.c.next_attempt_at).limit(p("limit"))
)
DUE = Either(sqlite=_due, postgresql=_due.with_for_update(skip_locked=True))
CLAIM = Query(
    update(D)
    .where(D.c.id == p("key"), QUEUED)
    .values(lease_owner=p("owner"), next_attempt_at=p("until"), attempts=D.c.attempts + 1)
)
WAIT = Query(
    update(D).where(D.c.id == p("key"), QUEUED).values(next_attempt_at=p("at"), lease_owner=p("its_turn"))
)
# What waits for its turn, or to be tried again; not what waits for somebody's quiet to end.
AGAIN_FROM_NOW = Query(
    update(D)
    .where(QUEUED, D.c.next_attempt_at > p("now"))
    .where(text("(lease_owner = 'its turn' OR (lease_owner = '' AND attempts > 0))"))
    .values(next_attempt_at=p("now"), lease_owner="")
)
CLAIMED_UNTIL = Query(
    update(D)
    .where(QUEUED, D.c.next_attempt_at > p("until"), text("lease_owner NOT IN ('', 'its turn')"))
    .values(next_attempt_at=p("until"))
)
KEEP = Query(
    update(D)
    .where(
        D.c.id == p("key"), QUEUED, D.c.lease_owner == p("owner"), D.c.next_attempt_at == p("claimed_until")
    )
    .values(next_attempt_at=p("until"))
)
_next = select(func.min(D.c.next_attempt_at)).where(QUEUED, D.c.next_attempt_at.is_not(None))
NEXT_AT = _next.scalar_subquery().label("delivery")
SHUT = Query(
    update(D)
    .where(D.c.interaction_id == p("interaction"), text("delivery.open = 1"))
    .values(open=0)
    .returning(
        *(D.c.id, D.c.kind, D.c.status, D.c.message_ids),
        *(D.c.provider, D.c.external_id, D.c.place, D.c.contact_id, D.c.address_id),
    )
)
WAKE = Query(
    update(D)
    .where(
        D.c.contact_id == p("contact"), QUEUED, text("lease_owner = ''"), D.c.next_attempt_at > p("beyond")
    )
    .where(D.c.attempts == 0)
    .values(next_attempt_at=p("at"))
)
SHOW_AGAIN = Query(  # what stood in a terminal is gone with the process that wrote it
    update(D)
    .where(D.c.provider == p("terminal"), text("delivery.open = 1"), text("delivery.status = 'sent'"))
    .values(status="queued", next_attempt_at=p("at"), lease_owner="", **_UNSENT)
)
SHUT_ONE = Query(
    update(D)
    .where(D.c.id == p("key"), text("delivery.status <> 'queued'"), text("delivery.open = 1"))
    .values(open=0)
)
DROP = Query(  # not sent yet, and nobody needs to see it any more; what is on its way ends by itself
    update(D)
    .where(
        D.c.interaction_id == p("interaction"),
        QUEUED,
        text("lease_owner IN ('', 'its turn')"),
        text("kind IN ('question', 'reminder')"),
    )
    .values(status="failed", error=NEEDLESS, next_attempt_at=null())
)
SET_CODE = Query(
    update(D)
    .where(D.c.id == p("key"), or_(D.c.code_until.is_(None), D.c.code_until <= p("latest")))
    .values(code_hash=p("hash"), code_until=p("until"))
)
TRY_CODE = Query(update(D).where(D.c.id == p("key")).values(code_tries=D.c.code_tries + 1))
USE_CODE = Query(update(D).where(D.c.id == p("key")).values(code_hash="", code_until=null()))
RECEIPT = Query(
    update(D).where(D.c.id == p("key"), D.c.status == p("old")).values(status=p("new_status"), error=p("why"))
)
AGAIN = Query(  # what the service took and then did not deliver
    update(D)
    .where(D.c.id == p("key"), D.c.status == p("old"))
    .values(status="queued", next_attempt_at=p("at"), error=p("why"), lease_owner="", **_UNSENT)
)

_DEFAULTS: Row = {
    "interaction_id": "",
    "notice_id": "",
    "run_id": "",
    "contact_id": "",
    "address_id": "",
    "external_id": "",
    "place": "",
    "open": 0,
    "of_delivery": "",
    "content": "{}",
    "token_hash": "",
    "message_ids": "[]",
    "attempts": 0,
    "lease_owner": "",
    "error": "",
    "code_hash": "",
    "code_until": None,
    "code_tries": 0,
    "sent_at": None,
    "service_at": None,
}


def asked_by(tx: Tx, token_hash: str) -> tuple[Row | None, Interaction | None]:
    """The delivery with this token, and what it asks, as it stands now."""
    found = tx.parts(ASKED_BY, *_PARTS, hash=token_hash)
    if found is None:
        return None, None
    delivery, asked, chain = found
    if asked["id"] is None:
        return delivery, None
    audit.known(tx, asked["id"], chain["audited"])
    return delivery, interaction_in(asked)


def add(tx: Tx, **row: object) -> Row:
    """Insert a delivery: at least id, provider, kind, status and next_attempt_at; the whole row back."""
    full = _DEFAULTS | {"created_at": tx.now} | row
    tx.later(ADD, **full)
    return full


def claim(tx: Tx, owner: str, limit: int, turn: Callable[[Row], Turn] | None = None) -> list[Row]:
    """Due deliveries, now claimed by `owner`; a claim lapses by itself when its owner dies.

    `turn` says when a row's turn is; what must wait for it waits in its row. Those that have waited for the
    same moment go in the order in which they were made.
    """
    ready = []
    due = tx.all(DUE, now=tx.now, limit=limit)
    for row in sorted(due, key=itemgetter("next_attempt_at", "id")):
        in_turn = row["lease_owner"] == ITS_TURN and tx.now - row["next_attempt_at"] <= LATE
        its = Turn(tx.now) if turn is None or in_turn else turn(row)
        if its.at > tx.now:
            tx.run(WAIT, key=row["id"], at=its.at, its_turn=ITS_TURN if its.reserved else "")
            continue
        tx.run(CLAIM, key=row["id"], owner=owner, until=tx.now + LEASE)
        ready.append(row | {"attempts": row["attempts"] + 1, "next_attempt_at": tx.now + LEASE})
    return ready


def keep(tx: Tx, row: Row, owner: str) -> bool:
    """Make a claim last from now on; False when it has lapsed and somebody else took the delivery."""
    until = tx.now + LEASE
    return tx.run(KEEP, key=row["id"], owner=owner, claimed_until=row["next_attempt_at"], until=until) == 1


def wake(tx: Tx, contact_id: str, *, beyond: int, at: int) -> None:
    """What waits for somebody's quiet, until later than `beyond`, is due at `at`."""
    tx.run(WAKE, contact=contact_id, beyond=beyond, at=at)


def shut(tx: Tx, interaction_id: str) -> list[Row]:
    """Nothing of this interaction can be answered any more; what was not sent yet is not needed.

    Returns its questions and reminders, oldest first: what and where each was, and its message's ids.
    """
    rows = tx.all(SHUT, interaction=interaction_id)
    if any(row["status"] == "queued" for row in rows):
        tx.run(DROP, interaction=interaction_id)
    return sorted(rows, key=itemgetter("id"))
