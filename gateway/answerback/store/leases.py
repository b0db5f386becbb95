"""Who may run a thread now: one row a thread, fenced."""

from dataclasses import dataclass
from typing import Any

from sqlalchemy import bindparam as p
from sqlalchemy import or_, select, update

from answerback.store.query import Either, Query, both
from answerback.store.tx import Tx
from answerback.tables import ThreadLeaseRow

T = ThreadLeaseRow.__table__  # type: ignore[attr-defined]
SPAN = 30_000_000  # microseconds that a lease lasts without being renewed


@dataclass(frozen=True, slots=True)
class Lease:
    """The right to run one thread until it lapses; `fence` proves it in every later write."""

    agent: str
    thread_id: str
    owner: str
    fence: int


def _take(insert: Any) -> Any:
    statement = insert(T).values(
        agent=p("agent"), thread_id=p("thread_id"), owner=p("owner"), fence=1, until=p("until")
    )
    return statement.on_conflict_do_update(
        index_elements=["agent", "thread_id"],
        set_={"owner": p("owner"), "fence": T.c.fence + 1, "until": p("until")},
        where=or_(T.c.owner == "", T.c.until < p("now")),
    ).returning(T.c.fence)


TAKE = both(_take)
_OURS = (
    T.c.agent == p("agent_"),
    T.c.thread_id == p("thread_"),
    T.c.owner == p("owner_"),
    T.c.fence == p("fence_"),
)
FREE_ALL = Query(update(T).where(T.c.owner != "").values(owner="", until=0))
LAST_UNTIL = Query(update(T).where(T.c.owner != "", T.c.until > p("latest")).values(until=p("latest")))
HELD = Query(
    select(T.c.owner).where(
        T.c.agent == p("agent"), T.c.thread_id == p("thread_id"), T.c.owner != "", T.c.until >= p("now")
    )
)
OF = Query(
    select(T.c.fence).where(
        T.c.agent == p("agent"),
        T.c.thread_id == p("thread_id"),
        T.c.owner == p("owner"),
        T.c.until >= p("now"),
    )
)
_row = select(T.c.fence).where(T.c.agent == p("agent"), T.c.thread_id == p("thread_id"))
HOLD = Either(sqlite=_row, postgresql=_row.with_for_update())
RENEW = Query(update(T).where(*_OURS).values(until=p("new_until")))
RELEASE = Query(update(T).where(*_OURS).values(owner="", until=0))


def is_held(tx: Tx, agent: str, thread_id: str) -> bool:
    """Whether somebody has it now. Unlike `take` this locks nothing that they renew."""
    return tx.one(HELD, agent=agent, thread_id=thread_id, now=tx.now) is not None


def hold(tx: Tx, agent: str, thread_id: str) -> None:
    """Let nobody take, renew or give back the lease until the commit; it stays whose it is."""
    tx.one(HOLD, agent=agent, thread_id=thread_id)


def take(tx: Tx, agent: str, thread_id: str, owner: str) -> Lease | None:
    """The lease, or None while somebody else holds it."""
    row = tx.one(TAKE, agent=agent, thread_id=thread_id, owner=owner, until=tx.now + SPAN, now=tx.now)
    return None if row is None else Lease(agent, thread_id, owner, row["fence"])


def of(tx: Tx, agent: str, thread_id: str, owner: str) -> Lease | None:
    """The lease that somebody has, if they have it."""
    row = tx.one(OF, agent=agent, thread_id=thread_id, owner=owner, now=tx.now)
    return None if row is None else Lease(agent, thread_id, owner, row["fence"])


def renew(tx: Tx, lease: Lease) -> bool:
    """Make it last another `SPAN`; False when it was lost (then nothing may be written in its name)."""
    return tx.run(RENEW, new_until=tx.now + SPAN, **_key(lease)) == 1


def release(tx: Tx, lease: Lease) -> bool:
    """Give it back; False when it was lost."""
    return tx.run(RELEASE, **_key(lease)) == 1


def free_all(tx: Tx) -> None:
    """Of the only process on its database, at its start: whoever held these is dead."""
    tx.run(FREE_ALL)


def _key(lease: Lease) -> dict[str, object]:
    return {"agent_": lease.agent, "thread_": lease.thread_id, "owner_": lease.owner, "fence_": lease.fence}
